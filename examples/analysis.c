/* analysis.c - what `hearsay estimate --format json` prints, in a program of
 * your own: shares with their errors, notes and doubts. The tally is one of ten
 * thousand people that the program makes up.
 *
 *     cc analysis.c $(pkg-config --cflags --libs hearsay-host)
 */
#include <hearsay.h>
#include <hearsay/host.h>
#include <stdio.h>
#include <stdlib.h>

/* Ten thousand people, of whom 30 % say yes. */
static int collect(hsy_tally *tally, const hsy_scheme *s)
{
    hsy_entropy entropy;
    hsy_entropy_init(&entropy);
    hsy_coins coins = hsy_entropy_coins(&entropy);

    for (uint32_t person = 0; person < 10000; person++) {
        hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = person % 10 < 3};
        uint8_t report;
        if (hsy_randomize(s, &report, &truth, &coins, NULL) != HSY_OK ||
            hsy_tally_add(tally, s, &report, NULL) != HSY_OK)
            return 1;
    }
    return 0;
}

int main(void)
{
    hsy_spec spec = {
        .size = sizeof spec, .kind = HSY_KIND_YES_NO, .nano_epsilon = HSY_NANO};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    if (s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK)
        return 1;
    int64_t *memory = malloc(hsy_tally_words(s) * sizeof *memory);
    hsy_tally tally;
    if (memory == NULL)
        return 1;
    hsy_tally_init(&tally, s, memory);
    if (collect(&tally, s) != 0)
        return 1;

    hsy_analysis_tally of = {.scheme = s, .tally = &tally};
    hsy_analysis_request request = {.size = sizeof request, .lying = 0.01};
    hsy_analysis_result result;
    hsy_error err;
    char *json;
    size_t len;

    if (hsy_analysis_run(&result, &of, NULL, &request, &err) != HSY_OK) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    for (size_t i = 0; i < result.nnotes; i++)
        fprintf(stderr, "%s\n", hsy_analysis_code_text(result.notes[i].code));
    if (hsy_analysis_json(&result, &json, &len, NULL) != HSY_OK)
        return 1;
    fputs(json, stdout);
    free(json);
    hsy_analysis_clear(&result);
    free(memory);
    free(s);
    return 0;
}
