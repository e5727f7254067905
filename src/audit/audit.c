/* audit.c - one audit from claim to verdict. */
#include "audit/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AUDIT_AGREE 1e-12 /* two ways to one epsilon, in long doubles */
#define AUDIT_SAMPLES_MIN 1000u

static hsy_status audit_library_single(void *ctx, const hsy_scheme *s,
                                       uint8_t *report,
                                       const struct audit_probe *probe,
                                       hsy_coins *coins)
{
    (void)ctx;
    return hsy_randomize(s, report, &probe->truth, coins, NULL);
}

static hsy_status audit_library_batch(void *ctx, const hsy_scheme *s,
                                      uint8_t *reports, const uint64_t *codes,
                                      size_t n, hsy_coins *coins)
{
    (void)ctx;
    return hsy_randomize_batch(s, reports, codes, n, coins, NULL);
}

struct audit_subject audit_library(const hsy_scheme *s)
{
    return (struct audit_subject){s, audit_library_single, audit_library_batch,
                                  NULL};
}

const char *audit_verdict(unsigned faults)
{
    static const struct {
        unsigned fault;
        const char *words;
    } table[] = {
        {AUDIT_EXACT, "VIOLATION: the integers exceed epsilon"},
        {AUDIT_ENUMERATED, "VIOLATION: the law's worst ratio is not its own"},
        {AUDIT_SAMPLED, "VIOLATION: the sample proves more than is claimed"},
        {AUDIT_CLOSED, "VIOLATION: a report although the coins had failed"},
        {AUDIT_COINS, "VIOLATION: the noise does not come from the coins"},
        {AUDIT_STATUS, "VIOLATION: a truth of the domain is not answered"},
        {AUDIT_MALFORMED, "VIOLATION: a report that its scheme refuses"},
        {AUDIT_LAW, "VIOLATION: the sample does not follow the law"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (faults & table[i].fault)
            return table[i].words;
    return "holds";
}

/* What one audit works on. */
struct audit_work {
    const struct audit_subject *subject;
    const struct audit_options *options;
    struct audit_result *out;
    struct audit_probe probes[AUDIT_PROBES];
    size_t nprobes;
    struct audit_outputs outputs;
    uint64_t samples; /* of each way */
    double alpha;     /* of each way */
    uint8_t *set;
};

/* A quarter of the sample, over all probes, learns and chooses; the rest, over
 * the two probes of the event, bounds it. */
static hsy_status audit_judge(struct audit_work *w, struct audit_sample *s,
                              hsy_coins coins)
{
    uint64_t eighth = w->samples / 8;
    struct audit_event e;
    hsy_status st;
    double bound;

    audit_sample_draw(s, AUDIT_LEARN, coins, eighth);
    audit_sample_draw(s, AUDIT_CHOOSE, coins, eighth);
    st = audit_event_choose(&e, s, w->alpha, w->set);
    if (st != HSY_OK)
        return st;
    if (e.class != AUDIT_NOTHING) {
        s->turn[0] = e.own;
        s->turn[1] = e.other;
        s->nturn = 2;
    }
    audit_sample_draw(s, AUDIT_PROVE, coins, w->samples - 2 * eighth);
    audit_event_recount(&e, s);
    bound = audit_bound(e.hits, e.trials, w->alpha);
    if (bound > w->out->sampled || w->out->event[0] == '\0') {
        w->out->sampled = bound;
        audit_event_name(w->out->event, sizeof w->out->event, &e, s);
    }
    w->out->law_p = fmin(w->out->law_p, audit_law_test(s));
    w->out->faults |= s->faults;
    w->out->samples += w->samples;
    return HSY_OK;
}

/* One way of drawing, with fresh coins or with those of the seed. */
static hsy_status audit_way(struct audit_work *w, bool batch)
{
    const uint64_t lane = batch ? 2 : 0;
    hsy_entropy entropy;
    hsy_stream secret, published;
    hsy_coins coins;
    struct audit_sample s;
    hsy_status st = audit_sample_init(&s, w->subject, &w->outputs, w->probes,
                                      w->nprobes, batch);

    if (st != HSY_OK)
        return st;
    s.options = w->options;
    hsy_entropy_init(&entropy);
    coins = hsy_entropy_coins(&entropy);
    if (w->options->seeded) {
        hsy_stream_seed(&secret, w->options->seed, lane);
        hsy_stream_seed(&published, w->options->seed, lane + 1);
        coins =
            (hsy_coins){hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    }
    w->out->faults |=
        audit_check_coins(w->subject, batch, w->probes, w->nprobes, s.reports,
                          s.info.report_bytes);
    st = audit_judge(w, &s, coins);
    hsy_entropy_clear(&entropy);
    audit_sample_clear(&s);
    return st;
}

static hsy_status audit_ways(struct audit_work *w)
{
    bool single = w->subject->single != NULL, batch = w->subject->batch != NULL;
    hsy_status st = HSY_OK;

    /* Both bounds shall hold together. */
    w->samples = w->options->samples / (single && batch ? 2 : 1);
    w->alpha = (1 - w->options->confidence) / (single && batch ? 2 : 1);
    if (single)
        st = audit_way(w, false);
    if (batch && st == HSY_OK)
        st = audit_way(w, true);
    return st;
}

static void audit_decide(struct audit_result *out)
{
    if (out->exact > out->nominal)
        out->faults |= AUDIT_EXACT;
    if (out->outputs != 0 &&
        !(fabs(out->enumerated - out->exact) <= AUDIT_AGREE))
        out->faults |= AUDIT_ENUMERATED;
    if (out->sampled > out->exact || out->sampled > out->nominal)
        out->faults |= AUDIT_SAMPLED;
    if (out->law_p < AUDIT_LAW_ALPHA)
        out->faults |= AUDIT_LAW;
}

hsy_status audit_run(struct audit_result *out,
                     const struct audit_subject *subject,
                     const struct audit_options *options)
{
    struct audit_work w = {.subject = subject, .options = options, .out = out};
    hsy_scheme_info info;
    hsy_status st;

    memset(out, 0, sizeof *out);
    if (options->samples < AUDIT_SAMPLES_MIN || !(options->confidence > 0) ||
        !(options->confidence < 1))
        return HSY_E_RANGE;
    hsy_scheme_describe(subject->scheme, &info);
    out->nominal = info.epsilon;
    out->exact = audit_exact(subject->scheme);
    out->law_p = 1;
    w.nprobes = audit_probes(w.probes, subject->scheme);
    st = audit_enumerate(&w.outputs, subject->scheme, &info, w.probes,
                         w.nprobes);
    out->outputs = w.outputs.count;
    out->enumerated = w.outputs.epsilon;
    w.set = calloc(w.outputs.size + 1, 1);
    if (w.set == NULL)
        st = HSY_E_NOMEM;
    if (st == HSY_OK)
        st = audit_ways(&w);
    audit_decide(out);
    free(w.outputs.law);
    free(w.set);
    return st;
}
