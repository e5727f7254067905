/*
 * poison.c - run the randomizers with secrets that valgrind follows.
 *
 * Memcheck treats a poisoned byte as unknown, and reports every branch and
 * every address that depends on one. usage, under valgrind:
 *
 *     poison truth    truths are poisoned, coins are not
 *     poison coins    truths and the device's key are, so its coins are too
 *     poison length   control: a string of secret length whose room is not
 *                     stated, which must be reported
 *     poison branch   control: a branch on a truth, which must be reported
 *     poison index    control: a table indexed by a coin, likewise
 *     poison blanket  control: a branch on the coin that chooses between
 * blanket and own value, beside the redraw, which may show
 *
 * Reports are not secret: they are unpoisoned once they are made.
 */
#include "lib/bits/ct.h"
#include "lib/kernels/kernels.h"
#include "rig/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#define POISON_BATCH 600u /* more than two blocks of any kernel */
#define POISON_REPORT 512u
#define POISON_ROOM 200u /* a few lines of cache */

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
    hsy_scheme_info info;
    bool coins_too;
    hsy_keyed streams;
    hsy_coins coins;
};

/* A device's coins. With the key poisoned, so are the secret ones; the others
 * are anybody's to know, and the report shows them. */
static void poison_open(struct poison_run *r, hsy_cpu level)
{
    uint8_t key[HSY_KEY] = {1, 2, 3};
    hsy_context context = {"ctime", "source", 6, r->info.digest, 7, 1};

    if (r->coins_too) {
        poison(key, sizeof key);
        poison(&context.truth, sizeof context.truth);
    }
    hsy_keyed_open(&r->streams, key, &context);
    poison_not(&r->streams.published, sizeof r->streams.published);
    if (hsy_stream_cpu(&r->streams.secret, level) != HSY_OK ||
        hsy_scheme_cpu(r->s, level) != HSY_OK)
        abort();
    r->coins = hsy_keyed_coins(&r->streams);
}

/* A string and how long it is, both poisoned, in a buffer of public room. */
static hsy_truth poison_string(char text[POISON_ROOM])
{
    static const char secret[] = "nobody";
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    memset(text, 0, POISON_ROOM);
    memcpy(text, secret, sizeof secret - 1);
    truth.u.bytes.data = text;
    truth.u.bytes.len = sizeof secret - 1;
    truth.u.bytes.room = POISON_ROOM;
    poison(text, POISON_ROOM);
    poison(&truth.u.bytes.len, sizeof truth.u.bytes.len);
    return truth;
}

/* A truth in the middle of the domain, poisoned. text holds a string's. */
static hsy_truth poison_truth(const hsy_scheme_info *info,
                              char text[POISON_ROOM])
{
    hsy_truth truth = {.type = HSY_TRUTH_INDEX};

    truth.u.index = info->d / 2;
    if (info->kind == HSY_KIND_STRINGS) {
        truth = poison_string(text);
    } else if (info->kind == HSY_KIND_NUMBER || info->kind == HSY_KIND_BINS) {
        truth.type = HSY_TRUTH_NUMBER;
        truth.u.number = info->lo + (info->hi - info->lo) / 3;
        poison(&truth.u.number, sizeof truth.u.number);
    } else {
        poison(&truth.u.index, sizeof truth.u.index);
    }
    return truth;
}

/* One such truth for each attribute, if there are several. */
static hsy_truth poison_truths(const struct poison_run *r, hsy_truth *items,
                               char text[POISON_ROOM])
{
    hsy_truth truth = {.type = HSY_TRUTH_TUPLE};

    if (r->info.kind != HSY_KIND_TUPLE)
        return poison_truth(&r->info, text);
    truth.u.tuple.items = items;
    truth.u.tuple.count = hsy_codes_per_truth(r->s);
    for (size_t i = 0; i < truth.u.tuple.count; i++) {
        hsy_scheme_info info;

        hsy_scheme_describe(hsy_scheme_attribute(r->s, i), &info);
        items[i] = poison_truth(&info, text);
    }
    return truth;
}

