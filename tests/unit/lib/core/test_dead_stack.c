/*
 * test_dead_stack.c - what handles a key or a coin leaves nothing of it on the
 * stack: ciphers, coins, every mechanism, and reports from permanent answers.
 */
#define _GNU_SOURCE /* pthread_attr_setstack */
#include "lib/core/prob.h"
#include "lib/kernels/kernels.h"
#include "lib/scheme/permanent.h"
#include "rig/dead_stack.h"
#include "rig/sanitized.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

static struct {
    const struct hsy_kernels *kernels;
    size_t blocks;
    uint32_t state[16];
    uint8_t out[64 * 40];
    uint64_t coins[2], word;
    struct tape tape;
    hsy_status st;
} left;

/* Whether one of n words is on the stack. */
static bool left_holds(const uint32_t *words, size_t n)
{
    for (size_t at = 0; at < sizeof dead_stack; at += 4)
        for (size_t i = 0; i < n; i++)
            if (memcmp(dead_stack + at, &words[i], 4) == 0)
                return true;
    return false;
}

/* ---- ChaCha20: words 4 .. 11 of the state are the key -------------------- */

static void left_chacha20(void)
{
    left.kernels->chacha20(left.out, left.blocks, left.state);
}

/* Neither the key nor what the rounds made of it: the output less that is the
 * key again. */
static bool left_nothing(const struct hsy_kernels *k)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);
    bool clean = true;

    hsy_stream_seed(&stream, 21, 1);
    left.kernels = k;
    for (left.blocks = 1; left.blocks <= 40; left.blocks += 3) {
        uint32_t key[16], last[16];

        rng.fill(rng.ctx, left.state, sizeof left.state);
        memcpy(key, left.state, sizeof key);
        clean =
            clean && dead_stack_run(left_chacha20) && !left_holds(key + 4, 8);
        for (size_t b = 0; b < left.blocks && clean; b++) {
            memcpy(last, left.out + 64 * b, sizeof last);
            for (int i = 0; i < 16; i++)
                last[i] -= key[i];
            clean = !left_holds(last + 4, 8);
        }
    }
    return clean;
}

static void left_careless(uint8_t *out, size_t blocks, uint32_t state[16])
{
    volatile uint32_t copy[16];

    for (int i = 0; i < 16; i++)
        copy[i] = state[i];
    memset(out, (int)copy[0], 64 * blocks);
}

/* ---- Coins: the first word is drawn anew, the second taken --------------- */

static void left_word(void)
{
    const struct prob_base base = {.unit = 1, .last = UINT64_MAX / 2};
    hsy_rng rng = {tape_fill, &left.tape};

    left.st = hsy_prob_word(&left.word, &base, &rng);
}

static void left_below(void)
{
    hsy_rng rng = {tape_fill, &left.tape};

    left.st = hsy_prob_below(&left.word, 3, hsy_prob_excess(3), &rng);
}

/* What is drawn anew is no secret, what is taken is. */
static bool left_no_coin(void (*act)(void), uint64_t anew)
{
    uint32_t halves[2];

    left.coins[0] = anew;
    left.coins[1] = 0x6a09e667bb67ae85;
    left.tape = (struct tape){left.coins, sizeof left.coins};
    memcpy(halves, &left.coins[1], sizeof halves);
    return dead_stack_run(act) && left.st == HSY_OK && left.tape.left == 0 &&
           !left_holds(halves, 2);
}

/* ---- Every mechanism ----------------------------------------------------- */

#define LEFT_BATCH 40u
#define LEFT_WIDE 1200u /* values: reports of several chunks */
#define LEFT_WORDS (1u << 18)

/* What is made on the thread, and the words it is made from: sorted afterwards,
 * to be looked for. */
static struct {
    hsy_scheme *s;
    const hsy_permanent *memo; /* NULL: s randomizes */
    size_t n;                  /* 0: one, not as a batch */
    uint64_t codes[LEFT_BATCH * HSY_ATTRIBUTES_MAX];
    uint8_t *reports, *answer;
    uint64_t secret[LEFT_WORDS], published[LEFT_WORDS];
    hsy_status st;
    size_t drawn; /* secret words */
} made;

static void made_act(void)
{
    struct tape secret = {made.secret, sizeof made.secret};
    struct tape published = {made.published, sizeof made.published};
    hsy_coins coins = {{tape_fill, &secret}, {tape_fill, &published}};
    const struct hsy_mechanism *mech = made.s->mech;

    if (made.memo != NULL && made.answer != NULL)
        made.st = hsy_permanent_report(made.memo, made.reports, made.answer,
                                       &coins.secret);
    else if (made.memo != NULL)
        made.st = hsy_permanent_answer(made.memo, made.reports, 0, &coins);
    else
        made.st = mech->client->randomize(made.s, made.reports, made.codes,
                                          made.n, &coins);
    made.drawn = (sizeof made.secret - secret.left) / 8;
}

/* Words of which no coin is drawn anew: those may stay (left_no_coin). */
static bool made_clean(void)
{
    hsy_stream stream;
    hsy_rng rng;

    hsy_stream_seed(&stream, 23, made.n);
    rng = hsy_stream_rng(&stream);
    rng.fill(rng.ctx, made.secret, sizeof made.secret);
    rng.fill(rng.ctx, made.published, sizeof made.published);
    /* Twice: a linker that binds at the first call puts registers aside. */
    return dead_stack_run(made_act) && dead_stack_run(made_act) &&
           made.st == HSY_OK && made.drawn > 0 &&
           dead_stack_holds(made.secret, made.drawn) == 0;
}

