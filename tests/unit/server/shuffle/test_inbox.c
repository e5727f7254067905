/* Tests of src/server/shuffle/inbox.c: a batch comes in pieces, is whole or
 * nothing, and has a receipt once it is durable. */
#define _GNU_SOURCE

#include "rig/store_rig.h"
#include "server/shuffle/parcel_wire.h"
#include "tap.h"

#include <dirent.h>

#define BOX_N 12u
#define BOX_REPORT 8u
#define BOX_LENGTH (BATCH_LAYER + 1 + BOX_REPORT) /* before the collector */

static char box_root[64];
static uint8_t box_key[2][HSY_SIGN_KEY], box_secret[2][HSY_SIGN_SECRET];
static const uint8_t box_scheme[HSY_DIGEST] = {7};

/* A batch of one shuffler for the collector: heads and envelopes. */
struct box_batch {
    struct batch_head head;
    uint8_t heads[BATCH_HEAD], envelopes[BOX_N * BOX_LENGTH];
};

/* What is taken; a receiver that is not the engine. */
struct box_world {
    bool here;       /* the last one was taken */
    hsy_status says; /* what taking it returns */
    size_t taken;
    struct engine_delivery last;
    struct store_mix mix;
    bool right; /* items, names and nulls are what they should be */
    bool sealed;
};

static struct box_batch box_make(uint32_t epoch, uint8_t salt)
{
    struct box_batch b = {.head = {.place = 1,
                                   .of = 1,
                                   .task = "cells",
                                   .release = 1,
                                   .epoch = epoch,
                                   .n = BOX_N,
                                   .in = BOX_N,
                                   .length = BOX_LENGTH}};

    memcpy(b.head.scheme, box_scheme, sizeof box_scheme);
    for (size_t i = 0; i < BOX_N; i++) {
        memset(b.envelopes + i * BOX_LENGTH, salt, BOX_LENGTH);
        b.envelopes[(i + 1) * BOX_LENGTH - 1] = (uint8_t)i;
    }
    return b;
}

static void box_sign(struct box_batch *b, const uint8_t *secret)
{
    batch_id(b->head.id, box_key[secret == box_secret[1]], b->head.task,
             b->head.release, b->head.epoch, b->head.part);
    hsy_blake2b(b->head.digest, STORE_DIGEST, b->envelopes, sizeof b->envelopes,
                NULL, 0);
    batch_head_write(b->heads, &b->head, secret, NULL);
}

/* ---- The receiver -------------------------------------------------------- */

static bool box_find(void *ctx, const struct batch_head *head,
                     struct inbox_task *out)
{
    const struct box_world *w = ctx;

    *out = (struct inbox_task){.chain = {.task = "cells",
                                         .release = 1,
                                         .scheme = box_scheme,
                                         .hops = 1,
                                         .of = 1,
                                         .least = 5,
                                         .length = BOX_LENGTH},
                               .entry = 3,
                               .item = w->sealed ? 0 : BOX_REPORT};
    memcpy(out->chain.keys[0], box_key[0], HSY_SIGN_KEY);
    memcpy(out->key, box_key[1], HSY_SIGN_KEY);
    if (strcmp(head->task, "theirs") == 0) { /* of another hop */
        out->chain.task = "theirs";
        memcpy(out->chain.keys[0], box_key[1], HSY_SIGN_KEY);
        return true;
    }
    return strcmp(head->task, "cells") == 0;
}

/* Number 2 does not open, number 5 is null. */
static hsy_status box_open(void *ctx, const struct inbox_task *task,
                           uint8_t *item, bool *null, const uint8_t *envelope)
{
    const uint8_t number = envelope[BOX_LENGTH - 1];

    (void)ctx;
    memcpy(item, envelope + BOX_LENGTH - task->item, task->item);
    *null = number == 5;
    return number == 2 ? HSY_E_REFUSED : HSY_OK;
}

static hsy_status box_here(void *ctx, const struct batch_head *head, bool *here,
                           hsy_error *err)
{
    const struct box_world *w = ctx;

    (void)err;
    *here = w->here && memcmp(w->last.id, head->id, sizeof head->id) == 0;
    return *here && memcmp(w->last.digest, head->digest, STORE_DIGEST) != 0
               ? HSY_E_MISMATCH
               : HSY_OK;
}

