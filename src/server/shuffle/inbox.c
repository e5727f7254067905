/* inbox.c - pieces of batches become files, and files become deliveries. */
#define _GNU_SOURCE /* pwrite, O_CLOEXEC */

#include "server/shuffle/inbox.h"

#include "host/base/files.h"
#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "server/shuffle/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct inbox {
    struct inbox_options options;
    char *directory; /* owned */
};

/* A batch whose heads are in its file. */
struct inbox_file {
    int fd;
    uint64_t size;
    uint8_t heads[STORE_HEADS];
    size_t heads_len;
    struct batch_head head;
    struct inbox_task task;
};

static hsy_status inbox_fail(hsy_error *err)
{
    return batch_file_fail(err, HOST_FIELD_RECEIVED,
                           "a file of a batch cannot be used");
}

/* ---- Files --------------------------------------------------------------- */

static int inbox_open_file(const struct inbox *in, const uint8_t *id, int flags)
{
    char *path = batch_path_of(in->directory, id);
    const int fd =
        path == NULL ? -1 : open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

    free(path);
    return fd;
}

static void inbox_remove(const struct inbox *in, const uint8_t *id)
{
    char *path = batch_path_of(in->directory, id);

    if (path != NULL)
        unlink(path);
    free(path);
}

/* ---- Beginning ----------------------------------------------------------- */

/* Heads of a task that is known, by the chain before us. */
static hsy_status inbox_check(const struct inbox *in, struct inbox_file *f,
                              hsy_error *err)
{
    hsy_status st;

    if (f->heads_len < BATCH_HEAD || f->heads_len % BATCH_HEAD != 0)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                         "a batch begins with its heads");
    st = batch_head_read(&f->head, f->heads, err);
    if (st != HSY_OK)
        return st;
    if (!in->options.find(in->options.ctx, &f->head, &f->task))
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_TASK,
                         "no batches of this task are taken here");
    return batch_heads_check(&f->head, f->heads, f->heads_len, &f->task.chain,
                             err);
}

static hsy_status inbox_receipt(const struct inbox *in,
                                const struct batch_head *head,
                                struct inbox_answer *out, hsy_error *err)
{
    const hsy_status st = batch_receipt(out->receipt, head->id, head->digest,
                                        head->n, in->options.secret);

    out->done = st == HSY_OK;
    return st == HSY_OK ? HSY_OK
                        : host_fail(err, st, HSY_FIELD_SIGNATURE,
                                    "the receipt cannot be signed");
}

/* A batch that was begun: its file, and what its heads say. */
static hsy_status inbox_file_open(const struct inbox *in, struct inbox_file *f,
                                  const uint8_t *id, hsy_error *err)
{
    uint8_t wire[BATCH_HEAD];
    struct batch_head head;
    struct stat is;

    f->fd = inbox_open_file(in, id, O_RDWR);
    if (f->fd == -1 && errno == ENOENT)
        return host_fail(err, HSY_E_EMPTY, HOST_FIELD_BATCH,
                         "its heads have not come");
    if (f->fd == -1 || fstat(f->fd, &is) == -1)
        return inbox_fail(err);
    f->size = (uint64_t)is.st_size;
    if (pread(f->fd, wire, sizeof wire, 0) != (ssize_t)sizeof wire ||
        batch_head_read(&head, wire, NULL) != HSY_OK)
        return host_fail(err, HSY_E_EMPTY, HOST_FIELD_BATCH,
                         "its heads have not come whole");
    f->heads_len = (size_t)head.place * BATCH_HEAD;
    if (pread(f->fd, f->heads, f->heads_len, 0) != (ssize_t)f->heads_len)
        return host_fail(err, HSY_E_EMPTY, HOST_FIELD_BATCH,
                         "its heads have not come whole");
    return inbox_check(in, f, err);
}

static uint64_t inbox_came(const struct inbox_file *f)
{
    return f->size - f->heads_len;
}

static uint64_t inbox_whole(const struct inbox_file *f)
{
    return f->head.n * f->head.length;
}

/* ---- Room ---------------------------------------------------------------- */

/* A batch that is not whole, whoever sends it. */
struct inbox_rest {
    uint8_t id[STORE_BATCH_ID], sender[HSY_SIGN_KEY];
    uint64_t bytes, since;
};

static const uint8_t *inbox_sent_by(const struct inbox_file *f)
{
    return f->task.chain.keys[f->task.chain.hops - 1];
}

