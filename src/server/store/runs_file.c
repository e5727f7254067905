/* runs_file.c - reading runs: opening, looking up, looking through. */
#define _GNU_SOURCE /* openat, pread */

#include "server/store/runs_parts.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_PIECE ((size_t)64 * RUN_PAGE)

struct run {
    struct run_is is;
    atomic_uint holders;
    int fd;
    struct run_filter filter;
};

void run_file(char file[RUN_FILE], const struct run_is *is)
{
    snprintf(file, RUN_FILE, "%" PRIu32 ".%u.%" PRIu64, is->epoch,
             (unsigned)is->null, is->number);
}

const struct run_is *run_is(const struct run *r)
{
    return &r->is;
}

const struct run_filter *run_filter(const struct run *r)
{
    return &r->filter;
}

uint64_t run_memory(const struct run *r)
{
    return sizeof *r + run_filter_bytes(r->is.count);
}

uint64_t run_length(const struct run *r)
{
    return run_length_of(r->is.count);
}

uint64_t run_pages(const struct run *r)
{
    return run_pages_of(r->is.count);
}

struct run *run_hold(struct run *r)
{
    atomic_fetch_add(&r->holders, 1);
    return r;
}

void run_drop(struct run *r)
{
    if (r == NULL || atomic_fetch_sub(&r->holders, 1) != 1)
        return;
    if (r->fd != -1)
        close(r->fd);
    run_filter_clear(&r->filter);
    free(r);
}

bool run_alone(const struct run *r)
{
    return atomic_load(&r->holders) == 1;
}

/* ---- Bytes --------------------------------------------------------------- */

