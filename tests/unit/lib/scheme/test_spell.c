/* test_spell.c - strings spelled in bits: alphabets as text, codes against a
 * plain spelling bit by bit, prefixes, and what a search leaves out. */
#include "lib/kernels/pool.h"
#include "lib/scheme/spell.h"
#include "rig/sanitized.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

/* ---- Alphabets as text --------------------------------------------------- */

static bool spell_in(const uint8_t alphabet[HSY_ALPHABET], unsigned byte)
{
    return alphabet[byte / 8] >> byte % 8 & 1;
}

static void alphabets(void)
{
    static const struct {
        const char *text, *again; /* NULL: refused */
        size_t size, line;
    } rows[] = {{"a-z", "a-z", 26, 0},
                {"a-z0-9", "0-9a-z", 36, 0},
                {"abc", "a-c", 3, 0},
                {"ba", "ab", 2, 0},
                {"a", "a", 1, 0},
                {"aaa", "a", 1, 0},
                {"a-a", "a", 1, 0},
                {"a-", "\\-a", 2, 0},
                {"-a", "\\-a", 2, 0},
                {"+--", "+-\\-", 3, 0},
                {"\\-\\\\", "\\-\\\\", 2, 0},
                {" ", "\\x20", 1, 0},
                {"\\x00-\\xfF", "\\x00-\\xff", 256, 0},
                {"\\x00-\\x1f\\x7f", "\\x00-\\x1f\\x7f", 33, 0},
                {"\xc3\xa9", "\\xa9\\xc3", 2, 0},
                {"", NULL, 0, 0},
                {"z-a", NULL, 0, 1},
                {"ab\\q", NULL, 0, 3},
                {"ab\\x0", NULL, 0, 3},
                {"\\xg0", NULL, 0, 1},
                {"a-\\q", NULL, 0, 1},
                {"x\\", NULL, 0, 2}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t alphabet[HSY_ALPHABET], again[HSY_ALPHABET];
        char text[HSY_ALPHABET_TEXT];
        hsy_error err = {0};
        hsy_status st;

        memset(alphabet, 0xa5, sizeof alphabet);
        memcpy(again, alphabet, sizeof again);
        st = hsy_alphabet_parse(alphabet, rows[i].text, strlen(rows[i].text),
                                &err);
        if (rows[i].again == NULL) {
            ok(st == HSY_E_FORMAT && err.at == rows[i].line &&
                   memcmp(alphabet, again, sizeof again) == 0,
               "alphabet %zu is refused at its place, nothing is written", i);
            continue;
        }
        ok(st == HSY_OK && hsy_spell_size(alphabet) == rows[i].size &&
               hsy_alphabet_text(text, alphabet) == strlen(text) &&
               strcmp(text, rows[i].again) == 0 &&
               hsy_alphabet_parse(again, text, strlen(text), NULL) == HSY_OK &&
               memcmp(again, alphabet, sizeof again) == 0,
           "alphabet %zu of %zu bytes, as text and back", i, rows[i].size);
    }
}

/* Sets of all kinds fit the room for text and come back. */
static void alphabets_many(void)
{
    bool good = true;
    size_t most = 0;

    for (uint64_t seed = 0; seed < 500; seed++) {
        uint8_t alphabet[HSY_ALPHABET], again[HSY_ALPHABET];
        char text[HSY_ALPHABET_TEXT];
        size_t len;

        for (size_t i = 0; i < HSY_ALPHABET; i++)
            alphabet[i] = (uint8_t)(pool_scatter(seed * HSY_ALPHABET + i) |
                                    (seed % 3 == 0 ? 0x55 : 1));
        if (seed == 0)
            memset(alphabet, 0xdb, sizeof alphabet); /* pairs of two */
        len = hsy_alphabet_text(text, alphabet);
        most = len > most ? len : most;
        good &= len < HSY_ALPHABET_TEXT &&
                hsy_alphabet_parse(again, text, len, NULL) == HSY_OK &&
                memcmp(again, alphabet, sizeof again) == 0;
    }
    ok(good && most > 400, "any set is text, of at most %zu characters", most);
    {
        const uint8_t none[HSY_ALPHABET] = {0};
        char text[HSY_ALPHABET_TEXT] = "x";

        ok(hsy_alphabet_text(text, none) == 0 && text[0] == 0,
           "no set is no text");
    }
}

