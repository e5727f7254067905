/* asked.c - which values an analysis is of, and what they are called. */
#include "host/analysis/internal.h"

#include "lib/bits/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The scheme's own list ----------------------------------------------- */

/* Labels follow one another, each after its length in four bytes. */
static hsy_status asked_labels(struct analysis_asked *asked,
                               const hsy_analysis_tally *t, hsy_error *err)
{
    const size_t len = t->info->labels_len, d = t->info->d;
    size_t at = t->info->labels_at;

    if (t->labels == NULL || len <= at)
        return HSY_OK; /* values are numbers */
    asked->names = calloc(d + 1, sizeof *asked->names);
    if (asked->names == NULL)
        return host_nomem(err);
    while (at + 4 <= len && asked->nnames < d) {
        const size_t n = bytes_get32(t->labels + at);

        if (n > len - at - 4)
            break;
        asked->names[asked->nnames++] =
            (hsy_analysis_text){(const char *)t->labels + at + 4, n};
        at += 4 + n;
    }
    return HSY_OK;
}

/* ---- Candidates ---------------------------------------------------------- */

static int asked_order(const void *a, const void *b)
{
    const hsy_analysis_text *x = *(const hsy_analysis_text *const *)a;
    const hsy_analysis_text *y = *(const hsy_analysis_text *const *)b;
    const size_t least = x->len < y->len ? x->len : y->len;
    const int c = least != 0 ? memcmp(x->text, y->text, least) : 0;

    return c != 0 ? c : (x->len > y->len) - (x->len < y->len);
}

/* Pointers to texts in their order; NULL without memory. */
static const hsy_analysis_text **asked_sorted(const hsy_analysis_text *texts,
                                              size_t n)
{
    const hsy_analysis_text **sorted = malloc((n + 1) * sizeof(*sorted));

    for (size_t i = 0; sorted != NULL && i < n; i++)
        sorted[i] = &texts[i];
    if (sorted != NULL)
        qsort(sorted, n, sizeof(*sorted), asked_order);
    return sorted;
}

static hsy_status asked_wrong(hsy_error *err, size_t place, const char *msg)
{
    return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES, msg,
                        HSY_UNIT_LINE, place);
}

/* Each candidate stands there once. */
static hsy_status asked_once(const hsy_analysis_text *names, size_t n,
                             hsy_error *err)
{
    const hsy_analysis_text **sorted = asked_sorted(names, n);
    size_t twice = 0;

    if (sorted == NULL)
        return host_nomem(err);
    for (size_t i = 1; i < n && twice == 0; i++) {
        const hsy_analysis_text *later =
            sorted[i - 1] > sorted[i] ? sorted[i - 1] : sorted[i];

        if (asked_order(&sorted[i - 1], &sorted[i]) == 0)
            twice = (size_t)(later - names) + 1;
    }
    free(sorted);
    return twice == 0 ? HSY_OK
                      : asked_wrong(err, twice, "the same candidate again");
}

static bool asked_number(uint64_t *code, const hsy_analysis_text *name,
                         uint64_t d)
{
    uint64_t x = 0;

    for (size_t i = 0; i < name->len; i++) {
        const unsigned digit = (unsigned)(name->text[i] - '0');

        if (digit > 9 || x > d)
            return false;
        x = x * 10 + digit;
    }
    *code = x;
    return name->len != 0 && x < d;
}

/* Codes of candidates among the scheme's own values. */
static hsy_status asked_values(struct analysis_asked *asked,
                               const hsy_analysis_tally *t, hsy_error *err)
{
    struct analysis_asked list = {0};
    const hsy_analysis_text **sorted = NULL;
    hsy_status st = asked_labels(&list, t, err);

    if (st == HSY_OK)
        sorted = asked_sorted(list.names, list.nnames);
    if (st == HSY_OK && sorted == NULL)
        st = host_nomem(err);
    for (size_t i = 0; st == HSY_OK && i < asked->nnames; i++) {
        const hsy_analysis_text *name = &asked->names[i];
        const hsy_analysis_text *const *at =
            bsearch(&name, sorted, list.nnames, sizeof(*sorted), asked_order);
        bool good = at != NULL;

        if (good)
            asked->codes[i] = (uint64_t)(*at - list.names);
        else if (list.nnames == 0)
            good = asked_number(&asked->codes[i], name, t->info->d);
        if (!good)
            st = asked_wrong(err, i + 1,
                             list.nnames == 0
                                 ? "not a value of this tally: its values are "
                                   "numbered from 0"
                                 : "not a value of this tally");
    }
    free(sorted);
    free(list.names);
    return st;
}

