/* test_puzzle.c - the fragment puzzle put together: which words are joined,
 * which are dropped, what is refused, and that frequent words are found. */
#include "lib/discover/internal.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define MOST 4096u
#define WATERLOO 93u /* pool seed by which its piece is 42 */

static hsy_scheme *puzzle_scheme(const char *alphabet, uint64_t bits,
                                 uint64_t step, uint64_t blocks, uint64_t seed)
{
    hsy_spec spec = trial_values("sfp", 0, 8);

    spec.kind = HSY_KIND_STRINGS;
    if (alphabet != NULL)
        hsy_alphabet_parse(spec.alphabet, alphabet, strlen(alphabet), NULL);
    spec.param[HSY_PARAM_BITS] = bits;
    spec.param[HSY_PARAM_FRAGMENT_BITS] = step;
    spec.param[HSY_PARAM_FRAGMENTS] = blocks;
    spec.param[HSY_PARAM_HASHES] = 16;
    spec.param[HSY_PARAM_WIDTH] = 256;
    spec.param[HSY_PARAM_POOL_SEED] = seed;
    return trial_scheme(&spec);
}

static void puzzle_code(const hsy_scheme *s, uint64_t *codes, const char *word)
{
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    truth.u.bytes.data = word;
    truth.u.bytes.len = strlen(word);
    if (hsy_truth_code(s, codes, &truth, NULL) != HSY_OK)
        puts("Bail out! no code");
}

/* ---- Joining ------------------------------------------------------------- */

/* Pairs of up to 8 words: what people with these words would make frequent. */
struct joining {
    struct puzzle_pair pairs[512];
    size_t first[HSY_STAGES_MAX + 1];
    uint64_t ways[512];
    uint64_t codes[MOST * 2];
    size_t count;
    hsy_puzzle_trace trace;
    hsy_error err;
};

static void pair_add(struct joining *j, size_t from, struct puzzle_pair pair)
{
    size_t at = j->first[0];

    for (size_t k = from; k < at; k++)
        if (memcmp(&j->pairs[k], &pair, sizeof pair) == 0)
            return;
    while (at > from && (j->pairs[at - 1].piece > pair.piece ||
                         (j->pairs[at - 1].piece == pair.piece &&
                          j->pairs[at - 1].fragment > pair.fragment))) {
        j->pairs[at] = j->pairs[at - 1];
        at--;
    }
    j->pairs[at] = pair;
    j->first[0]++;
}

/* piece: in place of each word's own; UINT32_MAX: its own. */
static hsy_status join(struct joining *j, const hsy_scheme *s,
                       const char *const *words, size_t n, uint32_t piece,
                       uint64_t most)
{
    const size_t offsets = hsy_scheme_parts(s) - 1;

    memset(j, 0, sizeof *j);
    for (size_t i = 0; i < offsets; i++) {
        const size_t from = j->first[0];

        for (size_t k = 0; k < n; k++) {
            uint64_t codes[HSY_SPELL_WORDS];

            puzzle_code(s, codes, words[k]);
            pair_add(j, from,
                     (struct puzzle_pair){piece != UINT32_MAX
                                              ? piece
                                              : hsy_puzzle_piece(s, codes),
                                          hsy_puzzle_fragment(s, codes, i)});
        }
        j->first[i + 1] = j->first[0];
    }
    j->first[0] = 0;
    return hsy_puzzle_join(s, j->codes, &j->count, &j->trace, j->pairs,
                           j->first, most, j->ways, &j->err);
}

static bool joined(const struct joining *j, const hsy_scheme *s,
                   const char *word)
{
    const size_t width = hsy_codes_per_truth(s);
    uint64_t codes[HSY_SPELL_WORDS];
    bool found = false;

    puzzle_code(s, codes, word);
    for (size_t i = 0; i < j->count; i++)
        found |=
            memcmp(j->codes + i * width, codes, width * sizeof *codes) == 0;
    return found;
}

/* Four fragments, wa te rl oo, and the empty end; piece 42 [Apple17]. */
static void waterloo(void)
{
    static const char *const words[] = {"waterloo"};
    hsy_scheme *s = puzzle_scheme("a-z", 50, 10, 0, WATERLOO);
    static struct joining j;
    uint64_t codes[1];

    puzzle_code(s, codes, "waterloo");
    ok(hsy_puzzle_piece(s, codes) == 42, "waterloo has piece 42");
    ok(join(&j, s, words, 1, UINT32_MAX, MOST) == HSY_OK && j.count == 1 &&
           j.codes[0] == codes[0],
       "and is joined from its four fragments");
    j.pairs[3].piece = 43;
    ok(hsy_puzzle_join(s, j.codes, &j.count, NULL, j.pairs, j.first, MOST,
                       j.ways, NULL) == HSY_OK &&
           j.count == 0,
       "a fragment of another piece is not joined");
    ok(join(&j, s, words, 1, 41, MOST) == HSY_OK && j.trace.joined == 1 &&
           j.count == 0,
       "nor is a word kept whose piece is not that of its fragments");
    free(s);
}

