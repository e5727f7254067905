/*
 * bernoulli_bits.c - many Bernoulli bits at once, 64 to a word, any machine.
 *
 * Every lane is compared with the threshold from the last digit on: after
 * digit t the lane is 1 if the digits so far are below those of the threshold,
 *     r = t ? (r | w) : (r & w),
 * so it takes the same coins and the same time whatever they show. sparse
 * stops as soon as a lane is decided, and its time shows where that was late:
 * it is for simulation only.
 */
#include "lib/kernels/bernoulli_bits.h"

#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/kernels/internal.h"

/* Digit number j of the `digits` leading ones, counted from the last. */
static uint64_t bernoulli_digit(uint64_t threshold, unsigned digits, unsigned j)
{
    return threshold >> (64 - digits + j) & 1;
}

void hsy_bernoulli_bits_plain(uint64_t *lanes, const uint64_t *planes,
                              size_t words, unsigned digits, uint64_t threshold)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t r = 0;

        for (unsigned j = 0; j < digits; j++) {
            uint64_t w = planes[j * words + i];

            r = bernoulli_digit(threshold, digits, j) != 0 ? r | w : r & w;
        }
        lanes[i] = r;
    }
}

/* ---- Early exit ---------------------------------------------------------- */

#define BERNOULLI_GROUP 64  /* words whose leading digits are drawn together */
#define BERNOULLI_RESERVE 8 /* words drawn at a time for lanes still open */

/* Every lane still open takes a word of its own, in order, and is 1 if that is
 * below what is left of the threshold. */
static void bernoulli_close(uint64_t *lanes, const uint64_t *open, size_t words,
                            uint64_t rest, hsy_rng *rng)
{
    uint64_t reserve[BERNOULLI_RESERVE];
    uint8_t where[BERNOULLI_GROUP];
    size_t used = BERNOULLI_RESERVE, count = 0;

    /* Listed without a branch: no one could predict it. */
    for (size_t i = 0; i < words; i++) {
        where[count] = (uint8_t)i;
        count += open[i] != 0;
    }
    for (size_t k = 0; k < count; k++) {
        size_t i = where[k];
        uint64_t left = open[i];

        do {
            if (used == BERNOULLI_RESERVE) {
                draw_words(reserve, BERNOULLI_RESERVE, rng);
                used = 0;
            }
            lanes[i] |= left & (0 - left) & ct_less(reserve[used++], rest);
            left &= left - 1;
        } while (left != 0);
    }
}

static void bernoulli_head_plain(uint64_t *lanes, uint64_t *open,
                                 const uint64_t *planes, size_t words,
                                 uint64_t threshold)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t below = 0, equal = UINT64_MAX;

        for (unsigned j = 0; j < HSY_SPARSE_DIGITS; j++) {
            uint64_t w = planes[j * words + i];
            uint64_t digit = 0 - (threshold >> (63 - j) & 1);

            below |= equal & ~w & digit;
            equal &= ~(w ^ digit);
        }
        lanes[i] = below;
        open[i] = equal;
    }
}

/* Which coins a group takes is part of the definition: the leading digits of
 * all its lanes, then reserves as needed. What is left of one is dropped. */
void hsy_sparse_run(uint64_t *lanes, size_t words, uint64_t threshold,
                    hsy_stream *st, hsy_sparse_head *head)
{
    uint64_t planes[HSY_SPARSE_DIGITS * BERNOULLI_GROUP];
    uint64_t open[BERNOULLI_GROUP];
    hsy_rng rng = hsy_stream_rng(st); /* never fails once open */

    while (words > 0) {
        size_t group = words < BERNOULLI_GROUP ? words : BERNOULLI_GROUP;

        draw_words(planes, HSY_SPARSE_DIGITS * group, &rng);
        if (group == 1) /* no vector is faster */
            head = bernoulli_head_plain;
        head(lanes, open, planes, group, threshold);
        bernoulli_close(lanes, open, group, threshold << HSY_SPARSE_DIGITS,
                        &rng);
        lanes += group;
        words -= group;
    }
}

void hsy_sparse_plain(uint64_t *lanes, size_t words, uint64_t threshold,
                      hsy_stream *st)
{
    hsy_sparse_run(lanes, words, threshold, st, bernoulli_head_plain);
}

#undef BERNOULLI_GROUP
#undef BERNOULLI_RESERVE