static bool box_right(const struct engine_delivery *d)
{
    bool right = d->entry == 3 && d->heads_len == BATCH_HEAD;

    for (size_t i = 0; i < d->n; i++) {
        const uint8_t number = d->items[(i + 1) * d->item - 1];
        uint8_t envelope[BOX_LENGTH], name[16];

        memset(envelope, 0x40, sizeof envelope);
        envelope[BOX_LENGTH - 1] = number;
        hsy_blake2b(name, sizeof name, envelope, sizeof envelope, NULL, 0);
        right = right && memcmp(name, d->names[i], sizeof name) == 0;
        if (d->type == STORE_REPORTS)
            right = right && number != 2 && d->null[i] == (number == 5);
    }
    return right;
}

static hsy_status box_take(void *ctx, struct engine_delivery *d, hsy_error *err)
{
    struct box_world *w = ctx;

    (void)err;
    if (w->says != HSY_OK)
        return w->says;
    w->right = box_right(d);
    w->last = *d;
    if (d->mix != NULL)
        w->mix = *d->mix;
    w->here = true;
    w->taken++;
    return HSY_OK;
}

static struct inbox *box_new_of(struct box_world *w, uint64_t bytes)
{
    struct inbox_options o = {.size = sizeof o,
                              .directory = box_root,
                              .bytes = bytes,
                              .find = box_find,
                              .open = box_open,
                              .here = box_here,
                              .take = box_take,
                              .ctx = w};
    struct inbox *in = NULL;
    hsy_error err;

    memcpy(o.secret, box_secret[1], sizeof o.secret);
    is_status(inbox_open(&in, &o, &err), HSY_OK, "an inbox opens");
    return in;
}

static struct inbox *box_new(struct box_world *w)
{
    return box_new_of(w, 0);
}

/* ---- Tests --------------------------------------------------------------- */

static void pieces_become_a_batch(struct box_world *w)
{
    struct box_batch b = box_make(100, 0x40);
    struct inbox *in = box_new(w);
    struct inbox_answer a;
    hsy_error err;

    box_sign(&b, box_secret[0]);
    is_status(inbox_piece(in, b.head.id, 0, b.envelopes, 9, &err), HSY_E_EMPTY,
              "no envelopes before the heads");
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_OK,
              "the heads come");
    ok(!a.done && a.at == 0, "and nothing else yet");
    is_status(inbox_piece(in, b.head.id, 0, b.envelopes, 100, &err), HSY_OK,
              "then a piece");
    is_status(inbox_piece(in, b.head.id, 0, b.envelopes, 100, &err),
              HSY_E_RANGE, "the same again is not the next");
    is_u64(err.limit, 100, "which would be this one");
    is_status(inbox_end(in, b.head.id, &a, &err), HSY_E_RANGE,
              "a torn batch is not taken");
    inbox_close(in);

    in = box_new(w); /* another process */
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_OK,
              "the heads again");
    is_u64(a.at, 100, "say where to go on");
    is_status(inbox_piece(in, b.head.id, 100, b.envelopes + 100,
                          sizeof b.envelopes - 99, &err),
              HSY_E_RANGE, "more than there is");
    is_status(inbox_piece(in, b.head.id, 100, b.envelopes + 100,
                          sizeof b.envelopes - 100, &err),
              HSY_OK, "the rest");
    w->says = HSY_E_FULL;
    is_status(inbox_end(in, b.head.id, &a, &err), HSY_E_FULL,
              "while there is no room nothing is taken");
    w->says = HSY_OK;
    is_status(inbox_end(in, b.head.id, &a, &err), HSY_OK, "later it is");
    ok(a.done && batch_receipt_holds(a.receipt, b.head.id, b.head.digest, BOX_N,
                                     box_key[1]),
       "and has a receipt");
    ok(w->taken == 1 && w->right && w->last.n == BOX_N - 1 &&
           w->last.unopened == 1 && w->last.type == STORE_REPORTS &&
           w->last.mix == NULL,
       "for what opened, and the number that did not");

    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_OK,
              "sent once more");
    ok(a.done && batch_receipt_holds(a.receipt, b.head.id, b.head.digest, BOX_N,
                                     box_key[1]),
       "it has the same receipt at once");
    is_u64(w->taken, 1, "and is not taken again");
    b = box_make(100, 0x41);
    box_sign(&b, box_secret[0]);
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err),
              HSY_E_MISMATCH, "other bytes under its id are refused");
    inbox_close(in);
}

/* All of a batch, whatever it is. */
static hsy_status box_send(struct inbox *in, const struct box_batch *b)
{
    struct inbox_answer a;
    hsy_error err;
    hsy_status st = inbox_begin(in, b->heads, sizeof b->heads, &a, &err);

    if (st == HSY_OK)
        st = inbox_piece(in, b->head.id, a.at, b->envelopes + a.at,
                         sizeof b->envelopes - a.at, &err);
    return st == HSY_OK ? inbox_end(in, b->head.id, &a, &err) : st;
}