/* Of two words of one piece all mixtures are joined, and those that have not
 * that piece are dropped. */
static void mixtures(void)
{
    static const char *const words[] = {"waterloo", "brussels", "waterlily"};
    hsy_scheme *s = puzzle_scheme("a-z", 50, 10, 0, WATERLOO);
    static struct joining j;

    ok(join(&j, s, words, 2, 42, MOST) == HSY_OK &&
           j.trace.joined == 2 * 2 * 2 * 2 && joined(&j, s, "waterloo"),
       "two words of four fragments make 16");
    ok(j.count < 4, "most of which have another piece");
    ok(join(&j, s, words, 3, UINT32_MAX, MOST) == HSY_OK && j.count == 3 &&
           joined(&j, s, "waterloo") && joined(&j, s, "brussels") &&
           joined(&j, s, "waterlily"),
       "words of pieces of their own do not mix");
    free(s);
}

/* After the end of a word comes nothing: ab + (end) and abcd + ef. */
static void ends(void)
{
    static const char *const words[] = {"ab", "abcdef", "xy"};
    hsy_scheme *s = puzzle_scheme("a-z", 50, 10, 0, 0);
    static struct joining j;

    /* ab|xy, then nothing or cd ef. */
    ok(join(&j, s, words, 3, 0, MOST) == HSY_OK && j.trace.joined == 2 * 3,
       "what has ended does not go on (%u)", (unsigned)j.trace.joined);
    free(s);
}

/* Five letters by two: the fragments begin at 0, 1 and 3. */
static void overlaps(void)
{
    static const char *const words[] = {"abcde", "xbzde"};
    hsy_scheme *s = puzzle_scheme("a-z", 25, 10, 3, 0);
    static struct joining j;

    ok(hsy_puzzle_offset(s, 1) == 5 && hsy_puzzle_offset(s, 2) == 15,
       "fragments of 5 letters begin at 0, 1 and 3");
    ok(join(&j, s, words, 2, 0, MOST) == HSY_OK && j.trace.joined == 4,
       "ab and xb both go with bc and bz");
    free(s);
    s = puzzle_scheme("a-z", 25, 10, 4, 0); /* 0, 1, 2, 3 */
    ok(join(&j, s, words, 2, 0, MOST) == HSY_OK && j.trace.joined == 4,
       "with more overlap the third letter must agree too");
    free(s);
}

static void explosion(void)
{
    static const char *const words[] = {"abcdefghij", "klmnopqrst",
                                        "uvwxyzabcd", "bcdefghijk",
                                        "lmnopqrstu", "vwxyzabcde"};
    hsy_scheme *s = puzzle_scheme("a-z", 50, 10, 0, 0);
    static struct joining j;

    ok(join(&j, s, words, 6, 7, MOST) == HSY_E_RANGE && j.err.limit == 7776 &&
           j.err.field == HSY_FIELD_MAX_CANDIDATES,
       "six words of five fragments could make 7776, too many");
    ok(join(&j, s, words, 5, 7, MOST) == HSY_OK && j.trace.joined == 3125,
       "five words 3125, which may be");
    free(s);
}

/* Bytes have no end of their own, and words of 80 bits take two codes. */
static void bytes(void)
{
    static const char *const words[] = {"waterloo", "fire", "\xff\xfe zwei"};
    hsy_scheme *s = puzzle_scheme(NULL, 80, 16, 0, 5);
    static struct joining j;

    ok(join(&j, s, words, 3, UINT32_MAX, MOST) == HSY_OK && j.count >= 3 &&
           joined(&j, s, words[0]) && joined(&j, s, words[1]) &&
           joined(&j, s, words[2]),
       "words of any bytes are joined in 80 bits");
    free(s);
}

/* ---- Searching ----------------------------------------------------------- */

static hsy_status plan_of(const hsy_scheme *s, hsy_puzzle how,
                          hsy_puzzle_plan *plan, hsy_error *err)
{
    how.size = sizeof how;
    return hsy_puzzle_plan_make(s, plan, &how, err);
}

