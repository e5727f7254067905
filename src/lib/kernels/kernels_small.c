/*
 * kernels_small.c - the loops of a small client, in kernels.c's place: only
 * what randomizing and framing take, for any processor. What counts and decodes
 * reports is absent.
 */
#include "lib/kernels/internal.h"

static const struct hsy_kernels client_kernels = {
    .chacha20 = hsy_chacha20_plain,
    .crc32c = hsy_crc32c_plain,
    .bernoulli_bits = hsy_bernoulli_bits_plain,
    .blanket_choices = hsy_blanket_choices_plain,
};

bool hsy_cpu_has(hsy_cpu level)
{
    return level == HSY_CPU_PORTABLE;
}

hsy_cpu hsy_cpu_best(void)
{
    return HSY_CPU_PORTABLE;
}

const struct hsy_kernels *hsy_kernels_at(hsy_cpu level)
{
    (void)level;
    return &client_kernels;
}