static void poison_single(struct poison_run *r)
{
    char text[POISON_ROOM];
    uint8_t report[POISON_REPORT];
    hsy_truth items[HSY_ATTRIBUTES_MAX];
    hsy_truth truth = poison_truths(r, items, text);

    for (int i = 0; i < 20; i++)
        if (hsy_randomize(r->s, report, &truth, &r->coins, NULL) != HSY_OK)
            abort();
    poison_not(report, sizeof report);
}

static void poison_batch(struct poison_run *r)
{
    static uint64_t codes[HSY_SPELL_WORDS * POISON_BATCH];
    const size_t width = hsy_codes_per_truth(r->s);
    static uint8_t reports[POISON_BATCH * POISON_REPORT];

    for (size_t i = 0; i < POISON_BATCH; i++)
        trial_codes(r->s, codes + i * width,
                    trial_count(r->s) == 0 ? i * 0x123456789abcdef : i);
    poison(codes, sizeof codes);
    if (hsy_randomize_batch(r->s, reports, codes, POISON_BATCH, &r->coins,
                            NULL) != HSY_OK)
        abort();
    poison_not(codes, sizeof codes);
    poison_not(reports, sizeof reports);
}

/* ---- Over the table of mechanisms ---------------------------------------- */

/* How much noise: by epsilon, or by the designs that some mechanisms take. */
struct poison_noise {
    uint64_t nano_epsilon;
    uint32_t design;
    hsy_ratio chance[HSY_CHANCES];
};

static const struct poison_noise poison_noises[] = {
    {1 * HSY_NANO, HSY_DESIGN_EPSILON, {{0}}},
    {4 * (uint64_t)HSY_NANO, HSY_DESIGN_EPSILON, {{0}}},
    {0, HSY_DESIGN_SPINNER, {{1, 3}}},
    {0, HSY_DESIGN_COINS, {{1, 2}, {1, 2}}},
    {0, HSY_DESIGN_CHANNEL, {{9, 10}, {1, 5}}},
    {0, HSY_DESIGN_RAPPOR, {{1, 2}, {7, 20}, {13, 16}}}};

/* A late one of sixteen stages, with survivors to look through: "nobody" begins
 * with one of them. Strings take three words, survivors two, and what follows
 * them goes over the end of a word. */
static void poison_stage(hsy_spec *spec)
{
    static const uint8_t labels[] = "\36\0\0\0"
                                    "610000000000000000000000000000"
                                    "\36\0\0\0"
                                    "6e6f626f6479000000000000000000"
                                    "\36\0\0\0"
                                    "fffffffffffffffffffffffffffff8";

    spec->d = 3;
    spec->labels = labels;
    spec->labels_len = sizeof labels - 1;
    spec->param[HSY_PARAM_BITS] = 192;
    spec->param[HSY_PARAM_STEP] = 12;
    spec->param[HSY_PARAM_PREFIX_BITS] = 132;
}

static bool poison_scheme(struct poison_run *r, const char *name, uint32_t kind,
                          const struct poison_noise *noise)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = name,
                     .nano_epsilon = noise->nano_epsilon,
                     .kind = kind,
                     .design = noise->design};

    memcpy(spec.chance, noise->chance, sizeof spec.chance);

    if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
        spec.d = 1000;
    if (kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS)
        spec.hi = 1000000;
    trial_attach(&spec);
    if (strcmp(name, "stage") == 0)
        poison_stage(&spec);
    if (strcmp(name, "sfp") == 0) /* any code is a word's */
        spec.param[HSY_PARAM_BITS] = 64;
    r->s = malloc(hsy_scheme_size(&spec));
    if (r->s != NULL && hsy_scheme_init(r->s, &spec, NULL) == HSY_OK) {
        hsy_scheme_describe(r->s, &r->info);
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
    unsigned runs = 0, designs = 0;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_TUPLE; kind++)
            for (size_t n = 0; n < sizeof poison_noises / sizeof *poison_noises;
                 n++) {
                struct poison_run r = {.coins_too = coins_too};

                if ((row->kinds >> kind & 1) == 0 ||
                    !poison_scheme(&r, row->name, kind, &poison_noises[n]))
                    continue;
                runs += poison_levels(&r);
                designs += poison_noises[n].design != HSY_DESIGN_EPSILON;
                free(r.s);
            }
    printf("%u schemes and levels, %u designs\n", runs, designs);
    return runs >= 20 && designs >= 3 ? 0 : 1;
}