static void plans(void)
{
    hsy_scheme *s = puzzle_scheme("a-z", 50, 10, 0, 0);
    const hsy_spec olh = trial_values("olh", 100, 1);
    hsy_scheme *other = trial_scheme(&olh);
    hsy_puzzle_plan plan;
    hsy_error err = {0};

    ok(plan_of(s, (hsy_puzzle){0}, &plan, NULL) == HSY_OK &&
           plan.offset.candidates == 256 * (1 + 26 + 26 * 26) &&
           plan.fragments == 5,
       "an offset has 2^8 pieces times the pairs of letters that can be");
    ok(fabs(plan.offset.z +
            hsy_normal_quantile(0.05 / (double)plan.offset.candidates)) <
               1e-12 &&
           plan.offset.keep == HSY_PUZZLE_PAIRS_MAX,
       "Bonferroni over them; all that are significant go on");
    ok(plan_of(s, (hsy_puzzle){.all = true, .top = 7}, &plan, NULL) == HSY_OK &&
           plan.offset.keep == 20 && plan.word.keep == 7,
       "chance or not it is 20");
    ok(plan_of(s, (hsy_puzzle){.max_candidates = 1000}, &plan, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_PAIRS && err.limit == 179968,
       "more pairs than are allowed are refused, with their number");
    ok(plan_of(s, (hsy_puzzle){.threshold = 1u << 20}, &plan, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_THRESHOLD,
       "too many pairs");
    ok(plan_of(s, (hsy_puzzle){.alpha = 1}, &plan, &err) == HSY_E_RANGE,
       "no chance");
    ok(plan_of(other, (hsy_puzzle){0}, &plan, &err) == HSY_E_UNKNOWN,
       "another mechanism");
    free(s);
    free(other);
}

#define PEOPLE 20000u

/* Half of all hold one of three words, the others words of their own. */
static void fill(const hsy_scheme *s, hsy_tally *t)
{
    static const char *const words[6] = {"cab", "bad", "cab",
                                         "bad", "cab", "fee"};
    static uint64_t codes[PEOPLE];
    hsy_scheme_info info;
    hsy_stream secret, published;
    uint8_t *reports;
    uint32_t x = 1;

    hsy_scheme_describe(s, &info);
    reports = trial_memory(PEOPLE * info.report_bytes);
    for (size_t i = 0; i < PEOPLE; i++) {
        char word[5] = "aaaa";

        for (size_t k = 0; k < 4; k++)
            word[k] = (char)('a' + ((x = x * 1664525 + 1013904223) >> 24) % 6);
        puzzle_code(s, &codes[i], i % 2 == 0 ? words[i / 2 % 6] : word);
    }
    hsy_stream_seed(&secret, 3, 0);
    hsy_stream_seed(&published, 3, 1);
    if (hsy_simulate_batch(s, reports, codes, PEOPLE, &secret, &published,
                           NULL) != HSY_OK ||
        hsy_tally_batch(t, s, reports, PEOPLE, NULL) != HSY_OK)
        puts("Bail out! no tally");
    free(reports);
}

static void searches(void)
{
    hsy_scheme *s = puzzle_scheme("a-f", 12, 6, 0, 9);
    const hsy_puzzle how = {.size = sizeof how};
    hsy_puzzle_trace trace = {0};
    hsy_puzzle_plan plan;
    hsy_found found;
    hsy_error err = {0};
    hsy_tally t, part;
    uint64_t cab[1];
    void *memory;

    hsy_puzzle_plan_make(s, &plan, &how, NULL);
    found.list = trial_memory(plan.word.keep * sizeof *found.list);
    memory = trial_memory(hsy_puzzle_memory(s, &plan));
    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    ok(hsy_puzzle_search(s, &found, &trace, &t, &plan, memory, &err) ==
           HSY_E_EMPTY,
       "without reports there is nothing to search");
    fill(s, &t);
    puzzle_code(s, cab, "cab");
    ok(hsy_puzzle_search(s, &found, &trace, &t, &plan, memory, &err) ==
               HSY_OK &&
           found.count == 3 && found.list[0].code[0] == cab[0] &&
           found.list[0].significant,
       "the frequent words are found, the largest first");
    ok(fabs(found.list[0].point.value - 0.25) < 0.05 &&
           found.list[0].point.n == (double)PEOPLE,
       "with their shares (%.3f)", found.list[0].point.value);
    ok(trace.pairs >= 6 && trace.joined >= trace.candidates &&
           trace.candidates >= 3,
       "%u pairs make %u words, %u with their piece", (unsigned)trace.pairs,
       (unsigned)trace.joined, (unsigned)trace.candidates);
    hsy_tally_part(&part, &t, s, plan.fragments);
    part.strata[0] += 2;
    ok(hsy_puzzle_search(s, &found, &trace, &t, &plan, memory, &err) ==
           HSY_E_FORMAT,
       "a tally with more words than fragments is refused");
    free(found.list);
    free(memory);
    free(t.cells);
    free(s);
}

int main(void)
{
    waterloo();
    mixtures();
    ends();
    overlaps();
    explosion();
    bytes();
    plans();
    searches();
    return tap_done();
}
