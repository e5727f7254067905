/*
 * study_models.c - who is trusted: nobody, a shuffler, one curator, or several.
 *
 * Curators count their people and add noise by the code of `hearsay release`,
 * and their tallies are merged as `hearsay tally` merges them. Which people are
 * whose makes no difference to the sum: they go to the curators in the order of
 * their truths, as evenly as their number allows. One curator draws the noise
 * of lane 0 whether it is called central or multiparty:1.
 *
 * Neighbours differ in one person's truth (replace), as under local noise.
 */
#include "sim/study/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const models_names[STUDY_MODELS] = {
    [STUDY_LOCAL] = "local",
    [STUDY_SHUFFLED] = "shuffled",
    [STUDY_CENTRAL] = "central",
    [STUDY_MULTIPARTY] = "multiparty"};

void study_model_name(char name[STUDY_MODEL_NAME], enum study_model model,
                      uint64_t curators)
{
    int len = snprintf(name, STUDY_MODEL_NAME, "%s", models_names[model]);

    if (model == STUDY_MULTIPARTY)
        snprintf(name + len, STUDY_MODEL_NAME - (size_t)len, ":%" PRIu64,
                 curators);
}

/* ":10", at most 7 digits; 0 if it is something else. */
static uint64_t models_curators(const char *text)
{
    const size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;
    uint64_t n = 0;

    if (digits == 0 || digits > 7 || text[1 + digits] != '\0')
        return 0;
    for (size_t i = 1; i <= digits; i++)
        n = 10 * n + (uint64_t)(text[i] - '0');
    return n <= STUDY_CURATORS_MAX ? n : 0;
}

hsy_status study_model_parse(enum study_model *model, uint64_t *curators,
                             const char *text, hsy_error *err)
{
    const size_t len = strcspn(text, ":");

    for (unsigned i = 0; i < STUDY_MODELS; i++) {
        const bool several = i == STUDY_MULTIPARTY;
        const uint64_t n =
            several ? models_curators(text + len) : i == STUDY_CENTRAL;

        if (strlen(models_names[i]) != len ||
            memcmp(models_names[i], text, len) != 0 ||
            (!several && text[len] != '\0'))
            continue;
        if (several && n == 0)
            return host_fail(err, HSY_E_RANGE, HOST_FIELD_MODEL,
                             "multiparty:K takes a number of curators from 1 "
                             "to 1000000");
        *model = (enum study_model)i;
        *curators = n;
        return HSY_OK;
    }
    return host_fail(err, HSY_E_UNKNOWN, HOST_FIELD_MODEL, "no such model");
}

/* ---- Releases ------------------------------------------------------------ */

/* Of two values one count says everything: a yes/no question. */
hsy_spec study_model_spec(enum study_model model, const hsy_spec *asked)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "central",
                     .kind = asked->kind,
                     .nano_epsilon = asked->nano_epsilon,
                     .d = asked->d,
                     .lo = asked->lo,
                     .hi = asked->hi,
                     .scale = asked->scale};

    if (model <= STUDY_SHUFFLED)
        return *asked;
    if (spec.kind == HSY_KIND_VALUES && spec.d == 2)
        spec.kind = HSY_KIND_YES_NO;
    return spec;
}

/* The first person of curator i: floor(i users / n), without overflow. */
static uint64_t models_first(uint64_t users, uint64_t n, uint64_t i)
{
    return users / n * i + users % n * i / n;
}

/* Count the people from number `from` below `to` into t. *at is the truth of
 * the first of them, and then of the next one. */
static hsy_status models_count(hsy_tally *t, const hsy_scheme *s,
                               const struct study_truths *truths, size_t *at,
                               uint64_t from, uint64_t to, hsy_error *err)
{
    hsy_status st = HSY_OK;

    while (st == HSY_OK && from < to) {
        const uint64_t end = truths->ends[*at] < to ? truths->ends[*at] : to;
        const uint64_t some = end - from;

        st = hsy_central_count_many(t, s, &truths->codes[*at], &some, 1, err);
        from = end;
        *at += truths->ends[*at] == end;
    }
    return st;
}

static hsy_status models_publish(hsy_tally *t, const hsy_scheme *s,
                                 uint64_t seed, uint64_t lane, hsy_error *err)
{
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);
    hsy_status status;

    hsy_stream_seed(&st, seed, lane);
    status = hsy_central_release(t, s, &rng, err);
    hsy_stream_clear(&st);
    return status;
}

hsy_status study_release(hsy_tally *t, int64_t *own, const hsy_scheme *s,
                         const struct study_truths *truths,
                         const struct study_curators *curators, hsy_error *err)
{
    hsy_status st = HSY_OK;
    size_t at = 0;

    for (uint64_t i = 0; st == HSY_OK && i < curators->n; i++) {
        hsy_tally release;

        hsy_tally_init(&release, s, own);
        st = models_count(&release, s, truths, &at,
                          models_first(truths->users, curators->n, i),
                          models_first(truths->users, curators->n, i + 1), err);
        if (st == HSY_OK)
            st = models_publish(&release, s, curators->seed, curators->lane + i,
                                err);
        if (st == HSY_OK)
            st = hsy_tally_merge(t, &release, err);
    }
    return st;
}
