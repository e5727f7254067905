/* test_truth.c - truths and their codes. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "lib/bits/bytes.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static hsy_truth index_of(uint32_t i)
{
    hsy_truth t = {.type = HSY_TRUTH_INDEX};

    t.u.index = i;
    return t;
}

static hsy_truth number_of(int64_t x)
{
    hsy_truth t = {.type = HSY_TRUTH_NUMBER};

    t.u.number = x;
    return t;
}

static hsy_truth bytes_of(const void *data, size_t len)
{
    hsy_truth t = {.type = HSY_TRUTH_BYTES};

    t.u.bytes.data = data;
    t.u.bytes.len = len;
    return t;
}

static bool refused(const hsy_scheme *s, hsy_truth truth)
{
    uint64_t code = 77;
    hsy_error err = {0};

    return hsy_truth_code(s, &code, &truth, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_TRUTH && code == 77 &&
           hsy_truth_code(s, &code, &truth, NULL) == HSY_E_RANGE;
}

static uint64_t code_of(const hsy_scheme *s, hsy_truth truth)
{
    uint64_t code = UINT64_MAX;

    return hsy_truth_code(s, &code, &truth, NULL) == HSY_OK ? code : UINT64_MAX;
}

static void indices(void)
{
    hsy_spec spec = trial_values("grr", 5, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_truth tuple = {.type = HSY_TRUTH_TUPLE};
    uint64_t code = 77;
    hsy_error err = {0};

    ok(code_of(s, index_of(0)) == 0 && code_of(s, index_of(4)) == 4 &&
           hsy_code_count(s) == 5,
       "an index is its code");
    ok(refused(s, index_of(5)) && refused(s, index_of(UINT32_MAX)),
       "an index from d on is refused");
    ok(refused(s, number_of(1)) && refused(s, bytes_of("a", 1)),
       "so is another type");
    ok(hsy_truth_code(s, &code, &tuple, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_TRUTH && code == 77,
       "and so are several attributes");
    free(s);
}

static void numbers(void)
{
    hsy_spec spec = trial_number(7, 1);
    hsy_scheme *s;

    spec.lo = -3;
    s = trial_scheme(&spec);
    ok(code_of(s, number_of(-3)) == 0 && code_of(s, number_of(7)) == 10 &&
           hsy_code_count(s) == 11,
       "a number is its steps above lo");
    ok(refused(s, number_of(-4)) && refused(s, number_of(8)) &&
           refused(s, index_of(1)),
       "outside the range it is refused");
    free(s);
    spec.lo = INT64_MIN / 2;
    spec.hi = INT64_MAX / 2;
    s = trial_scheme(&spec);
    ok(code_of(s, number_of(spec.hi)) == (uint64_t)INT64_MAX &&
           refused(s, number_of(INT64_MIN)),
       "wide ranges do not overflow");
    free(s);
}

/* floor(t d / W), and the high end in the last bin: all t of small ranges. */
static void bins_small(void)
{
    bool good = true;

    for (int64_t width = 2; width <= 60; width++)
        for (uint32_t d = 2; d <= (uint32_t)width; d++) {
            hsy_spec spec = trial_values("grr", d, 1);
            hsy_scheme *s;

            spec.kind = HSY_KIND_BINS;
            spec.lo = -5;
            spec.hi = spec.lo + width;
            s = trial_scheme(&spec);
            for (int64_t t = 0; t <= width; t++) {
                uint64_t want = (uint64_t)t * d / (uint64_t)width;

                want -= want == d;
                good &= code_of(s, number_of(spec.lo + t)) == want;
            }
            free(s);
        }
    ok(good, "every number of every small range falls into its bin");
}

static void bins_large(void)
{
    hsy_spec spec = trial_values("olh", HSY_VALUES_MAX, 1);
    hsy_scheme *s;
    int64_t step = (int64_t)1 << 40;

    spec.kind = HSY_KIND_BINS;
    spec.hi = step * HSY_VALUES_MAX;
    s = trial_scheme(&spec);
    ok(code_of(s, number_of(step - 1)) == 0 &&
           code_of(s, number_of(step)) == 1 &&
           code_of(s, number_of(spec.hi)) == HSY_VALUES_MAX - 1 &&
           code_of(s, number_of(spec.hi - 1)) == HSY_VALUES_MAX - 1,
       "2^22 bins of 2^40 steps have their edges where they belong");
    ok(refused(s, number_of(-1)) && refused(s, number_of(spec.hi + 1)),
       "and nothing beyond");
    free(s);
    spec.hi = INT64_MAX;
    spec.d = 3;
    s = trial_scheme(&spec);
    ok(code_of(s, number_of(INT64_MAX / 3 + 1)) == 1 &&
           code_of(s, number_of(INT64_MAX / 3)) == 0 &&
           code_of(s, number_of(INT64_MAX)) == 2,
       "three bins of 2^63 - 1 steps too");
    free(s);
}

