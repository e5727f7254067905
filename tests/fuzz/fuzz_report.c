/*
 * fuzz_report.c - reports of every mechanism: what passes the check is packed
 * and unpacked without loss, is counted, and moves the count by one.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "rig/examples.h"

#define REPORT_WORDS (1u << 16)

static hsy_scheme *report_schemes[EXAMPLES];
static int64_t report_memory[REPORT_WORDS];

/* One encoding: the bytes of a packed report that passes are its only ones. */
static void report_unpacks(const hsy_scheme *s, const uint8_t *data, size_t len)
{
    uint8_t report[64] = {0}, packed[64];
    size_t size = hsy_packed_size(s, 1);

    if (len < size || hsy_unpack(s, report, data, 1) != HSY_OK ||
        hsy_check(s, report) != HSY_OK)
        return;
    hsy_pack(s, packed, report, 1);
    fuzz_expect(memcmp(packed, data, size) == 0,
                "a packed report that passes packs to the same bytes");
}

static void report_counts(const hsy_scheme *s, const uint8_t *report,
                          size_t bytes)
{
    uint8_t packed[64], again[64];
    hsy_tally t;
    bool good = hsy_check(s, report) == HSY_OK;

    hsy_tally_init(&t, s, report_memory);
    fuzz_expect((hsy_tally_add(&t, s, report, NULL) == HSY_OK) == good,
                "what passes the check is counted, and nothing else");
    fuzz_expect(hsy_tally_reports(&t) == (good ? 1 : 0),
                "a report counts once");
    if (!good)
        return;
    hsy_pack(s, packed, report, 1);
    fuzz_expect(hsy_unpack(s, again, packed, 1) == HSY_OK &&
                    memcmp(again, report, bytes) == 0,
                "a report is packed without loss");
}

/* Factors of a law are probabilities. */
static void report_has_a_law(const hsy_scheme *s, const uint8_t *report)
{
    hsy_factor *factors = malloc(hsy_law_factors(s) * sizeof *factors);
    const uint64_t codes[HSY_ATTRIBUTES_MAX] = {0};
    size_t count = 0;

    if (factors == NULL || hsy_check(s, report) != HSY_OK) {
        free(factors);
        return;
    }
    hsy_law_codes(s, factors, &count, codes, report);
    fuzz_expect(count <= hsy_law_factors(s), "a law has so many factors");
    for (size_t i = 0; i < count; i++)
        fuzz_expect(factors[i].den == 0 || factors[i].num <= factors[i].den,
                    "a factor is a probability");
    free(factors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    hsy_scheme_info info;
    hsy_scheme *s;
    size_t which;

    if (len == 0)
        return 0;
    which = data[0] % EXAMPLES;
    if (report_schemes[which] == NULL)
        report_schemes[which] = example_scheme(&examples[which].spec);
    s = report_schemes[which];
    fuzz_expect(s != NULL && hsy_tally_words(s) <= REPORT_WORDS,
                "the examples are schemes, and small");
    hsy_scheme_describe(s, &info);
    report_unpacks(s, data + 1, len - 1);
    if (len - 1 >= info.report_bytes) {
        report_counts(s, data + 1, info.report_bytes);
        report_has_a_law(s, data + 1);
    }
    return 0;
}