static void what_is_wrong_is_refused(struct box_world *w)
{
    struct box_batch b = box_make(101, 0x40);
    struct inbox *in = box_new(w);
    const size_t taken = w->taken;

    box_sign(&b, box_secret[0]);
    b.envelopes[5] ^= 1;
    is_status(box_send(in, &b), HSY_E_REFUSED, "a changed envelope");
    b.envelopes[5] ^= 1;
    is_status(box_send(in, &b), HSY_OK, "but the right one can still come");

    b = box_make(102, 0x40);
    memcpy(b.envelopes, b.envelopes + BOX_LENGTH, BOX_LENGTH);
    box_sign(&b, box_secret[0]);
    is_status(box_send(in, &b), HSY_E_REFUSED, "two equal envelopes");

    b = box_make(103, 0x40);
    box_sign(&b, box_secret[1]);
    is_status(box_send(in, &b), HSY_E_REFUSED, "a stranger's signature");

    b = box_make(104, 0x40);
    strcpy(b.head.task, "other");
    box_sign(&b, box_secret[0]);
    is_status(box_send(in, &b), HSY_E_UNKNOWN, "a task that is not known");

    b = box_make(105, 0x40);
    b.head.n = b.head.in = 4;
    box_sign(&b, box_secret[0]);
    is_status(box_send(in, &b), HSY_E_REFUSED, "fewer than a batch must have");
    is_u64(w->taken, taken + 1, "none of them was taken");
    inbox_close(in);
}

static void a_shuffler_keeps_them_sealed(struct box_world *w)
{
    struct box_batch b = box_make(106, 0x40);
    struct inbox *in = box_new(w);
    uint8_t id[STORE_BATCH_ID];

    w->sealed = true;
    box_sign(&b, box_secret[0]);
    is_status(box_send(in, &b), HSY_OK, "at a shuffler a batch comes too");
    batch_id(id, box_key[1], "cells", 1, 106, 0);
    ok(w->last.type == STORE_SEALED && w->last.n == BOX_N &&
           w->last.item == BOX_LENGTH && w->right,
       "its envelopes as they are");
    ok(w->last.mix != NULL && w->mix.state == STORE_MIX_CLOSED &&
           w->mix.n == BOX_N && w->mix.epoch == 106 && w->mix.entry == 3 &&
           memcmp(w->mix.id, id, sizeof id) == 0,
       "with a row for what becomes of them");
    inbox_close(in);
}

/* ---- Requests (parcel_wire.c) -------------------------------------------- */

static uint8_t box_wire[PARCEL_MAX];

static hsy_status box_ask(struct inbox *in, size_t len, struct inbox_answer *a)
{
    uint8_t wire[PARCEL_ANSWER];
    struct inbox_answer made;
    hsy_error err;
    hsy_status st = parcel_take(in, box_wire, len, &made, &err);

    if (st != HSY_OK)
        return st;
    parcel_answer_write(wire, &made);
    return parcel_answer_read(a, wire, sizeof wire) ? HSY_OK : HSY_E_FORMAT;
}

static size_t box_piece(const struct box_batch *b, uint64_t at, size_t len,
                        const uint8_t *secret)
{
    memcpy(box_wire + PARCEL_BEFORE, b->envelopes + at, len);
    return parcel_piece(box_wire, b->head.id, at, len, secret);
}

