/*
 * truths.c - what simulated people think: laws by which truths are drawn.
 *
 *     yes-no   0.3                    so many say yes
 *     values   a:3,b:1 | zipf[:S] | uniform
 *     numbers  normal:MEAN:DEVIATION | uniform[:LO:HI], also of bins
 *     strings  word:3,other:1
 */
#define _DEFAULT_SOURCE /* M_PI */
#include "sim/fleet/internal.h"

#include "host/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAW_YES 0.3
#define LAW_WORDS_MAX 4096u

static const char law_words[] = "tea:8,owl:5,fig:3,oak:2,ivy:1,elm:1";

void fleet_law_clear(struct fleet_law *law)
{
    free(law->sums);
    free(law->words);
    free((void *)law->word);
    *law = (struct fleet_law){.n = 0};
}

/* A decimal, and nothing after it but `stop`. */
static bool law_number(double *out, const char *text, char stop,
                       const char **rest)
{
    char *end;

    if (strchr("0123456789.-", text[0]) == NULL || text[0] == '\0')
        return false;
    *out = strtod(text, &end);
    *rest = end;
    return end != text && *end == stop && isfinite(*out);
}

/* n weights of which none is there yet. */
static hsy_status law_room(struct fleet_law *law, size_t n, hsy_error *err)
{
    law->sums = calloc(n, sizeof *law->sums);
    law->n = n;
    return law->sums != NULL ? HSY_OK : host_nomem(err);
}

/* Weights become their sums; false if there is nothing to draw. */
static bool law_sum(struct fleet_law *law)
{
    double sum = 0;

    for (size_t i = 0; i < law->n; i++)
        sum = law->sums[i] += sum;
    return sum > 0 && isfinite(sum);
}

/* ---- One of a list ------------------------------------------------------- */

const char *fleet_label(const struct fleet_task *task, size_t i, size_t *len)
{
    const uint8_t *at = task->task.labels;

    if (at == NULL)
        return NULL;
    for (at += task->info.labels_at;; at += 4 + *len) {
        *len = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 |
               (size_t)at[3] << 24;
        if (i-- == 0)
            return (const char *)at + 4;
    }
}

/* The place of a label, d if there is none. */
static size_t law_label(const struct fleet_task *t, const char *name,
                        size_t len)
{
    size_t n, i = 0;

    for (; i < t->info.d; i++) {
        const char *label = fleet_label(t, i, &n);

        if (label == NULL)
            return t->info.d;
        if (n == len && memcmp(label, name, len) == 0)
            return i;
    }
    return i;
}

/* "a:3,b:1": hand each name with its weight to put. */
static bool law_list(struct fleet_task *t, const char *text,
                     bool (*put)(struct fleet_task *t, struct fleet_law *law,
                                 const char *name, size_t len, double weight),
                     struct fleet_law *law)
{
    while (text != NULL) {
        const char *comma = strchr(text, ','), *colon = text, *rest;
        const char *end = comma != NULL ? comma : text + strlen(text);
        double weight;

        for (const char *c = text; c < end; c++)
            colon = *c == ':' ? c : colon;
        if (colon == text || !law_number(&weight, colon + 1, *end, &rest) ||
            rest != end || weight < 0 ||
            !put(t, law, text, (size_t)(colon - text), weight))
            return false;
        text = comma != NULL ? comma + 1 : NULL;
    }
    return true;
}

static bool law_put_label(struct fleet_task *t, struct fleet_law *law,
                          const char *name, size_t len, double weight)
{
    const size_t place = law_label(t, name, len);

    if (place == t->info.d)
        return false;
    law->sums[place] += weight;
    return true;
}

static bool law_put_word(struct fleet_task *t, struct fleet_law *law,
                         const char *name, size_t len, double weight)
{
    char *at = law->words;

    (void)t;
    for (size_t i = 0; i < law->n; i++)
        at += strlen(at) + 1;
    if (law->n == LAW_WORDS_MAX)
        return false;
    memcpy(at, name, len);
    at[len] = '\0';
    law->word[law->n] = at;
    law->sums[law->n++] = weight;
    return true;
}

static hsy_status law_values(struct fleet_task *t, struct fleet_law *law,
                             const char *text, hsy_error *err)
{
    static const char help[] =
        "LABEL:WEIGHT,..., zipf, zipf:EXPONENT or uniform";
    const char *rest;
    double s = strcmp(text, "uniform") == 0 ? 0 : 1;
    hsy_status st = law_room(law, t->info.d, err);

    if (st != HSY_OK)
        return st;
    if (s == 0 || strcmp(text, "zipf") == 0 ||
        (strncmp(text, "zipf:", 5) == 0 &&
         law_number(&s, text + 5, '\0', &rest) && s >= 0))
        for (size_t i = 0; i < law->n; i++)
            law->sums[i] = pow((double)(i + 1), -s);
    else if (!law_list(t, text, law_put_label, law))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_TRUTH, help);
    return law_sum(law) ? HSY_OK
                        : host_fail(err, HSY_E_FORMAT, HSY_FIELD_TRUTH, help);
}

static hsy_status law_strings(struct fleet_task *t, struct fleet_law *law,
                              const char *text, hsy_error *err)
{
    hsy_status st = law_room(law, LAW_WORDS_MAX, err);

    if (st != HSY_OK)
        return st;
    law->n = 0;
    law->words = calloc(strlen(text) + 2, 1);
    law->word = calloc(LAW_WORDS_MAX, sizeof *law->word);
    if (law->words == NULL || law->word == NULL)
        return host_nomem(err);
    if (!law_list(t, text, law_put_word, law) || !law_sum(law))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_TRUTH,
                         "WORD:WEIGHT,..., at most 4096");
    return HSY_OK;
}