/* List the files; one that is no batch of a task here goes. */
static size_t inbox_list(const struct inbox *in, struct inbox_rest *out,
                         size_t room)
{
    DIR *d = opendir(in->directory);
    struct dirent *e;
    size_t n = 0;

    while (d != NULL && n < room && (e = readdir(d)) != NULL) {
        struct inbox_file f = {.fd = -1};
        struct inbox_rest *r = &out[n];
        struct stat is = {0};

        if (!hex_get(r->id, sizeof r->id, e->d_name, strlen(e->d_name)))
            continue;
        if (inbox_file_open(in, &f, r->id, NULL) == HSY_OK &&
            fstat(f.fd, &is) == 0) {
            memcpy(r->sender, inbox_sent_by(&f), sizeof r->sender);
            r->bytes = inbox_whole(&f);
            r->since = (uint64_t)is.st_mtim.tv_sec * 1000000000 +
                       (uint64_t)is.st_mtim.tv_nsec;
            n++;
        } else {
            inbox_remove(in, r->id);
        }
        if (f.fd != -1)
            close(f.fd);
    }
    if (d != NULL)
        closedir(d);
    return n;
}

/* What a sender has of that which is short: files or bytes. */
static uint64_t inbox_held(const struct inbox_rest *all, size_t n,
                           const uint8_t sender[HSY_SIGN_KEY])
{
    uint64_t files = 0, bytes = 0;

    for (size_t i = 0; i < n; i++)
        if (memcmp(all[i].sender, sender, HSY_SIGN_KEY) == 0) {
            files++;
            bytes += all[i].bytes;
        }
    return n > INBOX_FILES ? files : bytes;
}

/* Let batches go while there is no room for this one, the last of the list; but
 * none of a sender that has less of what is short than this one's. */
static void inbox_make_room(const struct inbox *in, const struct inbox_file *f)
{
    const uint64_t most =
        in->options.bytes == 0 ? INBOX_BYTES : in->options.bytes;
    struct inbox_rest all[INBOX_FILES + 1];
    size_t n = inbox_list(in, all, INBOX_FILES);
    uint64_t bytes = 0;

    memcpy(all[n].sender, inbox_sent_by(f), sizeof all[n].sender);
    all[n++].bytes = inbox_whole(f);
    for (size_t i = 0; i < n; i++)
        bytes += all[i].bytes;
    while (n > 1 && (n > INBOX_FILES || bytes > most)) {
        uint64_t held = inbox_held(all, n, all[n - 1].sender), holds;
        size_t out = n - 1;

        for (size_t i = 0; i + 1 < n; i++) {
            holds = inbox_held(all, n, all[i].sender);
            if (holds > held ||
                (holds == held &&
                 (out == n - 1 || all[i].since < all[out].since)))
                out = i;
            held = holds > held ? holds : held;
        }
        if (out == n - 1)
            break;
        inbox_remove(in, all[out].id);
        bytes -= all[out].bytes;
        memmove(&all[out], &all[out + 1], (--n - out) * sizeof *all);
    }
}

/* ---- A file begins ------------------------------------------------------- */

/* The file of a batch, with these heads: what is there goes on if it has them,
 * and begins again if it has not. */
static hsy_status inbox_file_begin(const struct inbox *in, struct inbox_file *f,
                                   hsy_error *err)
{
    uint8_t there[STORE_HEADS];
    struct stat is;
    hsy_status st = HSY_OK;

    f->fd = inbox_open_file(in, f->head.id, O_RDWR);
    if (f->fd == -1 && errno == ENOENT) {
        inbox_make_room(in, f);
        f->fd = inbox_open_file(in, f->head.id, O_RDWR | O_CREAT);
    }
    if (f->fd == -1 || fstat(f->fd, &is) == -1)
        return inbox_fail(err);
    f->size = (uint64_t)is.st_size;
    if (f->size < f->heads_len ||
        pread(f->fd, there, f->heads_len, 0) != (ssize_t)f->heads_len ||
        memcmp(there, f->heads, f->heads_len) != 0) {
        if (ftruncate(f->fd, 0) == -1)
            return inbox_fail(err);
        if (!batch_write(f->fd, f->heads, f->heads_len, 0))
            st = inbox_fail(err);
        f->size = f->heads_len;
    }
    return st;
}

hsy_status inbox_begin(struct inbox *in, const uint8_t *heads, size_t len,
                       struct inbox_answer *out, hsy_error *err)
{
    struct inbox_file f = {.fd = -1, .heads_len = len};
    bool here = false;
    hsy_status st;