hsy_status run_bytes(const struct run *r, uint64_t at, void *to, size_t len)
{
    uint8_t *next = to;

    while (len != 0) {
        const ssize_t n = pread(r->fd, next, len, (off_t)at);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? HSY_E_DAMAGED : HSY_E_IO;
        next += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return HSY_OK;
}

/* Ids that page k has. */
static size_t file_ids(const struct run *r, uint64_t k)
{
    const uint64_t left = r->is.count - k * RUN_IDS;

    return left < RUN_IDS ? (size_t)left : RUN_IDS;
}

static bool file_sound(const struct run *r, const uint8_t page[RUN_PAGE],
                       uint64_t k)
{
    const uint8_t *foot = page + RUN_PAGE - 16;

    return bytes_get32(foot + 12) == run_page_check(&r->is, page) &&
           bytes_get64(foot) == k && bytes_get32(foot + 8) == file_ids(r, k);
}

static hsy_status file_page(const struct run *r, uint64_t k,
                            uint8_t page[RUN_PAGE])
{
    const hsy_status st = run_bytes(r, (k + 1) * RUN_PAGE, page, RUN_PAGE);

    if (st != HSY_OK)
        return st;
    return file_sound(r, page, k) ? HSY_OK : HSY_E_DAMAGED;
}

hsy_status run_page(const struct run *r, uint64_t k,
                    struct store_id ids[RUN_IDS], size_t *n)
{
    uint8_t page[RUN_PAGE];
    const hsy_status st = file_page(r, k, page);

    if (st != HSY_OK)
        return st;
    *n = file_ids(r, k);
    memcpy(ids, page, *n * sizeof *ids);
    return HSY_OK;
}

hsy_status run_find(const struct run *r, const struct store_id *id, bool *there,
                    struct store_id *found)
{
    uint8_t page[RUN_PAGE];
    uint64_t at = 0;

    *there = false;
    for (; run_filter_next(&r->filter, id, &at); at++) {
        const hsy_status st = file_page(r, at / RUN_IDS, page);

        if (st != HSY_OK)
            return st;
        memcpy(found, page + at % RUN_IDS * sizeof *found, sizeof *found);
        *there = memcmp(found->id, id->id, sizeof id->id) == 0;
        if (*there)
            break;
    }
    return HSY_OK;
}

/* ---- The filter ---------------------------------------------------------- */

/* As it stands in the file; HSY_E_DAMAGED if that is not what it was. */
static hsy_status file_filter(struct run *r, uint32_t check)
{
    const uint64_t at = (1 + run_pages(r)) * RUN_PAGE;
    struct run_filter *f = &r->filter;
    const size_t first = (((size_t)1 << f->bits) + 1) * sizeof *f->first;
    const size_t marks = (size_t)r->is.count * sizeof *f->marks;
    hsy_status st = run_bytes(r, at, f->first, first);
    uint32_t crc;

    if (st == HSY_OK)
        st = run_bytes(r, at + first, f->marks, marks);
    if (st != HSY_OK)
        return st;
    crc = hsy_crc32c(hsy_crc32c(0, f->first, first), f->marks, marks);
    if (crc != check)
        return HSY_E_DAMAGED;
    for (size_t i = 0; i <= (size_t)1 << f->bits; i++) {
        uint8_t wire[4];

        memcpy(wire, &f->first[i], sizeof wire);
        f->first[i] = bytes_get32(wire);
    }
    f->count = r->is.count;
    return HSY_OK;
}

/* The same from the ids. */
static hsy_status file_filter_again(struct run *r)
{
    struct store_id ids[RUN_IDS];
    hsy_status st = HSY_OK;
    size_t n;

    r->filter.count = r->filter.begun = 0;
    r->filter.first[0] = 0;
    for (uint64_t k = 0; st == HSY_OK && k < run_pages(r); k++) {
        st = run_page(r, k, ids, &n);
        for (size_t i = 0; st == HSY_OK && i < n; i++)
            run_filter_add(&r->filter, &ids[i]);
    }
    run_filter_end(&r->filter);
    return st;
}

/* ---- Opening ------------------------------------------------------------- */

/* err->at is its number, with which the file's name ends. */
static hsy_status file_why(const struct run_is *is, hsy_status st,
                           hsy_error *err)
{
    return host_fail_at(err, st, HOST_FIELD_RUNS,
                        st == HSY_E_DAMAGED
                            ? "a file of ids is missing or changed"
                            : "a file of ids cannot be read",
                        HSY_UNIT_RUN, is->number);
}

/* Length, head and end; *filter is the filter's checksum. */
static hsy_status file_ends(const struct run *r, uint32_t *filter)
{
    uint8_t head[RUN_HEAD], want[RUN_HEAD], end[RUN_END], same[RUN_END];
    struct stat is;
    hsy_status st;

    if (fstat(r->fd, &is) == -1)
        return HSY_E_IO;
    if ((uint64_t)is.st_size != run_length(r))
        return HSY_E_DAMAGED;
    st = run_bytes(r, 0, head, sizeof head);
    if (st == HSY_OK)
        st = run_bytes(r, run_length(r) - RUN_END, end, sizeof end);
    if (st != HSY_OK)
        return st;
    *filter = bytes_get32(end);
    run_put_head(want, &r->is);
    run_put_end(same, *filter, r->is.check);
    return memcmp(head, want, sizeof head) == 0 &&
                   memcmp(end, same, sizeof end) == 0
               ? HSY_OK
               : HSY_E_DAMAGED;
}

static hsy_status file_open(struct run **out, int dir, const struct run_is *is,
                            hsy_error *err)
{
    char file[RUN_FILE];
    struct run *r;

    if (is->count == 0 || is->count >= UINT32_MAX)
        return file_why(is, HSY_E_DAMAGED, err);
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return host_nomem(err);
    r->is = *is;
    atomic_init(&r->holders, 1);
    run_file(file, is);
    r->fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (r->fd == -1) {
        free(r);
        return file_why(is,
                        errno == ENOENT   ? HSY_E_DAMAGED
                        : errno == EMFILE ? HSY_E_NOMEM
                                          : HSY_E_IO,
                        err);
    }
    *out = r;
    return HSY_OK;
}

hsy_status run_open(struct run **out, int dir, const struct run_is *is,
                    hsy_error *err)
{
    struct run *r;
    uint32_t check = 0;
    hsy_status st = file_open(&r, dir, is, err);

    if (st != HSY_OK)
        return st;
    st = file_ends(r, &check);
    if (st == HSY_OK && !run_filter_make(&r->filter, is->count)) {
        run_drop(r);
        return host_nomem(err);
    }
    if (st == HSY_OK) {
        st = file_filter(r, check);
        if (st == HSY_E_DAMAGED)
            st = file_filter_again(r);
    }
    if (st != HSY_OK) {
        run_drop(r);
        return file_why(is, st, err);
    }
    *out = r;
    return HSY_OK;
}

hsy_status run_adopt(struct run **out, int dir, const struct run_is *is,
                     struct run_filter *filter, hsy_error *err)
{
    struct run *r;
    const hsy_status st = file_open(&r, dir, is, err);

    if (st != HSY_OK) {
        run_filter_clear(filter);
        return st;
    }
    r->filter = *filter;
    *filter = (struct run_filter){0};
    *out = r;
    return HSY_OK;
}

/* ---- All of it ----------------------------------------------------------- */

struct file_looking {
    const struct run *r;
    hsy_status (*each)(void *ctx, const struct store_id *ids, size_t n);
    void *ctx;
    struct store_id last;
};

static hsy_status file_look_page(struct file_looking *l, uint64_t k,
                                 const uint8_t page[RUN_PAGE])
{
    const size_t n = file_ids(l->r, k);
    struct store_id ids[RUN_IDS];

    if (!file_sound(l->r, page, k))
        return HSY_E_DAMAGED;
    memcpy(ids, page, n * sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&l->last, &ids[i], sizeof l->last) > 0)
            return HSY_E_DAMAGED;
        l->last = ids[i];
    }
    return l->each == NULL ? HSY_OK : l->each(l->ctx, ids, n);
}

/* Pages of a piece that begins at a page of the file, the first of which is its
 * head. */
static hsy_status file_look_piece(struct file_looking *l, uint64_t at,
                                  const uint8_t *piece, size_t len)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i + RUN_PAGE <= len; i += RUN_PAGE) {
        const uint64_t page = (at + i) / RUN_PAGE;

        if (page >= 1 && page <= run_pages(l->r))
            st = file_look_page(l, page - 1, piece + i);
    }
    return st;
}

hsy_status run_look(const struct run *r,
                    hsy_status (*each)(void *ctx, const struct store_id *ids,
                                       size_t n),
                    void *ctx)
{
    struct file_looking l = {.r = r, .each = each, .ctx = ctx};
    const uint64_t end = run_length(r) - RUN_END;
    uint8_t *piece = malloc(FILE_PIECE);
    uint32_t crc = 0;
    hsy_status st = piece == NULL ? HSY_E_NOMEM : HSY_OK;

    for (uint64_t at = 0; st == HSY_OK && at < end; at += FILE_PIECE) {
        const size_t len =
            end - at < FILE_PIECE ? (size_t)(end - at) : FILE_PIECE;

        st = run_bytes(r, at, piece, len);
        if (st == HSY_OK)
            st = file_look_piece(&l, at, piece, len);
        if (st == HSY_OK)
            crc = hsy_crc32c(crc, piece, len);
    }
    free(piece);
    return st == HSY_OK && crc != r->is.check ? HSY_E_DAMAGED : st;
}
