/* survey.c - ask 10,000 people a yes/no question and believe none of them.
 *
 *     cc survey.c $(pkg-config --cflags --libs hearsay) -o survey && ./survey
 */
#include <hearsay.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    hsy_spec spec = {
        .size = sizeof spec, .kind = HSY_KIND_YES_NO, .nano_epsilon = HSY_NANO};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    if (s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK)
        return 1;

    hsy_entropy entropy;
    hsy_entropy_init(&entropy);
    hsy_coins coins = hsy_entropy_coins(&entropy);
    hsy_tally tally;
    int64_t *memory = malloc(hsy_tally_words(s) * sizeof *memory);
    if (memory == NULL)
        return 1;
    hsy_tally_init(&tally, s, memory);

    for (uint32_t person = 0; person < 10000; person++) {
        hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = person % 10 < 3};
        uint8_t report; /* one bit: on the device up to here, sent from here */
        if (hsy_randomize(s, &report, &truth, &coins, NULL) != HSY_OK ||
            hsy_tally_add(&tally, s, &report, NULL) != HSY_OK)
            return 1;
    }

    hsy_evidence yes;
    hsy_estimate e;
    hsy_confidence how = {.level = 0.95, .comparisons = 1};
    if (hsy_evidence_scratch(s, 1) != 0 || /* only local hashing needs any */
        hsy_evidence_of(s, &yes, &tally, NULL, 1, NULL, NULL) != HSY_OK ||
        hsy_estimate_point(&e, &yes, &how, NULL) != HSY_OK)
        return 1;
    printf("yes: %.1f %% (95 %% interval %.1f to %.1f; the truth is 30)\n",
           100 * e.value, 100 * e.low, 100 * e.high);
    hsy_entropy_clear(&entropy);
    free(memory);
    free(s);
    return 0;
}