/* One report, and a batch. */
static bool made_by(const hsy_spec *spec, const struct hsy_kernels *kernels)
{
    bool clean = true;

    made.s = trial_scheme(spec);
    made.s->kernels = kernels;
    made.reports = trial_memory(LEFT_BATCH * made.s->report_bytes);
    for (size_t i = 0; i < LEFT_BATCH; i++)
        trial_codes(made.s, made.codes + i * hsy_codes_per_truth(made.s),
                    i % 2);
    for (made.n = 1; made.n <= LEFT_BATCH; made.n += LEFT_BATCH - 1)
        clean = clean && made_clean();
    free(made.reports);
    free(made.s);
    return clean;
}

/* A mechanism's own size, and a wide one where it has bits for all values. */
static void made_mechanisms(hsy_cpu level)
{
    const struct hsy_kernels *kernels = hsy_kernels_at(level);
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        hsy_spec small = trial_small(row, trial_takes(row, 16) ? 16 : 2, 1);
        hsy_spec wide = trial_small(row, LEFT_WIDE, 1);
        hsy_scheme_info info;
        hsy_scheme *s = trial_scheme(&small);

        hsy_scheme_describe(s, &info);
        free(s);
        if (info.central)
            continue;
        ok(made_by(&small, kernels) &&
               (!trial_takes(row, LEFT_WIDE) || made_by(&wide, kernels)),
           "%s, %s: no coin stays on the stack", hsy_cpu_name(level),
           row->name);
    }
}

static hsy_spec made_link(const char *name)
{
    hsy_spec spec = trial_values(name, strcmp(name, "rr") == 0 ? 2 : 100, 2);

    if (strcmp(name, "onebit") == 0)
        return trial_number(100, 2);
    if (strcmp(name, "rappor") == 0) {
        spec.nano_epsilon = 0;
        spec.design = HSY_DESIGN_RAPPOR;
        spec.chance[0] = spec.chance[1] = (hsy_ratio){1, 2};
        spec.chance[2] = (hsy_ratio){3, 4};
    }
    spec.param[HSY_PARAM_G] = strcmp(name, "olh") == 0 ? 5 : 0;
    spec.param[HSY_PARAM_SAMPLED_BITS] = strcmp(name, "dbitflip") == 0 ? 9 : 0;
    return spec;
}

/* A permanent answer, and a report from it. */
static bool made_from_answer(const char *name, hsy_cpu level)
{
    hsy_spec spec = made_link(name);
    hsy_scheme *permanent = trial_scheme(&spec);
    hsy_permanent memo;
    bool clean;

    spec.nano_epsilon /= 2;
    made.n = 0;
    made.s = trial_scheme(&spec);
    made.s->kernels = permanent->kernels = hsy_kernels_at(level);
    made.reports = trial_memory(made.s->report_bytes);
    clean = hsy_permanent_init(&memo, permanent, made.s, 0, NULL) == HSY_OK;
    made.memo = &memo;
    made.answer = NULL;
    clean = clean && made_clean();
    made.answer = trial_memory(made.s->report_bytes);
    clean = clean && made_clean();
    made.memo = NULL;
    free(made.answer);
    free(made.reports);
    free(made.s);
    free(permanent);
    return clean;
}

static void made_permanents(hsy_cpu level)
{
    static const char *const names[] = {"rr",       "grr",    "sue",
                                        "oue",      "olh",    "blh",
                                        "dbitflip", "onebit", "rappor"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ok(made_from_answer(names[i], level),
           "%s, %s: nor of a permanent answer and its report",
           hsy_cpu_name(level), names[i]);
}

/* ---- Controls ------------------------------------------------------------ */

static hsy_status made_careless(const hsy_scheme *s, uint8_t *reports,
                                const uint64_t *codes, size_t n,
                                hsy_coins *coins)
{
    volatile uint64_t word = 0;
    uint64_t drawn;
    hsy_status st = coins->secret.fill(coins->secret.ctx, &drawn, 8);

    word = drawn;
    memset(reports, (int)(word & 1 & codes[0]), n * s->report_bytes);
    return st;
}

static bool made_carelessly(void)
{
    const hsy_spec spec = trial_values("grr", 4, 1);
    struct hsy_mechanism mech;
    struct mech_client client;
    bool clean;

    made.s = trial_scheme(&spec);
    mech = *made.s->mech;
    client = *mech.client;
    client.randomize = made_careless;
    mech.client = &client;
    made.s->mech = &mech;
    made.n = 1;
    made.reports = trial_memory(made.s->report_bytes);
    clean = made_clean();
    free(made.reports);
    free(made.s);
    return clean;
}

int main(void)
{
    const struct hsy_kernels careless = {.chacha20 = left_careless};

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        /* Sanitizers lay out frames, and watch them, in their own way. */
        if (hsy_cpu_has((hsy_cpu)level) && !TEST_SANITIZED)
            ok(left_nothing(hsy_kernels_at((hsy_cpu)level)),
               "%s: no word of the key stays on the stack",
               hsy_cpu_name((hsy_cpu)level));
        else
            tap_skip(hsy_cpu_name((hsy_cpu)level));
    }
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++)
        if (hsy_cpu_has((hsy_cpu)level) && !TEST_SANITIZED) {
            made_mechanisms((hsy_cpu)level);
            made_permanents((hsy_cpu)level);
        }
    ok(TEST_SANITIZED || left_no_coin(left_word, UINT64_MAX),
       "a coin does not stay on the stack");
    ok(TEST_SANITIZED || left_no_coin(left_below, 0),
       "nor does that of a uniform number");
    ok(TEST_SANITIZED || !left_nothing(&careless),
       "control: a key left on the stack is found");
    ok(TEST_SANITIZED || !made_carelessly(), "control: and so is a coin");
    return tap_done();
}
