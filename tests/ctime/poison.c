/*
 * poison.c - run the randomizers with secrets that valgrind follows.
 *
 * Memcheck treats a poisoned byte as unknown, and reports every branch and
 * every address that depends on one. usage, under valgrind:
 *
 *     poison truth    truths are poisoned, coins are not
 *     poison coins    truths and the device's key are, so all coins are too
 *     poison branch   control: a branch on a truth, which must be reported
 *     poison index    control: a table indexed by a coin, likewise
 *
 * Reports are not secret: they are unpoisoned once they are made.
 */
#include "hearsay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#define POISON_BATCH 600u /* more than two blocks of any kernel */
#define POISON_REPORT 512u

static void poison(void *p, size_t len)
{
    (void)VALGRIND_MAKE_MEM_UNDEFINED(p, len);
}

static void poison_not(void *p, size_t len)
{
    (void)VALGRIND_MAKE_MEM_DEFINED(p, len);
}

/* ---- What is run --------------------------------------------------------- */

struct poison_run {
    hsy_scheme *s;
    hsy_info info;
    bool coins_too;
    hsy_stream secret, published;
    hsy_coins coins;
};

/* A device's coins. With the key poisoned, so is all that comes of it. */
static void poison_open(struct poison_run *r, hsy_cpu level)
{
    uint8_t key[HSY_KEY] = {1, 2, 3};
    hsy_context context = {"ctime", "source", 6, r->info.digest, 7, 1};

    if (r->coins_too) {
        poison(key, sizeof key);
        poison(&context.truth, sizeof context.truth);
    }
    hsy_stream_open(&r->secret, key, &context);
    hsy_stream_seed(&r->published, 1, 1);
    if (hsy_stream_cpu(&r->secret, level) != HSY_OK ||
        hsy_scheme_cpu(r->s, level) != HSY_OK)
        abort();
    r->coins =
        (hsy_coins){hsy_stream_rng(&r->secret), hsy_stream_rng(&r->published)};
}

/* A truth in the middle of the domain, poisoned. text holds a string's. */
static hsy_truth poison_truth(const hsy_info *info, char *text, size_t len)
{
    hsy_truth truth = {.type = HSY_TRUTH_INDEX};

    truth.u.index = info->d / 2;
    if (info->kind == HSY_KIND_STRINGS) {
        truth.type = HSY_TRUTH_BYTES;
        truth.u.bytes.data = text;
        truth.u.bytes.len = len;
        poison(text, len);
    } else if (info->kind == HSY_KIND_NUMBER || info->kind == HSY_KIND_BINS) {
        truth.type = HSY_TRUTH_NUMBER;
        truth.u.number = info->lo + (info->hi - info->lo) / 3;
        poison(&truth.u.number, sizeof truth.u.number);
    } else {
        poison(&truth.u.index, sizeof truth.u.index);
    }
    return truth;
}

static void poison_single(struct poison_run *r)
{
    char text[] = "nobody shall know this";
    uint8_t report[POISON_REPORT];
    hsy_truth truth = poison_truth(&r->info, text, strlen(text));

    for (int i = 0; i < 20; i++)
        if (hsy_randomize(r->s, report, &truth, &r->coins, NULL) != HSY_OK)
            abort();
    poison_not(report, sizeof report);
}

static void poison_batch(struct poison_run *r)
{
    static uint64_t codes[POISON_BATCH];
    static uint8_t reports[POISON_BATCH * POISON_REPORT];
    uint64_t count = hsy_code_count(r->s);

    for (size_t i = 0; i < POISON_BATCH; i++)
        codes[i] = count == 0 ? i * 0x123456789abcdef : i % count;
    poison(codes, sizeof codes);
    if (hsy_randomize_batch(r->s, reports, codes, POISON_BATCH, &r->coins,
                            NULL) != HSY_OK)
        abort();
    poison_not(codes, sizeof codes);
    poison_not(reports, sizeof reports);
}

/* ---- Over the table of mechanisms ---------------------------------------- */

static bool poison_scheme(struct poison_run *r, const char *name, uint32_t kind,
                          uint64_t nano_epsilon)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = name,
                     .nano_epsilon = nano_epsilon,
                     .kind = kind};

    if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
        spec.d = 1000;
    if (kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS)
        spec.hi = 1000000;
    r->s = malloc(hsy_scheme_size(&spec));
    if (r->s != NULL && hsy_scheme_init(r->s, &spec, NULL) == HSY_OK) {
        hsy_scheme_info(r->s, &r->info);
        if (r->info.report_bytes <= POISON_REPORT)
            return true;
    }
    free(r->s);
    return false;
}

/* Valgrind knows no AVX-512. */
static unsigned poison_levels(struct poison_run *r)
{
    unsigned runs = 0;

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX2; level++) {
        if (!hsy_cpu_has((hsy_cpu)level))
            continue;
        poison_open(r, (hsy_cpu)level);
        poison_single(r);
        poison_batch(r);
        runs++;
    }
    return runs;
}

static int poison_table(bool coins_too)
{
    const hsy_catalogue *row;
    unsigned runs = 0;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_STRINGS; kind++)
            for (uint64_t e = 1; e <= 4; e += 3) {
                struct poison_run r = {.coins_too = coins_too};

                if ((row->kinds >> kind & 1) == 0 ||
                    !poison_scheme(&r, row->name, kind, e * HSY_NANO))
                    continue;
                runs += poison_levels(&r);
                free(r.s);
            }
    printf("%u schemes and levels\n", runs);
    return runs >= 20 ? 0 : 1;
}

/* ---- Controls ------------------------------------------------------------ */

static int poison_control(bool index)
{
    static const char *const words[] = {"no", "yes"};
    uint32_t secret = 1;

    poison(&secret, sizeof secret);
    if (index)
        puts(words[secret & 1]);
    else if (secret == 1)
        puts("a branch was taken");
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";

    if (strcmp(mode, "truth") == 0 || strcmp(mode, "coins") == 0)
        return poison_table(mode[0] == 'c');
    if (strcmp(mode, "branch") == 0 || strcmp(mode, "index") == 0)
        return poison_control(mode[0] == 'i');
    fprintf(stderr, "usage: poison truth|coins|branch|index\n");
    return 2;
}
