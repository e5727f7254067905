/* codes.h - from lines of text to the codes of truths. */
#ifndef CLI_BASE_CODES_H
#define CLI_BASE_CODES_H

#include "cli/base/base.h"

struct cli_coder {
    const struct cli_spec *spec;
    const hsy_scheme *scheme;
};

/* Code n lines, hsy_codes_per_truth codes each. How many from the first on are
 * in the domain; if that is less than n, *why says what is wrong with the next
 * one and what to do, without its value. */
size_t cli_code_lines(const struct cli_coder *coder, uint64_t *codes,
                      const struct line *lines, size_t n, const char **why);

#endif
