/* puzzle_words.c - the words of a list that can be spelled. */
#include "sim/discovery/discovery.h"

#include <stdlib.h>

static size_t words_take(struct discovery_word *words,
                         const struct labels *list, const hsy_scheme *s)
{
    uint64_t codes[HSY_SPELL_WORDS];
    size_t n = 0;

    for (uint32_t i = 0; i < list->d; i++) {
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};
        size_t len;

        truth.u.bytes.data = labels_at(list, i, &len);
        truth.u.bytes.len = len;
        if (len <= HSY_STRING_MAX &&
            hsy_truth_code(s, codes, &truth, NULL) == HSY_OK)
            words[n++] = (struct discovery_word){truth.u.bytes.data, len};
    }
    return n;
}

hsy_status discovery_words(struct discovery_word **words, size_t *n,
                           const struct labels *list, const hsy_spec *spec,
                           hsy_error *err)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    struct discovery_word *made = calloc((size_t)list->d + 1, sizeof *made);
    hsy_status st = s != NULL && made != NULL ? hsy_scheme_init(s, spec, err)
                                              : host_nomem(err);

    if (st == HSY_OK) {
        *n = words_take(made, list, s);
        *words = made;
    } else {
        free(made);
    }
    free(s);
    return st;
}