/* ---- Spelling, bit by bit ------------------------------------------------ */

/* Every `stride`-th byte, `size` of them; 0: none. */
static hsy_spec spell_spec(uint64_t bits, size_t size)
{
    hsy_spec spec = trial_values("pem", 0, 1);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = bits;
    for (size_t i = 0, made = 0; made < size; i++) {
        const unsigned byte = (unsigned)(i * 7 % 256); /* 7 is odd: all come */

        spec.alphabet[byte / 8] =
            (uint8_t)(spec.alphabet[byte / 8] | 1u << byte % 8);
        made++;
    }
    return spec;
}

struct spell_case {
    hsy_scheme *s;
    uint64_t bits;
    uint8_t bytes[256]; /* of the alphabet, in order; all of them without one */
    size_t size, symbol, most;
};

static struct spell_case spell_open(uint64_t bits, size_t size)
{
    const hsy_spec spec = spell_spec(bits, size);
    struct spell_case c = {.s = trial_scheme(&spec), .bits = bits};

    for (unsigned b = 0; b < 256; b++)
        if (size == 0 || spell_in(spec.alphabet, b))
            c.bytes[c.size++] = (uint8_t)b;
    c.symbol = size == 0 ? 8 : 1;
    while (size >> c.symbol != 0)
        c.symbol++;
    c.most = bits / c.symbol;
    return c;
}

/* The bits of a string, one a byte. */
static void spell_plainly(const struct spell_case *c, uint8_t *bits,
                          const uint8_t *text, size_t len)
{
    memset(bits, 0, c->bits);
    for (size_t i = 0; i < len; i++) {
        size_t symbol = 0;

        while (c->bytes[symbol] != text[i])
            symbol++;
        symbol += c->symbol != 8 || c->size < 256; /* 0 ends the string */
        for (size_t k = 0; k < c->symbol; k++)
            bits[i * c->symbol + k] =
                (uint8_t)(symbol >> (c->symbol - 1 - k) & 1);
    }
}

/* Words of the first `length` bits. */
static void spell_pack(uint64_t *words, const uint8_t *bits, size_t length)
{
    memset(words, 0, spell_words(length) * sizeof *words);
    for (size_t i = 0; i < length; i++)
        words[i / 64] = words[i / 64] << 1 | bits[i];
}

static hsy_truth spell_truth(const uint8_t *text, size_t len, size_t room)
{
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    truth.u.bytes.data = text;
    truth.u.bytes.len = len;
    truth.u.bytes.room = room;
    return truth;
}

/* One string there and back, with and without room behind it, and all of its
 * prefixes. */
static bool spell_holds(const struct spell_case *c, const uint8_t *text,
                        size_t len)
{
    uint8_t bits[HSY_SPELL_BITS], string[HSY_SPELL_BITS];
    uint64_t want[HSY_SPELL_WORDS], got[HSY_SPELL_WORDS], wide[HSY_SPELL_WORDS];
    hsy_truth truth = spell_truth(text, len, 0);
    const size_t bytes = spell_words(c->bits) * sizeof *want;
    bool good;

    spell_plainly(c, bits, text, len);
    spell_pack(want, bits, c->bits);
    good = hsy_truth_code(c->s, got, &truth, NULL) == HSY_OK &&
           memcmp(got, want, bytes) == 0 && hsy_codes_inside(c->s, got, 1);
    truth = spell_truth(text, len, HSY_SPELL_BITS);
    good &= hsy_truth_code(c->s, wide, &truth, NULL) == HSY_OK &&
            memcmp(wide, want, bytes) == 0 &&
            hsy_truth_code_clamped(c->s, wide, &truth, 0, NULL) == HSY_OK &&
            memcmp(wide, want, bytes) == 0;
    good &= hsy_code_string(c->s, string, got) == len &&
            memcmp(string, text, len) == 0;
    for (uint32_t length = 1; length <= c->bits; length++) {
        hsy_spell_prefix(wide, got, c->bits, length);
        spell_pack(want, bits, length);
        good &= memcmp(wide, want, spell_words(length) * sizeof *want) == 0;
        good &= hsy_code_bit(c->s, got, length - 1) == bits[length - 1];
    }
    return good;
}