static hsy_status law_yes_no(struct fleet_law *law, const char *text,
                             hsy_error *err)
{
    double yes;
    hsy_status st = law_room(law, 2, err);

    if (st != HSY_OK)
        return st;
    if (!text_part(&yes, text, strlen(text)))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_TRUTH,
                         "the share of yes, as 0.3 or 30%");
    law->sums[0] = 1 - yes; /* the index of no */
    law->sums[1] = 1;
    return HSY_OK;
}

/* ---- Numbers ------------------------------------------------------------- */

static hsy_status law_numbers(struct fleet_task *t, struct fleet_law *law,
                              const char *text, hsy_error *err)
{
    const double unit = pow(10, t->info.scale);
    const char *rest;
    bool good;

    law->normal = strncmp(text, "normal:", 7) == 0;
    law->a = (double)t->info.lo;
    law->b = (double)t->info.hi;
    if (strcmp(text, "uniform") == 0)
        return HSY_OK;
    good = (law->normal || strncmp(text, "uniform:", 8) == 0) &&
           law_number(&law->a, strchr(text, ':') + 1, ':', &rest) &&
           law_number(&law->b, rest + 1, '\0', &rest);
    law->a *= unit;
    law->b *= unit;
    if (!good || (law->normal ? law->b < 0 : law->b < law->a))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_TRUTH,
                         "normal:MEAN:DEVIATION, uniform or uniform:LO:HI");
    return HSY_OK;
}

/* ---- Any ----------------------------------------------------------------- */

static hsy_status law_make(struct fleet_task *t, struct fleet_law *law,
                           const char *text, hsy_error *err)
{
    snprintf(law->text, sizeof law->text, "%s", text);
    switch (t->info.kind) {
    case HSY_KIND_YES_NO:
        return law_yes_no(law, text, err);
    case HSY_KIND_VALUES:
        return law_values(t, law, text, err);
    case HSY_KIND_STRINGS:
        return law_strings(t, law, text, err);
    default:
        return law_numbers(t, law, text, err);
    }
}

hsy_status fleet_law_parse(struct fleet_task *task, const char *text,
                           hsy_error *err)
{
    struct fleet_law law = {.n = 0};
    uint64_t *counts;
    size_t n;
    hsy_status st = law_make(task, &law, text, err);

    n = law.n != 0 ? law.n : task->info.d;
    counts = calloc(n + 1, sizeof *counts);
    if (st == HSY_OK && counts == NULL)
        st = host_nomem(err);
    if (st != HSY_OK) {
        fleet_law_clear(&law);
        free(counts);
        return st;
    }
    fleet_law_clear(&task->law);
    free(task->counts);
    task->law = law;
    task->counts = counts;
    task->ncounts = n;
    return HSY_OK;
}

hsy_status fleet_law_default(struct fleet_task *task, hsy_error *err)
{
    const double unit = pow(10, task->info.scale);
    const double lo = (double)task->info.lo / unit;
    const double width = (double)task->info.hi / unit - lo;
    char text[64];

    switch (task->info.kind) {
    case HSY_KIND_YES_NO:
        snprintf(text, sizeof text, "%g", LAW_YES);
        break;
    case HSY_KIND_VALUES:
        snprintf(text, sizeof text, "zipf");
        break;
    case HSY_KIND_STRINGS:
        snprintf(text, sizeof text, "%s", law_words);
        break;
    default:
        snprintf(text, sizeof text, "normal:%g:%g", lo + 0.4 * width,
                 0.15 * width);
    }
    return fleet_law_parse(task, text, err);
}

/* ---- Drawing ------------------------------------------------------------- */

/* From 0 on and below 1. */
static double law_uniform(hsy_stream *coins)
{
    const hsy_rng rng = hsy_stream_rng(coins);
    uint64_t x = 0;

    rng.fill(rng.ctx, &x, sizeof x);
    return (double)(x >> 11) * 0x1p-53;
}

static size_t law_place(const struct fleet_law *law, hsy_stream *coins)
{
    const double u = law_uniform(coins) * law->sums[law->n - 1];
    size_t low = 0, high = law->n - 1;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (law->sums[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int64_t law_value(const struct fleet_task *t, hsy_stream *coins)
{
    const struct fleet_law *law = &t->law;
    double u = law_uniform(coins), x = law->a + u * (law->b - law->a);

    if (law->normal)
        x = law->a +
            law->b * sqrt(-2 * log(1 - u)) * cos(2 * M_PI * law_uniform(coins));
    x = fmin(fmax(x, (double)t->info.lo), (double)t->info.hi);
    return (int64_t)llround(x);
}

void fleet_law_draw(const struct fleet_task *task, hsy_truth *truth,
                    size_t *place, hsy_stream *coins)
{
    *place = 0;
    if (task->info.kind == HSY_KIND_NUMBER ||
        task->info.kind == HSY_KIND_BINS) {
        *truth = (hsy_truth){.type = HSY_TRUTH_NUMBER,
                             .u = {.number = law_value(task, coins)}};
        return;
    }
    *place = law_place(&task->law, coins);
    *truth =
        (hsy_truth){.type = HSY_TRUTH_INDEX, .u = {.index = (uint32_t)*place}};
    if (task->info.kind != HSY_KIND_STRINGS)
        return;
    *truth = (hsy_truth){.type = HSY_TRUTH_BYTES};
    truth->u.bytes.data = task->law.word[*place];
    truth->u.bytes.len = strlen(task->law.word[*place]);
}