static void only_its_sender_goes_on(struct box_world *w)
{
    const size_t all = sizeof(((struct box_batch *)0)->envelopes);
    struct box_batch b = box_make(107, 0x40);
    struct inbox *in = box_new(w);
    struct inbox_answer a = {.at = 0};
    size_t len;

    w->sealed = false;
    box_sign(&b, box_secret[0]);
    is_status(box_ask(in, box_piece(&b, 0, 9, box_secret[0]), &a), HSY_E_EMPTY,
              "a piece before the heads");
    len = parcel_begin(box_wire, b.heads, sizeof b.heads);
    is_status(box_ask(in, len, &a), HSY_OK, "the heads are a request");
    ok(!a.done && a.at == 0 && memcmp(a.id, b.head.id, sizeof a.id) == 0,
       "whose answer names the batch");
    is_status(box_ask(in, box_piece(&b, 0, 9, box_secret[1]), &a),
              HSY_E_SIGNATURE, "a piece that somebody else signs");
    len = box_piece(&b, 0, 9, box_secret[0]);
    box_wire[PARCEL_BEFORE] ^= 1;
    is_status(box_ask(in, len, &a), HSY_E_SIGNATURE, "one that was changed");
    len = box_piece(&b, 0, 9, box_secret[0]);
    box_wire[24] = 1;
    is_status(box_ask(in, len, &a), HSY_E_SIGNATURE,
              "one that was moved to another place");
    is_status(box_ask(in, box_piece(&b, 0, 100, box_secret[0]), &a), HSY_OK,
              "its own");
    is_u64(a.at, 100, "is answered with what has come");
    is_status(box_ask(in, box_piece(&b, 0, 100, box_secret[0]), &a),
              HSY_E_RANGE, "the same once more");
    is_status(box_ask(in, parcel_end(box_wire, b.head.id, box_secret[1]), &a),
              HSY_E_SIGNATURE, "an end of somebody else");
    is_status(box_ask(in, box_piece(&b, 100, all - 100, box_secret[0]), &a),
              HSY_OK, "the rest");
    len = parcel_end(box_wire, b.head.id, box_secret[0]);
    is_status(box_ask(in, len, &a), HSY_OK, "the end");
    ok(a.done && batch_receipt_holds(a.receipt, b.head.id, b.head.digest, BOX_N,
                                     box_key[1]),
       "brings the receipt");
    inbox_close(in);
}

static void what_is_no_request(struct box_world *w)
{
    struct box_batch b = box_make(108, 0x40);
    struct inbox *in = box_new(w);
    struct inbox_answer a;
    uint8_t wire[PARCEL_ANSWER] = {0};
    size_t len, wrong = 0;

    box_sign(&b, box_secret[0]);
    len = parcel_begin(box_wire, b.heads, sizeof b.heads);
    for (size_t n = 0; n < len; n++)
        wrong += box_ask(in, n, &a) == HSY_OK;
    is_u64(wrong, 0, "heads that are cut");
    box_wire[4] = 2;
    is_status(box_ask(in, len, &a), HSY_E_VERSION, "another version");
    box_wire[4] = 1;
    box_wire[6] = 9;
    is_status(box_ask(in, len, &a), HSY_E_FORMAT, "another kind");
    ok(!parcel_answer_read(&a, wire, sizeof wire) &&
           !parcel_answer_read(&a, wire, sizeof wire - 1),
       "zeros, and what is too short, are no answer");
    parcel_answer_write(wire, &(struct inbox_answer){.at = 7});
    wire[40] = 1;
    ok(!parcel_answer_read(&a, wire, sizeof wire),
       "nor is one with a receipt that wants more");
    inbox_close(in);
}

static size_t box_files(void)
{
    char path[128];
    size_t n = 0;
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof path, "%s/incoming", box_root);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL)
        n += e->d_name[0] != '.';
    if (d != NULL)
        closedir(d);
    return n;
}

/* Killed between its commit and the removal of the file. */
static void a_file_of_what_is_here_goes(struct box_world *w)
{
    struct box_batch b = box_make(120, 0x40);
    struct inbox *in = box_new(w);
    const size_t before = box_files();
    struct inbox_answer a;
    hsy_error err;

    box_sign(&b, box_secret[0]);
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_OK,
              "a batch is begun");
    is_u64(box_files(), before + 1, "and has a file");
    memcpy(w->last.id, b.head.id, sizeof w->last.id);
    memcpy(w->last.digest, b.head.digest, sizeof w->last.digest);
    w->here = true;
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_OK,
              "it is here when it is sent again");
    ok(a.done && box_files() == before, "and its file is gone");
    inbox_close(in);
}

/* A hop before that begins batches and never ends them. */
static void many_are_begun(struct box_world *w)
{
    struct inbox *in = box_new(w);
    struct box_batch b;
    struct inbox_answer a;
    size_t failed = 0;

    for (uint32_t i = 0; i < INBOX_FILES + 20; i++) {
        hsy_error err;

        b = box_make(200 + i, 0x40);
        box_sign(&b, box_secret[0]);
        failed += inbox_begin(in, b.heads, sizeof b.heads, &a, &err) != HSY_OK;
    }
    ok(failed == 0 && box_files() == INBOX_FILES,
       "more batches are begun than are kept: %zu files", box_files());
    is_status(box_send(in, &b), HSY_OK, "the last of them is taken");
    inbox_close(in);
}