static bool spell_many(const struct spell_case *c)
{
    uint8_t text[2 * HSY_SPELL_BITS];
    bool good = true;

    for (uint64_t seed = 0; seed < (TEST_UNDEFINED ? 3 : 8); seed++) {
        const size_t len = seed == 0   ? 0
                           : seed == 1 ? c->most
                                       : pool_scatter(seed) % (c->most + 1);

        for (size_t i = 0; i < sizeof text; i++) {
            text[i] = c->bytes[pool_scatter(seed << 32 | i) % c->size];
            if (c->symbol == 8 && c->size == 256 && text[i] == 0)
                text[i] = 1; /* raw strings do not end in a zero */
        }
        good &= spell_holds(c, text, len);
    }
    return good;
}

static void spellings(void)
{
    static const uint64_t bits[] = {9,   40,  63,  64,  65,  72,  127, 128,
                                    129, 192, 200, 448, 449, 511, 512};
    static const size_t sizes[] = {0, 1, 2, 3, 26, 127, 128, 255, 256};

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        bool good = true;
        size_t symbol = 0;

        for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
            struct spell_case c = spell_open(bits[i], sizes[k]);

            symbol = c.symbol;
            good &= hsy_codes_per_truth(c.s) == (bits[i] + 63) / 64 &&
                    hsy_symbol_bits(c.s) == c.symbol && spell_many(&c);
            free(c.s);
        }
        ok(good, "%zu bytes, %zu bits each: as spelled bit by bit, 9 to 512",
           sizes[k], symbol);
    }
}

static void strangers(void)
{
    struct spell_case c = spell_open(130, 26);
    uint64_t codes[HSY_SPELL_WORDS], zero[HSY_SPELL_WORDS] = {0};
    uint8_t text[64];
    unsigned refused = 0, empty = 0;

    memset(text, c.bytes[3], sizeof text);
    for (unsigned b = 0; b < 256; b++)
        for (size_t at = 0; at < 3; at++) {
            hsy_truth truth = spell_truth(text, 3, 0);
            hsy_error err = {0};

            text[at] = (uint8_t)b;
            refused +=
                hsy_truth_code(c.s, codes, &truth, &err) == HSY_E_RANGE &&
                strstr(err.msg, "alphabet") != NULL;
            empty +=
                hsy_truth_code_clamped(c.s, codes, &truth, 0, NULL) == HSY_OK &&
                memcmp(codes, zero, 3 * sizeof *codes) == 0;
            text[at] = c.bytes[3];
        }
    ok(refused == 3 * (256 - 26), "bytes outside the alphabet are refused");
    ok(empty == refused, "a device takes the empty string instead");
    {
        hsy_truth truth = spell_truth(text, c.most + 1, 0);
        hsy_truth cut = spell_truth(text, c.most, 0);
        uint64_t whole[HSY_SPELL_WORDS];
        hsy_error err = {0};

        ok(hsy_truth_code(c.s, codes, &truth, &err) == HSY_E_RANGE &&
               err.limit == 26,
           "27 letters of 5 bits are more than 130 bits");
        ok(hsy_truth_code_clamped(c.s, codes, &truth, 0, NULL) == HSY_OK &&
               hsy_truth_code(c.s, whole, &cut, NULL) == HSY_OK &&
               memcmp(codes, whole, 3 * sizeof *codes) == 0,
           "a device cuts them");
    }
    free(c.s);
}

/* An index is the number that all bits are; in codes only the last word's bits
 * are bounded. */
static void indices(void)
{
    struct spell_case c = spell_open(130, 0);
    uint64_t codes[3];
    hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = 0xfffffffe};

    ok(hsy_truth_code(c.s, codes, &truth, NULL) == HSY_OK && codes[0] == 0 &&
           codes[1] == 0x3fffffff && codes[2] == 2,
       "an index is the last bits of 130, over two words");
    ok(hsy_truth_code_clamped(c.s, codes, &truth, 0, NULL) == HSY_OK &&
           codes[1] == 0x3fffffff && codes[2] == 2,
       "on a device too");
    codes[0] = codes[1] = UINT64_MAX;
    codes[2] = 3;
    ok(hsy_codes_inside(c.s, codes, 1),
       "words before the last may be anything");
    codes[2] = 4;
    ok(!hsy_codes_inside(c.s, codes, 1), "the last has its bits and no more");
    ok(hsy_code_count(c.s) == 0, "and so many strings have no number");
    free(c.s);
    c = spell_open(128, 0);
    codes[0] = codes[1] = UINT64_MAX;
    ok(hsy_codes_inside(c.s, codes, 1), "of 128 bits both words are whole");
    free(c.s);
}

