/* Tests of src/server/shuffle/permute.c: the law of the order, exactly, by all
 * coins through the real code. */
#include "lib/bits/u128.h"
#include "rig/tape.h"
#include "server/shuffle/permute.h"
#include "tap.h"

#define ORDERS_MOST 120u

/* The first and the last word that choose value v below bound. */
static uint64_t permute_first_word(uint64_t v, uint64_t bound)
{
    const uint64_t excess = (0 - bound) % bound;
    const hsy_u128 least = ((hsy_u128)v << 64) + excess;

    return (uint64_t)((least + bound - 1) / bound);
}

static uint64_t permute_last_word(uint64_t v, uint64_t bound)
{
    const hsy_u128 end = (hsy_u128)(v + 1) << 64;

    return (uint64_t)((end - 1) / bound);
}

/* The number of an order among all of its length; n: it is none. */
static uint32_t permute_rank(const uint32_t *place, uint32_t n, uint32_t none)
{
    uint32_t rank = 0, seen = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t below = 0;

        if (place[i] >= n || (seen >> place[i] & 1) != 0)
            return none;
        seen |= 1u << place[i];
        for (uint32_t k = i + 1; k < n; k++)
            below += place[k] < place[i];
        rank = rank * (n - i) + below;
    }
    return rank;
}

/* One sequence of choices, by the first words of each or by the last. */
static uint32_t permute_play(const uint32_t *choice, uint32_t n, bool last,
                             uint32_t none)
{
    uint64_t words[8];
    struct tape tape = {words, 8 * (size_t)(n - 1)};
    hsy_rng rng = {tape_fill, &tape};
    uint32_t place[8], at = 0;

    for (uint32_t i = n; i-- > 1;) {
        const uint64_t bound = i + 1;

        words[at] = last ? permute_last_word(choice[at], bound)
                         : permute_first_word(choice[at], bound);
        at++;
    }
    if (permute(place, n, &rng) != HSY_OK || tape.left != 0)
        return none;
    return permute_rank(place, n, none);
}

/* Every value of a step has as many words. */
static void choices_are_as_likely(void)
{
    bool even = true;

    for (uint64_t bound = 2; bound <= 5; bound++)
        for (uint64_t v = 0; v < bound; v++)
            even = even && permute_last_word(v, bound) -
                                   permute_first_word(v, bound) + 1 ==
                               (uint64_t)(((hsy_u128)1 << 64) / bound);
    ok(even, "each choice of a step has floor(2^64 / bound) words");
}

/* All sequences of choices give all orders, each once: with the equal sizes of
 * choices that is the uniform law. */
static void each_order_comes_of_one_sequence(uint32_t n, uint32_t orders)
{
    uint32_t times[ORDERS_MOST + 1] = {0};
    bool same = true, once = true;

    for (uint32_t k = 0; k < orders; k++) {
        uint32_t choice[8], rest = k, first, at = 0;

        for (uint32_t i = n; i-- > 1;) {
            choice[at++] = rest % (i + 1);
            rest /= i + 1;
        }
        first = permute_play(choice, n, false, orders);
        same = same && first == permute_play(choice, n, true, orders);
        times[first]++;
    }
    for (uint32_t k = 0; k < orders; k++)
        once = once && times[k] == 1;
    ok(same, "of %u: all words of a choice do the same", n);
    ok(once, "of %u: each of %u orders comes of one sequence", n, orders);
}

static void words_in_excess_are_drawn_anew(void)
{
    const uint64_t words[] = {0, permute_first_word(2, 3),
                              permute_first_word(0, 2)};
    struct tape tape = {words, sizeof words};
    hsy_rng rng = {tape_fill, &tape};
    uint32_t place[3];

    ok(permute(place, 3, &rng) == HSY_OK && tape.left == 0 && place[2] == 2 &&
           place[0] == 1,
       "a word that would favour a value is passed over");
}

static void no_coins_no_order(void)
{
    struct tape tape = {"", 0};
    hsy_rng rng = {tape_fill, &tape};
    uint32_t place[3] = {9, 9, 9};

    is_status(permute(place, 3, &rng), HSY_E_ENTROPY, "no coins, no order");
    is_status(permute(place, 0, &rng), HSY_OK, "of nothing there is one");
    is_status(permute(place, 1, &rng), HSY_OK, "of one too");
    is_u64(place[0], 0, "which takes no coin");
}

int main(void)
{
    choices_are_as_likely();
    each_order_comes_of_one_sequence(2, 2);
    each_order_comes_of_one_sequence(3, 6);
    each_order_comes_of_one_sequence(4, 24);
    each_order_comes_of_one_sequence(5, 120);
    words_in_excess_are_drawn_anew();
    no_coins_no_order();
    return tap_done();
}