    if (len > sizeof f.heads)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                         "more heads than a chain has");
    memcpy(f.heads, heads, len);
    st = inbox_check(in, &f, err);
    if (st == HSY_OK)
        st = in->options.here(in->options.ctx, &f.head, &here, err);
    if (st != HSY_OK)
        return st;
    *out = (struct inbox_answer){.done = false};
    memcpy(out->id, f.head.id, sizeof out->id);
    if (here) {
        inbox_remove(in, f.head.id); /* left by a kill after the commit */
        return inbox_receipt(in, &f.head, out, err);
    }
    st = inbox_file_begin(in, &f, err);
    if (st == HSY_OK)
        out->at = f.size - len;
    if (f.fd != -1)
        close(f.fd);
    return st;
}

/* ---- Going on ------------------------------------------------------------ */

hsy_status inbox_sender(struct inbox *in, const uint8_t id[STORE_BATCH_ID],
                        uint8_t key[HSY_SIGN_KEY], hsy_error *err)
{
    struct inbox_file f = {.fd = -1};
    const hsy_status st = inbox_file_open(in, &f, id, err);

    if (st == HSY_OK)
        memcpy(key, inbox_sent_by(&f), HSY_SIGN_KEY);
    if (f.fd != -1)
        close(f.fd);
    return st;
}

hsy_status inbox_piece(struct inbox *in, const uint8_t id[STORE_BATCH_ID],
                       uint64_t at, const uint8_t *bytes, size_t len,
                       hsy_error *err)
{
    struct inbox_file f = {.fd = -1};
    hsy_status st = inbox_file_open(in, &f, id, err);

    if (st == HSY_OK && (at != inbox_came(&f) || at > inbox_whole(&f) ||
                         len > INBOX_PIECE || len > inbox_whole(&f) - at))
        st = host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_LENGTH,
                             "not the next bytes of the batch", inbox_came(&f));
    if (st == HSY_OK && !batch_write(f.fd, bytes, len, f.heads_len + at))
        st = inbox_fail(err);
    if (f.fd != -1)
        close(f.fd);
    return st;
}

/* ---- What is in it ------------------------------------------------------- */

/* Envelopes by their names, and where they are opened what was in them. All of
 * it is owned. */
struct inbox_opened {
    size_t n;
    uint8_t (*names)[16];
    uint8_t *items;
    bool *null;
};

static void inbox_opened_clear(struct inbox_opened *o)
{
    free(o->names);
    free(o->items);
    free(o->null);
    *o = (struct inbox_opened){.n = 0};
}

static int inbox_order(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* Whether two names are equal; the names themselves stay in their order. */
static hsy_status inbox_equal(const struct inbox_opened *o, bool *equal,
                              hsy_error *err)
{
    uint8_t(*sorted)[16] = malloc((o->n + 1) * sizeof *sorted);

    if (sorted == NULL)
        return host_nomem(err);
    memcpy(sorted, o->names, o->n * sizeof *sorted);
    qsort(sorted, o->n, sizeof *sorted, inbox_order);
    *equal = false;
    for (size_t i = 1; i < o->n && !*equal; i++)
        *equal = inbox_order(sorted[i - 1], sorted[i]) == 0;
    free(sorted);
    return HSY_OK;
}

/* Hold the bytes of a batch, its heads first, against its head: digest, and no
 * two envelopes that are equal. HSY_E_REFUSED. All names are there then. */
static hsy_status inbox_look(struct inbox_opened *o, const uint8_t *all,
                             const struct batch_head *head, size_t heads_len,
                             hsy_error *err)
{
    uint8_t digest[STORE_DIGEST];
    bool equal;
    hsy_status st;

    /* What follows the first head. */
    hsy_blake2b(digest, sizeof digest, all + BATCH_HEAD,
                heads_len - BATCH_HEAD + head->n * head->length, NULL, 0);
    if (memcmp(digest, head->digest, sizeof digest) != 0)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_CHECKSUM,
                         "what came is not what its head was signed for");
    o->names = malloc((head->n + 1) * sizeof *o->names);
    if (o->names == NULL)
        return host_nomem(err);
    o->n = head->n;
    for (size_t i = 0; i < o->n; i++)
        hsy_blake2b(o->names[i], sizeof o->names[i],
                    all + heads_len + i * head->length, head->length, NULL, 0);
    st = inbox_equal(o, &equal, err);
    if (st == HSY_OK && equal)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_BATCH,
                         "two of its envelopes are equal");
    return st;
}

