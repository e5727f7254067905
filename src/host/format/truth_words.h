/*
 * truth_words.h - what is said the same way of a truth in a file of many and of
 * one on a device. The readers are two on purpose: codes.c stops at the first
 * word that fits and asks a hash table, answer_text.c compares all of them
 * whichever it is, in a time that tells nothing.
 */
#ifndef HOST_FORMAT_TRUTH_WORDS_H
#define HOST_FORMAT_TRUTH_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In any case of letters. */
static const struct truth_word {
    char word[6];
    uint32_t len, index;
} truth_words[] = {{"yes", 3, 1}, {"no", 2, 0},   {"1", 1, 1},
                   {"0", 1, 0},   {"true", 4, 1}, {"false", 5, 0}};

#define TRUTH_WORDS (sizeof truth_words / sizeof truth_words[0])

#define TRUTH_NOT_YES_NO_TEXT "must be yes or no (or true/false, 1/0)"
#define TRUTH_NOT_DECIMAL_TEXT                                                 \
    "must be a decimal number (e.g. 0.5 or -0.5; no exponent, no spaces)"

/* Values without names are called 0 to d - 1: one to ten digits. That it is
 * none shows in the time, which it is not does not. */
static inline bool truth_digits(uint64_t *out, const uint8_t *text, size_t len)
{
    bool good = len >= 1 && len <= 10;
    uint64_t x = 0;

    for (size_t k = 0; good && k < len; k++) {
        unsigned digit = (unsigned)text[k] - '0';

        good = digit <= 9;
        x = x * 10 + digit;
    }
    *out = x;
    return good;
}

#endif
