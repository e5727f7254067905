/* names.c - which values a figure is about, and what they are called.
 */
#include "server/collector/figures/internal.h"

#include "host/base/host_fail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The task's own list ------------------------------------------------- */

/* Labels follow one another, each after its length in four bytes. */
static hsy_status names_labels(struct figure *f, hsy_error *err)
{
    const uint8_t *block = f->entry->task.labels;
    const size_t len = f->entry->task.labels_len;
    size_t at = f->info.labels_at;

    if (len == 0)
        return HSY_OK; /* values are numbers */
    f->names = calloc((size_t)f->info.d + 1, sizeof *f->names);
    if (f->names == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    while (at + 4 <= len && f->nnames < f->info.d) {
        const size_t n = (size_t)block[at] | (size_t)block[at + 1] << 8 |
                         (size_t)block[at + 2] << 16 |
                         (size_t)block[at + 3] << 24;

        if (n > len - at - 4)
            break;
        f->names[f->nnames++] =
            (struct figure_name){(const char *)block + at + 4, n};
        at += 4 + n;
    }
    return HSY_OK;
}

/* ---- Candidates: strings named in a file, one a line --------------------- */

static int names_order(const void *a, const void *b)
{
    const struct figure_name *x = a, *y = b;
    const size_t least = x->len < y->len ? x->len : y->len;
    const int c = memcmp(x->text, y->text, least);

    return c != 0 ? c : (x->len > y->len) - (x->len < y->len);
}

/* Which candidate stands there twice, from 1 on; 0: none. */
static size_t names_twice(const struct figure *f)
{
    struct figure_name *sorted = malloc(f->nnames * sizeof *sorted + 1);
    size_t twice = 0;

    if (sorted == NULL)
        return 0; /* the decoder tells them apart, or says so */
    memcpy(sorted, f->names, f->nnames * sizeof *sorted);
    qsort(sorted, f->nnames, sizeof *sorted, names_order);
    for (size_t i = 1; i < f->nnames && twice == 0; i++) {
        if (names_order(&sorted[i - 1], &sorted[i]) == 0) {
            const char *later = sorted[i - 1].text > sorted[i].text
                                    ? sorted[i - 1].text
                                    : sorted[i].text;

            while (f->names[twice++].text != later)
                ;
        }
    }
    free(sorted);
    return twice;
}

/* The lines of a text; an empty last one is none, and CR LF ends one too. */
static hsy_status names_lines(struct figure *f, hsy_error *err)
{
    const char *at = f->how->candidates;
    const char *const end = at + f->how->candidates_len;
    size_t room = 1;

    for (const char *c = at; c < end; c++)
        room += *c == '\n';
    f->names = calloc(room, sizeof *f->names);
    if (f->names == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop != NULL ? stop : end) - at);

        if (len > 0 && at[len - 1] == '\r')
            f->names[f->nnames++] = (struct figure_name){at, len - 1};
        else
            f->names[f->nnames++] = (struct figure_name){at, len};
        at += (size_t)((stop != NULL ? stop : end) - at) + (stop != NULL);
    }
    return HSY_OK;
}

static hsy_status names_refused(hsy_error *err, uint64_t line, const char *msg)
{
    if (err != NULL)
        *err = (hsy_error){.status = HSY_E_RANGE,
                           .field = "candidates",
                           .line = line,
                           .msg = msg};
    return HSY_E_RANGE;
}

static hsy_status names_codes(struct figure *f, hsy_error *err)
{
    const size_t width = hsy_codes_per_truth(f->of.scheme);

    f->codes = malloc(f->nnames * width * sizeof *f->codes + 1);
    if (f->codes == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < f->nnames; i++) {
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};
        hsy_error why = {0};

        truth.u.bytes.data = f->names[i].text;
        truth.u.bytes.len = f->names[i].len;
        if (hsy_truth_code(f->of.scheme, f->codes + i * width, &truth, &why) !=
            HSY_OK)
            return names_refused(err, i + 1, why.msg);
    }
    return HSY_OK;
}

static hsy_status names_candidates(struct figure *f, hsy_error *err)
{
    hsy_status st;
    size_t twice;

    st = names_lines(f, err);
    if (st != HSY_OK)
        return st;
    if (f->nnames > FIGURE_CANDIDATES)
        return names_refused(err, FIGURE_CANDIDATES + 1, "too many candidates");
    twice = names_twice(f);
    if (twice != 0)
        return names_refused(err, twice, "the same candidate again");
    f->total = f->nnames;
    return names_codes(f, err);
}

/* ---- Both ---------------------------------------------------------------- */

hsy_status figure_ask(struct figure *f, hsy_error *err)
{
    switch (f->info.kind) {
    case HSY_KIND_STRINGS:
        return names_candidates(f, err);
    case HSY_KIND_YES_NO:
        f->total = 2;
        return HSY_OK;
    case HSY_KIND_NUMBER:
        f->total = 1;
        return HSY_OK;
    case HSY_KIND_BINS:
        f->total = f->info.d;
        return HSY_OK;
    case HSY_KIND_VALUES:
        f->total = f->info.d;
        return names_labels(f, err);
    default:
        return host_fail(err, HSY_E_UNKNOWN, "kind",
                         "the collector has no figures of this kind: download "
                         "the tally, and use 'hearsay estimate'");
    }
}

void figure_put_name(struct put *p, const struct figure *f, uint32_t place)
{
    char text[SHARES_BIN];

    if (place < f->nnames) {
        put_text(p, "value", f->names[place].text, f->names[place].len);
        return;
    }
    if (f->info.kind == HSY_KIND_YES_NO)
        snprintf(text, sizeof text, "%s", place == 0 ? "yes" : "no");
    else if (f->info.kind == HSY_KIND_NUMBER)
        snprintf(text, sizeof text, "mean");
    else if (f->info.kind == HSY_KIND_BINS)
        shares_bin(text, &f->info, place);
    else
        snprintf(text, sizeof text, "%" PRIu32, place);
    put_word(p, "value", text);
}