/* A change of any bit of a prefix changes its hash, and so does its place. */
static void hashes(void)
{
    uint64_t words[HSY_SPELL_WORDS] = {0}, seen[HSY_SPELL_BITS + 1];
    size_t n = 0;
    bool apart = true;

    seen[n++] = hsy_spell_hash(words, 512);
    for (unsigned at = 0; at < 512; at++) {
        words[at / 64] = (uint64_t)1 << at % 64;
        seen[n++] = hsy_spell_hash(words, 512);
        words[at / 64] = 0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            apart &= seen[i] != seen[j];
    ok(apart, "prefixes that differ in a bit have different hashes");
    words[0] = 12345;
    ok(hsy_spell_hash(words, 64) == pool_scatter(12345) &&
           hsy_spell_hash(words, 1) == pool_scatter(12345),
       "up to 64 bits it is one scattering, as it always was");
}

/* ---- What a search leaves out -------------------------------------------- */

/* Whether a string spells this code. */
static bool spell_is_string(const struct spell_case *c, uint64_t code)
{
    uint8_t string[HSY_SPELL_BITS];
    const size_t len = hsy_code_string(c->s, string, &code);
    hsy_truth truth = spell_truth(string, len, 0);
    uint64_t again = 0;

    return hsy_truth_code(c->s, &again, &truth, NULL) == HSY_OK &&
           again == code;
}

/* Prefixes of `length` bits that some string has, by trying all strings. */
static size_t spell_prefixes(const struct spell_case *c, uint32_t length,
                             uint64_t *out)
{
    const unsigned below = (unsigned)c->bits - length;
    size_t n = 0;

    for (uint64_t code = 0; code >> c->bits == 0; code++)
        if (spell_is_string(c, code) &&
            (n == 0 || out[n - 1] != code >> below << below))
            out[n++] = code >> below << below;
    return n;
}

static bool spell_search(const struct spell_case *c, const hsy_stage *stages,
                         size_t count)
{
    static hsy_candidate found[1 << 13];
    static uint64_t codes[1 << 14], want[1 << 13];
    size_t before = 0;
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        const size_t n = hsy_search_extend(c->s, codes, &stages[i],
                                           &(hsy_found){found, before});

        before = spell_prefixes(c, stages[i].bits, want);
        good &= n == before && memcmp(codes, want, n * sizeof *codes) == 0;
        for (size_t k = 0; k < before; k++)
            found[k] = (hsy_candidate){.code = {want[k]}};
    }
    return good;
}

static void pruning(void)
{
    static const struct {
        uint64_t bits, step, first;
        size_t size;
    } rows[] = {{12, 1, 1, 1},  {12, 3, 1, 2},  {12, 5, 2, 2}, {12, 1, 1, 3},
                {12, 4, 4, 3},  {13, 3, 1, 4},  {12, 2, 1, 5}, {12, 1, 1, 6},
                {13, 2, 1, 26}, {12, 5, 1, 26}, {13, 2, 1, 7}, {12, 3, 2, 100}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = spell_spec(rows[i].bits, rows[i].size);
        struct spell_case c = {.bits = rows[i].bits};
        const hsy_search how = {.size = sizeof how, .top = 4096, .keep = 2};
        hsy_stage stages[HSY_STAGES_MAX];
        size_t count = 0;

        spec.param[HSY_PARAM_STEP] = rows[i].step;
        spec.param[HSY_PARAM_FIRST] = rows[i].first;
        c.s = trial_scheme(&spec);
        ok(hsy_search_plan(c.s, stages, &count, &how, NULL) == HSY_OK &&
               spell_search(&c, stages, count),
           "%u bits by %u, %zu letters: candidates are what strings begin with",
           (unsigned)rows[i].bits, (unsigned)rows[i].step, rows[i].size);
        free(c.s);
    }
}

int main(void)
{
    alphabets();
    alphabets_many();
    spellings();
    strangers();
    indices();
    hashes();
    pruning();
    return tap_done();
}