/* Open them: o has those that are reports or null, with their names. */
static hsy_status inbox_open_all(struct inbox_opened *o,
                                 const uint8_t *envelopes,
                                 const struct inbox_options *options,
                                 const struct inbox_task *task,
                                 const struct batch_head *head, hsy_error *err)
{
    size_t n = 0;

    o->items = malloc((o->n + 1) * task->item);
    o->null = calloc(o->n + 1, sizeof *o->null);
    if (o->items == NULL || o->null == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < o->n; i++) {
        const hsy_status st =
            options->open(options->ctx, task, o->items + n * task->item,
                          &o->null[n], envelopes + i * head->length);

        if (st == HSY_E_REFUSED || st == HSY_E_UNKNOWN)
            continue;
        if (st != HSY_OK)
            return host_fail(err, st, HOST_FIELD_BATCH,
                             "an envelope could not be looked at");
        memmove(o->names[n], o->names[i], sizeof o->names[n]);
        n++;
    }
    o->n = n;
    return HSY_OK;
}

/* ---- Ending -------------------------------------------------------------- */

/* The row by which a shuffler knows what it is to mix. */
static struct store_mix inbox_mix(const struct inbox_file *f)
{
    struct store_mix mix = {.entry = f->task.entry,
                            .epoch = f->head.epoch,
                            .part = f->head.part,
                            .n = f->head.n,
                            .state = STORE_MIX_CLOSED};

    batch_id(mix.id, f->task.key, f->head.task, f->head.release, f->head.epoch,
             f->head.part);
    return mix;
}

static hsy_status inbox_deliver(const struct inbox *in, struct inbox_file *f,
                                const uint8_t *all, hsy_error *err)
{
    struct inbox_opened opened = {.n = 0};
    struct store_mix mix = inbox_mix(f);
    struct engine_delivery d = {.entry = f->task.entry,
                                .epoch = f->head.epoch,
                                .heads = f->heads,
                                .heads_len = f->heads_len};
    hsy_status st = inbox_look(&opened, all, &f->head, f->heads_len, err);

    memcpy(d.id, f->head.id, sizeof d.id);
    memcpy(d.digest, f->head.digest, sizeof d.digest);
    d.items = all + f->heads_len;
    d.item = f->head.length;
    d.type = STORE_SEALED;
    if (st == HSY_OK && f->task.item != 0) {
        st = inbox_open_all(&opened, d.items, &in->options, &f->task, &f->head,
                            err);
        d.items = opened.items;
        d.item = f->task.item;
        d.null = opened.null;
        d.type = STORE_REPORTS;
    } else {
        d.mix = &mix;
    }
    d.n = opened.n;
    d.names = (const uint8_t(*)[16])opened.names;
    d.unopened = f->head.n - opened.n;
    if (st == HSY_OK)
        st = in->options.take(in->options.ctx, &d, err);
    inbox_opened_clear(&opened);
    return st;
}

/* The whole file as memory: what is not looked at now need not be there. */
static hsy_status inbox_take(const struct inbox *in, struct inbox_file *f,
                             hsy_error *err)
{
    uint8_t *all;
    hsy_status st;

    if (inbox_came(f) != inbox_whole(f))
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_LENGTH,
                               "the batch is not whole", inbox_came(f));
    all = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, f->fd, 0);
    if (all == MAP_FAILED)
        return host_nomem(err);
    st = inbox_deliver(in, f, all, err);
    munmap(all, f->size);
    return st;
}

hsy_status inbox_end(struct inbox *in, const uint8_t id[STORE_BATCH_ID],
                     struct inbox_answer *out, hsy_error *err)
{
    struct inbox_file f = {.fd = -1};
    hsy_status st = inbox_file_open(in, &f, id, err);

    *out = (struct inbox_answer){.done = false};
    memcpy(out->id, id, sizeof out->id);
    if (st == HSY_OK)
        st = inbox_take(in, &f, err);
    if (f.fd != -1)
        close(f.fd);
    if (st == HSY_OK || st == HSY_E_REFUSED || st == HSY_E_MISMATCH)
        inbox_remove(in, id);
    return st == HSY_OK ? inbox_receipt(in, &f.head, out, err) : st;
}

/* ---- Opening ------------------------------------------------------------- */

hsy_status inbox_open(struct inbox **out, const struct inbox_options *options,
                      hsy_error *err)
{
    struct inbox *in = calloc(1, sizeof *in);

    if (in == NULL ||
        (in->directory = file_path(options->directory, "incoming")) == NULL) {
        free(in);
        return host_nomem(err);
    }
    in->options = *options;
    if (mkdir(in->directory, 0700) == -1 && errno != EEXIST) {
        inbox_close(in);
        return inbox_fail(err);
    }
    *out = in;
    return HSY_OK;
}

void inbox_close(struct inbox *in)
{
    if (in == NULL)
        return;
    free(in->directory);
    explicit_bzero(in, sizeof *in);
    free(in);
}
