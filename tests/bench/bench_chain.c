/* bench_chain.c - the speed of reports made from a permanent answer. */
#include "bench/bench.h"

#include <stdlib.h>

#define BENCH_CHAIN_REPORTS 1024u
#define BENCH_CHAIN_BYTES 512u /* of a report */

/* A device's part of a round: the coins of the permanent answer and the answer,
 * the coins of the report and the report. Owns its schemes. */
struct bench_chain {
    hsy_scheme *permanent, *report;
    hsy_permanent chain;
    hsy_scheme_info info;
    hsy_status failed;
};

static hsy_status bench_chain_one(const struct bench_chain *x, uint8_t *report,
                                  uint64_t round)
{
    static const uint8_t key[HSY_KEY] = {1, 2, 3};
    hsy_context context = {"permanent", "bench", 5, x->info.digest, 0, 0};
    uint8_t answer[BENCH_CHAIN_BYTES];
    hsy_keyed streams;
    hsy_coins coins;
    hsy_status st;

    hsy_keyed_open(&streams, key, &context);
    coins = hsy_keyed_coins(&streams);
    st = hsy_permanent_answer(&x->chain, answer, 0, &coins);
    context.purpose = "report";
    context.slot = round;
    hsy_keyed_open(&streams, key, &context);
    if (st == HSY_OK)
        st = hsy_permanent_report(&x->chain, report, answer, &coins.secret);
    hsy_keyed_clear(&streams);
    return st;
}

static void bench_chain_all(void *ctx)
{
    struct bench_chain *x = ctx;
    uint8_t report[BENCH_CHAIN_BYTES];
    uint64_t sum = 0;

    for (uint64_t i = 0; i < BENCH_CHAIN_REPORTS && x->failed == HSY_OK; i++) {
        x->failed = bench_chain_one(x, report, i);
        sum += report[0];
    }
    bench_use(sum);
}

/* RAPPOR has both steps in one scheme; of the others the permanent answer has
 * twice the report's epsilon. */
static bool bench_chain_open(struct bench_chain *x, const struct bench_case *c)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = c->mechanism,
                     .nano_epsilon = HSY_NANO,
                     .kind = HSY_KIND_VALUES,
                     .d = c->d};
    hsy_error err = {0};

    *x = (struct bench_chain){.failed = HSY_OK};
    if (!bench_scheme_new(&x->report, &spec))
        return false;
    hsy_scheme_describe(x->report, &x->info);
    if (x->info.epsilon_permanent == 0)
        spec.nano_epsilon *= 2;
    if (!bench_scheme_new(&x->permanent, &spec))
        return false;
    if (x->info.report_bytes > BENCH_CHAIN_BYTES ||
        hsy_permanent_init(&x->chain, x->permanent, x->report, 0, &err) !=
            HSY_OK) {
        bench_fail("%s: no chain: %s", c->name,
                   err.msg != NULL ? err.msg : "reports are too long");
        return false;
    }
    return true;
}

double bench_chain(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_chain x;
    double rate = 0;

    (void)level;
    if (bench_chain_open(&x, c))
        rate = bench_best(b, BENCH_CHAIN_REPORTS, bench_chain_all, &x);
    free(x.permanent);
    free(x.report);
    if (x.failed != HSY_OK) {
        bench_fail("%s: %s", c->name, hsy_strstatus(x.failed));
        return 0;
    }
    return rate;
}
