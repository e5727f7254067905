/* test_exp_vectors.c - the library agrees with tools/gen_vectors.py. */
#include "hearsay.h"
#include "lib/core/exp.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_vectors(const char *path)
{
    FILE *f = fopen(path, "r");

    if (f == NULL) {
        printf("Bail out! %s: run from the root of the repository\n", path);
        exit(1);
    }
    return f;
}

struct exp_record {
    uint64_t half_nano, flip, weight;
    unsigned bits, shift;
};

static bool parse_exp(struct exp_record *r, const char *line)
{
    return sscanf(line,
                  "{\"half_nano\": \"%" SCNu64 "\", \"bits\": %u, "
                  "\"flip\": \"%" SCNu64 "\", \"shift\": %u, "
                  "\"weight\": \"%" SCNu64 "\"}",
                  &r->half_nano, &r->bits, &r->flip, &r->shift,
                  &r->weight) == 5;
}

/* weight / 2^shift is covered by e^x and the next one is not. */
static bool covers_exactly(const struct exp_record *r)
{
    uint64_t den = (uint64_t)1 << r->shift;

    return hsy_exp_covers(r->half_nano, r->weight, den) &&
           !hsy_exp_covers(r->half_nano, r->weight + 1, den);
}

/* The integers next to e^x: it is not within the one below. */
static bool within_exactly(const struct exp_record *r)
{
    uint64_t floor = r->weight >> r->shift;

    return !hsy_exp_within(r->half_nano, floor) &&
           hsy_exp_within(r->half_nano, floor + 1);
}

static void exp_agrees(void)
{
    FILE *f = open_vectors("tests/vectors/exp.json");
    char line[256];
    unsigned rows = 0, bits = 0, flips = 0, weights = 0, covers = 0, within = 0;

    while (fgets(line, sizeof line, f) != NULL) {
        struct exp_record r;

        if (!parse_exp(&r, line))
            continue;
        rows++;
        bits += hsy_exp_bits(r.half_nano) == r.bits;
        flips += hsy_exp_flip(r.half_nano) == r.flip;
        weights += hsy_exp_weight(r.half_nano, r.shift) == r.weight;
        covers += covers_exactly(&r);
        within += within_exactly(&r);
    }
    fclose(f);
    ok(rows > 1000, "there are vectors of e^x: %u", rows);
    is_u64(bits, rows, "the bits of floor(e^x) are exact");
    is_u64(flips, rows, "every flip threshold is the exact ceiling");
    is_u64(weights, rows, "every weight is the exact floor");
    is_u64(covers, rows, "covers draws the line at the exact floor");
    is_u64(within, rows, "within draws the line between the integers");
}

/* Fractions so close to e^x that only Lemma 1 of exp.c decides. */
static void covers_agrees(void)
{
    FILE *f = open_vectors("tests/vectors/covers.json");
    char line[256];
    unsigned rows = 0, above = 0, missed = 0;

    while (fgets(line, sizeof line, f) != NULL) {
        uint64_t half_nano, num, den;
        unsigned want;

        if (sscanf(line,
                   "{\"half_nano\": \"%" SCNu64 "\", \"num\": \"%" SCNu64
                   "\", \"den\": \"%" SCNu64 "\", \"covers\": %u}",
                   &half_nano, &num, &den, &want) != 4)
            continue;
        rows++;
        above += hsy_exp_covers(half_nano, num, den) && !want;
        missed += !hsy_exp_covers(half_nano, num, den) && want;
    }
    fclose(f);
    ok(rows > 200, "there are the closest fractions of e^x: %u", rows);
    is_u64(above, 0, "the closest fraction above e^x is never covered");
    is_u64(missed, 0, "what lies 2^-115 below e^x always is");
}

static void log_agrees(void)
{
    FILE *f = open_vectors("tests/vectors/log.json");
    char line[256], text[32];
    unsigned rows = 0, same = 0;
    uint64_t want, got;

    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line,
                   "{\"text\": \"%31[ln0-9]\", \"nano_epsilon\": \"%" SCNu64
                   "\"}",
                   text, &want) != 2)
            continue;
        rows++;
        same += hsy_epsilon_parse(&got, text, strlen(text)) == HSY_OK &&
                got == want;
    }
    fclose(f);
    ok(rows > 100, "there are vectors of ln N: %u", rows);
    is_u64(same, rows, "every lnN is the exact floor in nano-epsilon");
}

int main(void)
{
    exp_agrees();
    covers_agrees();
    log_agrees();
    return tap_done();
}