/* ---- Spelled strings ----------------------------------------------------- */

/* Alphabets, several words, and oracles of other kinds than the rule takes. */
static int poison_spelled(bool coins_too)
{
    static const struct {
        uint64_t bits, first, step;
        bool letters;
        const char *oracle, *mechanism; /* NULL: pem */
    } rows[] = {
        {30, 8, 6, true, NULL, "sfp"},    {128, 8, 8, false, "hcms", "sfp"},
        {40, 4, 12, true, NULL, NULL},    {128, 4, 20, true, NULL, NULL},
        {512, 4, 20, false, "olh", NULL}, {128, 4, 20, true, "hcms", NULL},
        {40, 4, 12, true, "cms", NULL},   {18, 4, 7, true, "hr", NULL}};
    unsigned runs = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct poison_run r = {.coins_too = coins_too};
        hsy_spec spec = trial_values(
            rows[i].mechanism != NULL ? rows[i].mechanism : "pem", 0, 1);

        spec.kind = HSY_KIND_STRINGS;
        spec.oracle = rows[i].oracle;
        spec.param[HSY_PARAM_BITS] = rows[i].bits;
        trial_steps(&spec, rows[i].step);
        spec.param[rows[i].mechanism != NULL ? HSY_PARAM_PIECE_BITS
                                             : HSY_PARAM_FIRST] = rows[i].first;
        if (rows[i].letters &&
            hsy_alphabet_parse(spec.alphabet, "nobdyx", 6, NULL) != HSY_OK)
            abort();
        r.s = trial_scheme(&spec);
        hsy_scheme_describe(r.s, &r.info);
        runs += poison_levels(&r);
        free(r.s);
    }
    printf("%u spellings and levels\n", runs);
    return runs >= sizeof rows / sizeof rows[0] ? 0 : 1;
}

/* ---- Permanent answers --------------------------------------------------- */

/* The scheme of a permanent answer for a report's: at epsilon 4, the rest as it
 * was resolved. RAPPOR's is the same. */
static hsy_scheme *poison_permanent_scheme(const struct poison_run *r)
{
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_spec spec;

    hsy_scheme_encode(r->s, wire);
    if (hsy_spec_decode(&spec, wire, NULL, 0, NULL) != HSY_OK)
        abort();
    if (r->info.epsilon_permanent == 0)
        spec.nano_epsilon = 4 * (uint64_t)HSY_NANO;
    else if (spec.design != HSY_DESIGN_EPSILON)
        spec.nano_epsilon = 0;
    return trial_scheme(&spec);
}

/* From a code to its key, the key's answer and a report: all but the report are
 * secret. */
static void poison_permanent(struct poison_run *r, const hsy_permanent *c)
{
    uint8_t answer[POISON_REPORT], report[POISON_REPORT];
    uint64_t code = 1, key;

    poison(&code, sizeof code);
    for (int i = 0; i < 20; i++) {
        if (hsy_permanent_key(c, &key, code, &r->coins) != HSY_OK ||
            hsy_permanent_answer(c, answer, key, &r->coins) != HSY_OK ||
            hsy_permanent_report(c, report, answer, &r->coins.secret) != HSY_OK)
            abort();
        poison_not(report, sizeof report);
    }
}