static hsy_status asked_strings(struct analysis_asked *asked,
                                const hsy_analysis_tally *t, hsy_error *err)
{
    const size_t width = hsy_codes_per_truth(t->scheme);

    for (size_t i = 0; i < asked->nnames; i++) {
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};
        hsy_error why = {0};

        truth.u.bytes.data = asked->names[i].text;
        truth.u.bytes.len = asked->names[i].len;
        if (hsy_truth_code(t->scheme, asked->codes + i * width, &truth, &why) !=
            HSY_OK)
            return asked_wrong(err, i + 1, why.msg);
    }
    return HSY_OK;
}

static hsy_status asked_candidates(struct analysis_asked *asked,
                                   const hsy_analysis_tally *t,
                                   const hsy_analysis_request *request,
                                   hsy_error *err)
{
    const size_t n = request->ncandidates,
                 width = hsy_codes_per_truth(t->scheme);
    hsy_status st = asked_once(request->candidates, n, err);

    if (st != HSY_OK)
        return st;
    asked->names = malloc((n + 1) * sizeof *asked->names);
    asked->codes = malloc((n * width + 1) * sizeof *asked->codes);
    if (asked->names == NULL || asked->codes == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < n; i++)
        asked->names[i] = request->candidates[i];
    asked->nnames = asked->count = n;
    asked->whole =
        request->post != HSY_POST_NONE && t->info->kind == HSY_KIND_VALUES;
    return t->info->kind == HSY_KIND_STRINGS ? asked_strings(asked, t, err)
                                             : asked_values(asked, t, err);
}

/* ---- Both ---------------------------------------------------------------- */

hsy_status analysis_ask(struct analysis_asked *asked,
                        const hsy_analysis_tally *t,
                        const hsy_analysis_request *request, hsy_error *err)
{
    const uint32_t kind = t->info->kind;

    if (request->candidates != NULL && kind != HSY_KIND_STRINGS &&
        kind != HSY_KIND_VALUES)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_CANDIDATES,
                         "only strings and lists of values have candidates");
    if (request->candidates != NULL)
        return asked_candidates(asked, t, request, err);
    switch (kind) {
    case HSY_KIND_YES_NO:
        asked->count = 2;
        return HSY_OK;
    case HSY_KIND_NUMBER:
        asked->count = 1;
        return HSY_OK;
    case HSY_KIND_BINS:
        asked->count = t->info->d;
        return HSY_OK;
    case HSY_KIND_VALUES:
        asked->count = t->info->d;
        return asked_labels(asked, t, err);
    case HSY_KIND_STRINGS:
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_CANDIDATES,
                         "strings of this mechanism are estimated by name: "
                         "there is no list of candidates");
    default:
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_KIND,
                         "there are no estimates of this kind");
    }
}

void analysis_asked_clear(struct analysis_asked *asked)
{
    free(asked->names);
    free(asked->codes);
    *asked = (struct analysis_asked){0};
}

/* ---- Names --------------------------------------------------------------- */

hsy_analysis_text analysis_name(char room[ANALYSIS_NAME],
                                const struct analysis_asked *asked,
                                const hsy_scheme_info *info, uint32_t place)
{
    if (place < asked->nnames)
        return asked->names[place];
    if (info->kind == HSY_KIND_YES_NO)
        snprintf(room, ANALYSIS_NAME, "%s", place == 0 ? "yes" : "no");
    else if (info->kind == HSY_KIND_NUMBER)
        snprintf(room, ANALYSIS_NAME, "mean");
    else if (info->kind == HSY_KIND_BINS)
        analysis_bin(room, info, place);
    else
        snprintf(room, ANALYSIS_NAME, "%" PRIu32, place);
    return (hsy_analysis_text){room, strlen(room)};
}

hsy_status analysis_name_rows(hsy_analysis_result *out,
                              const struct analysis_asked *asked,
                              hsy_error *err)
{
    char room[ANALYSIS_NAME], *at;
    size_t bytes = 1;

    for (size_t i = 0; i < out->count; i++)
        bytes += analysis_name(room, asked, &out->info, out->rows[i].place).len;
    out->memory = at = malloc(bytes);
    if (at == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < out->count; i++) {
        const hsy_analysis_text name =
            analysis_name(room, asked, &out->info, out->rows[i].place);

        memcpy(at, name.text, name.len);
        out->rows[i].value = (hsy_analysis_text){at, name.len};
        at += name.len;
    }
    return HSY_OK;
}