/* The code is the first 64 bits of BLAKE2b over length and padded bytes. */
static uint64_t string_code(const void *data, size_t len)
{
    uint8_t padded[8 + HSY_STRING_MAX] = {0}, out[8];

    bytes_put64(padded, len);
    memcpy(padded + 8, data, len);
    hsy_blake2b(out, sizeof out, padded, sizeof padded, NULL, 0);
    return bytes_get64(out);
}

static void strings(void)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "olh",
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = HSY_NANO};
    hsy_scheme *s = trial_scheme(&spec);
    static uint8_t text[HSY_STRING_MAX + 1];
    bool good = true, apart = true;

    for (size_t i = 0; i <= HSY_STRING_MAX; i++)
        text[i] = (uint8_t)(i * 31);
    for (size_t len = 0; len <= HSY_STRING_MAX; len++)
        good &= code_of(s, bytes_of(text, len)) == string_code(text, len);
    ok(good, "strings of all lengths have the code defined");
    memset(text, 0, sizeof text);
    for (size_t len = 0; len < 20; len++)
        apart &= code_of(s, bytes_of(text, len)) !=
                 code_of(s, bytes_of(text, len + 1));
    ok(apart, "zeros at the end count");
    ok(code_of(s, bytes_of(NULL, 0)) == string_code("", 0),
       "the empty string needs no bytes");
    ok(refused(s, bytes_of(text, HSY_STRING_MAX + 1)) &&
           refused(s, index_of(0)),
       "1025 bytes are refused");
    ok(hsy_code_count(s) == 0, "any code may come up");
    free(s);
}

/* A string in a larger buffer: what stands behind it does not count. */
static void roomy_strings(void)
{
    static uint8_t text[2 * HSY_STRING_MAX];
    static const size_t rooms[] = {1, 2, 63, 64, 1023, 1024, 1025, 2048};
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "olh",
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = HSY_NANO};
    hsy_scheme *s = trial_scheme(&spec);
    hsy_truth truth = bytes_of(text, 0);
    bool good = true;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 31 + 1);
    for (size_t k = 0; k < sizeof rooms / sizeof rooms[0]; k++)
        for (size_t len = 0; len <= rooms[k] && len <= HSY_STRING_MAX; len++) {
            truth.u.bytes.room = rooms[k];
            truth.u.bytes.len = len;
            good &= code_of(s, truth) == string_code(text, len);
        }
    ok(good, "a string has the same code in a buffer of any room");
    truth.u.bytes.room = 10;
    truth.u.bytes.len = 11;
    ok(refused(s, truth), "a string longer than its room is refused");
    truth.u.bytes.room = sizeof text;
    truth.u.bytes.len = HSY_STRING_MAX + 1;
    ok(refused(s, truth), "so are 1025 bytes in a larger one");
    free(s);
}

/* ---- On a device --------------------------------------------------------- */

static uint64_t total_of(const hsy_scheme *s, hsy_truth truth, size_t room)
{
    uint64_t codes[HSY_SPELL_WORDS] = {UINT64_MAX};

    truth.u.bytes.room = room;
    return hsy_truth_code_clamped(s, codes, &truth, 0, NULL) == HSY_OK
               ? codes[0]
               : UINT64_MAX;
}

/* No string is an error, and no byte past its room is read: there is none. */
static void total_strings(const char *mechanism)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hsy_spec spec = trial_values(mechanism, 0, 1);
    uint8_t *end = pages + 2 * page;
    hsy_scheme *s;

    if (pages == MAP_FAILED || mprotect(end, page, PROT_NONE) != 0)
        exit(1);
    memset(pages, 'x', 2 * page);
    memcpy(end - 3, "sun", 3);
    spec.kind = HSY_KIND_STRINGS;
    s = trial_scheme(&spec);
    ok(total_of(s, bytes_of(end - 3, 3), 3) == code_of(s, bytes_of("sun", 3)) &&
           total_of(s, bytes_of(end - 3, 3), 0) ==
               code_of(s, bytes_of("sun", 3)) &&
           code_of(s, bytes_of(end - 3, 3)) == code_of(s, bytes_of("sun", 3)),
       "%s: a string at the end of memory", mechanism);
    ok(total_of(s, bytes_of(end - 3, 9), 3) == code_of(s, bytes_of("sun", 3)),
       "%s: a length beyond the room is the room", mechanism);
    ok(total_of(s, bytes_of(NULL, 0), 0) == code_of(s, bytes_of("", 0)),
       "%s: the empty string needs no memory", mechanism);
    ok(total_of(s, bytes_of(pages, 2000), 2 * page) ==
           total_of(s, bytes_of(pages, HSY_STRING_MAX), 2 * page),
       "%s: a long string is its first bytes", mechanism);
    free(s);
    munmap(pages, 3 * page);
}

int main(void)
{
    indices();
    numbers();
    bins_small();
    bins_large();
    strings();
    roomy_strings();
    total_strings("olh");
    total_strings("pem");
    return tap_done();
}