static unsigned poison_permanent_levels(struct poison_run *r)
{
    hsy_scheme *permanent = poison_permanent_scheme(r);
    unsigned runs = 0;
    hsy_permanent c;

    if (hsy_permanent_init(&c, permanent, r->s, 0, NULL) == HSY_OK)
        for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX2; level++) {
            if (!hsy_cpu_has((hsy_cpu)level) ||
                hsy_scheme_cpu(permanent, (hsy_cpu)level) != HSY_OK)
                continue;
            poison_open(r, (hsy_cpu)level);
            poison_permanent(r, &c);
            runs++;
        }
    free(permanent);
    return runs;
}

/* Every mechanism that has permanent answers; the first noise is epsilon 1. */
static int poison_permanents(bool coins_too)
{
    const hsy_catalogue *row;
    unsigned mechanisms = 0, runs = 0;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        const unsigned before = runs;

        for (uint32_t kind = HSY_KIND_YES_NO; kind < HSY_KIND_TUPLE; kind++) {
            struct poison_run r = {.coins_too = coins_too};

            if (hsy_mech_named(row->name)->client->permanent == NULL ||
                (row->kinds >> kind & 1) == 0 ||
                !poison_scheme(&r, row->name, kind, &poison_noises[0]))
                continue;
            runs += poison_permanent_levels(&r);
            free(r.s);
        }
        mechanisms += runs != before;
    }
    printf("%u permanent answers and levels, %u mechanisms\n", runs,
           mechanisms);
    return mechanisms == 9 ? 0 : 1;
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

/* Without a room only len bytes may be read: the addresses tell len. */
static int poison_length(void)
{
    struct poison_run r = {.coins_too = false};
    char text[POISON_ROOM];
    hsy_truth truth = poison_string(text);
    uint64_t code;
    hsy_status st;

    if (!poison_scheme(&r, "olh", HSY_KIND_STRINGS, &poison_noises[0]))
        return 1;
    truth.u.bytes.room = 0;
    st = hsy_truth_code(r.s, &code, &truth, NULL);
    free(r.s);
    return st != HSY_OK;
}

/* The plain choice loop of blanket_choices.c, but for a branch on the outcome.
 */
__attribute__((noinline)) static size_t
poison_choose(uint32_t *out, uint32_t *redo, const uint32_t *own,
              const uint64_t *coins, size_t n,
              const struct kernel_choice *choice)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t coin = coins[2 * i];
        uint64_t low = coins[2 * i + 1] * choice->bound;

        out[i] = own[i];
        if (ct_less(coin, choice->blanket) != 0) {
            __asm__ __volatile__(""); /* so it stays a branch */
            out[i] = (uint32_t)((coins[2 * i + 1] >> 32) * choice->bound >> 32);
        }
        if (ct_public(ct_less(choice->last, coin) |
                      ct_less(low, choice->excess)) != 0)
            redo[count++] = (uint32_t)i;
    }
    return count;
}

static int poison_blanket(void)
{
    const struct kernel_choice choice = {.last = UINT64_MAX - 9,
                                         .blanket = UINT64_MAX / 3,
                                         .bound = 10,
                                         .excess = 6};
    uint64_t coins[] = {1, 2, UINT64_MAX, 3, UINT64_MAX / 2, UINT64_MAX / 7};
    uint32_t out[3], redo[3], own[3] = {4, 5, 6};
    size_t again;

    poison(coins, sizeof coins);
    again = poison_choose(out, redo, own, coins, 3, &choice);
    printf("%zu to be drawn anew\n", again);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";

    if (strcmp(mode, "truth") == 0 || strcmp(mode, "coins") == 0)
        return poison_table(mode[0] == 'c') |
               poison_permanents(mode[0] == 'c') |
               poison_spelled(mode[0] == 'c');
    if (strcmp(mode, "branch") == 0 || strcmp(mode, "index") == 0)
        return poison_control(mode[0] == 'i');
    if (strcmp(mode, "length") == 0)
        return poison_length();
    if (strcmp(mode, "blanket") == 0)
        return poison_blanket();
    fprintf(stderr, "usage: poison truth|coins|branch|index|length|blanket\n");
    return 2;
}