/* Two senders and room for three batches: one begins many, the other one. */
static void bytes_are_bounded(struct box_world *w)
{
    const uint64_t one = sizeof(((struct box_batch *)0)->envelopes);
    struct inbox *in = box_new_of(w, 3 * one);
    struct box_batch b, theirs = box_make(300, 0x40);
    struct inbox_answer a;
    hsy_error err = {0};

    strcpy(theirs.head.task, "theirs");
    box_sign(&theirs, box_secret[1]);
    is_status(inbox_begin(in, theirs.heads, sizeof theirs.heads, &a, &err),
              HSY_OK, "begins a batch of one sender");
    is_status(inbox_piece(in, theirs.head.id, 0, theirs.envelopes, 99, &err),
              HSY_OK, "takes a piece of it");
    for (uint32_t i = 0; i < 9; i++) {
        b = box_make(400 + i, 0x40);
        box_sign(&b, box_secret[0]);
        inbox_begin(in, b.heads, sizeof b.heads, &a, &err);
    }
    is_u64(box_files(), 3, "keeps three batches while another begins nine");
    is_status(inbox_begin(in, theirs.heads, sizeof theirs.heads, &a, &err),
              HSY_OK, "goes on with the batch of the first");
    is_u64(a.at, 99, "from where it was");
    is_status(box_send(in, &theirs), HSY_OK, "and takes it");
    b = box_make(400, 0x40);
    box_sign(&b, box_secret[0]);
    is_status(inbox_piece(in, b.head.id, 0, b.envelopes, 9, &err), HSY_E_EMPTY,
              "has forgotten the first of the nine");
    is_status(box_send(in, &b), HSY_OK, "which its sender begins again");
    inbox_close(in);
}

/* The batch of the other sender is the largest, and one file. */
static void files_are_bounded_by_sender(struct box_world *w)
{
    struct inbox *in = box_new(w);
    struct box_batch b, theirs = box_make(500, 0x40);
    struct inbox_answer a;
    hsy_error err = {0};

    strcpy(theirs.head.task, "theirs");
    theirs.head.n = theirs.head.in = 1000;
    box_sign(&theirs, box_secret[1]);
    inbox_begin(in, theirs.heads, sizeof theirs.heads, &a, &err);
    inbox_piece(in, theirs.head.id, 0, theirs.envelopes, 99, &err);
    for (uint32_t i = 0; i < INBOX_FILES + 9; i++) {
        b = box_make(600 + i, 0x40);
        box_sign(&b, box_secret[0]);
        inbox_begin(in, b.heads, sizeof b.heads, &a, &err);
    }
    is_u64(box_files(), INBOX_FILES,
           "keeps 64 files while one sender begins "
           "73 small batches");
    is_status(inbox_begin(in, theirs.heads, sizeof theirs.heads, &a, &err),
              HSY_OK, "goes on with the large batch of another sender");
    is_u64(a.at, 99, "and from where it was");
    inbox_close(in);
}

static void more_than_an_honest_hop_makes(struct box_world *w)
{
    struct box_batch b = box_make(109, 0x40);
    struct inbox *in = box_new(w);
    struct inbox_answer a;
    hsy_error err = {0};

    b.head.n = b.head.in = BATCH_MOST;
    b.head.part = BATCH_PARTS - 1;
    box_sign(&b, box_secret[0]);
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_OK,
              "begins a batch of 2^20 envelopes as the last part of an epoch");
    b.heads[108]++;
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_E_FORMAT,
              "refuses one envelope more");
    is_text(err.msg, "a batch has 1 to 2^20 envelopes", "says how many");
    b.heads[108]--;
    b.heads[105] = BATCH_PARTS >> 8;
    is_status(inbox_begin(in, b.heads, sizeof b.heads, &a, &err), HSY_E_FORMAT,
              "refuses one part more");
    is_text(err.msg, "an epoch has at most 4096 parts", "says how many");
    inbox_close(in);
}

int main(void)
{
    struct box_world world = {.here = false};
    char incoming[128];

    if (!rig_root(box_root))
        return 1;
    for (size_t i = 0; i < 2; i++)
        if (hsy_sign_keypair(box_key[i], box_secret[i]) != HSY_OK)
            return 1;
    pieces_become_a_batch(&world);
    what_is_wrong_is_refused(&world);
    a_shuffler_keeps_them_sealed(&world);
    only_its_sender_goes_on(&world);
    what_is_no_request(&world);
    a_file_of_what_is_here_goes(&world);
    many_are_begun(&world);
    more_than_an_honest_hop_makes(&world);
    snprintf(incoming, sizeof incoming, "%s/incoming", box_root);
    rig_remove(incoming);
    bytes_are_bounded(&world);
    files_are_bounded_by_sender(&world);
    snprintf(incoming, sizeof incoming, "%s/incoming", box_root);
    rig_remove(incoming);
    ok(rmdir(box_root) == 0, "nothing else is left");
    return tap_done();
}
