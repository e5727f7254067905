/* kernels.c - which loops a processor runs. */
#include "lib/kernels/internal.h"

static const struct hsy_kernels kernels_plain = {
    .chacha20 = hsy_chacha20_plain,
    .crc32c = hsy_crc32c_plain,
    .bernoulli_bits = hsy_bernoulli_bits_plain,
    .sparse = hsy_sparse_plain,
    .blanket_choices = hsy_blanket_choices_plain,
    .hadamard = hsy_hadamard_plain,
    .wht = hsy_wht_plain,
    .bit_counts = hsy_bit_counts_plain,
    .rows_with_popcount = hsy_rows_with_popcount_plain,
    .cohorts = hsy_cohorts_plain,
    .bit_counts_some = hsy_bit_counts_some_plain,
    .lh_direct = hsy_lh_direct_plain,
    .lh_table = hsy_lh_table_plain,
    .orthogonal_points = hsy_orthogonal_points_plain,
    .line_sums = hsy_line_sums_plain,
};

/* The vectors of 16 bytes are for little-endian machines: on others plain takes
 * their place. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__

static const struct hsy_kernels *const kernels_table[] = {&kernels_plain,
                                                          &kernels_plain};

#else

static const struct hsy_kernels kernels_portable = {
    .chacha20 = hsy_chacha20_portable,
    .crc32c = hsy_crc32c_portable,
    .bernoulli_bits = hsy_bernoulli_bits_portable,
    .sparse = hsy_sparse_portable,
    .blanket_choices = hsy_blanket_choices_portable,
    .hadamard = hsy_hadamard_portable,
    .wht = hsy_wht_portable,
    .bit_counts = hsy_bit_counts_portable,
    .rows_with_popcount = hsy_rows_with_popcount_portable,
    .cohorts = hsy_cohorts_portable,
    .bit_counts_some = hsy_bit_counts_some_portable,
    .lh_direct = hsy_lh_direct_portable,
    .lh_table = hsy_lh_table_portable,
    .orthogonal_points = hsy_orthogonal_points_portable,
    .line_sums = hsy_line_sums_portable,
};

#if !defined(__x86_64__)
static const struct hsy_kernels *const kernels_table[] = {&kernels_plain,
                                                          &kernels_portable};
#endif

#endif

#if defined(__x86_64__)

static const struct hsy_kernels kernels_avx2 = {
    .chacha20 = hsy_chacha20_avx2,
    .crc32c = hsy_crc32c_sse42,
    .bernoulli_bits = hsy_bernoulli_bits_avx2,
    .sparse = hsy_sparse_avx2,
    .blanket_choices = hsy_blanket_choices_avx2,
    .hadamard = hsy_hadamard_avx2,
    .wht = hsy_wht_avx2,
    .bit_counts = hsy_bit_counts_avx2,
    .rows_with_popcount = hsy_rows_with_popcount_avx2,
    .cohorts = hsy_cohorts_avx2,
    .bit_counts_some = hsy_bit_counts_some_avx2,
    .lh_direct = hsy_lh_direct_avx2,
    .lh_table = hsy_lh_table_avx2,
    .orthogonal_points = hsy_orthogonal_points_avx2,
    .line_sums = hsy_line_sums_avx2,
};

static const struct hsy_kernels kernels_avx512 = {
    .chacha20 = hsy_chacha20_avx512,
    .crc32c = hsy_crc32c_sse42,
    .bernoulli_bits = hsy_bernoulli_bits_avx512,
    .sparse = hsy_sparse_avx512,
    .blanket_choices = hsy_blanket_choices_avx512,
    .hadamard = hsy_hadamard_avx512,
    .wht = hsy_wht_avx512,
    .bit_counts = hsy_bit_counts_avx512,
    .rows_with_popcount = hsy_rows_with_popcount_avx512,
    .cohorts = hsy_cohorts_avx512,
    .bit_counts_some = hsy_bit_counts_some_avx512,
    .lh_direct = hsy_lh_direct_avx512,
    .lh_table = hsy_lh_table_avx512,
    .orthogonal_points = hsy_orthogonal_points_avx512,
    .line_sums = hsy_line_sums_avx512,
};

static const struct hsy_kernels *const kernels_table[] = {
    &kernels_plain, &kernels_portable, &kernels_avx2, &kernels_avx512};

/* These read what the C run-time found out when the program started, the
 * operating system's consent to wide registers included. */
static bool kernels_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

static bool kernels_has_avx512(void)
{
    return kernels_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vpopcntdq");
}

/* What the trial of AVX-512 gave: 0 before it, 1 if it agrees with plain, else
 * 2. All of the library's changing data: threads that try at once find the
 * same. */
static uint8_t kernels_tried;

static bool kernels_agrees_avx512(void)
{
    uint8_t tried = __atomic_load_n(&kernels_tried, __ATOMIC_RELAXED);

    if (tried == 0) {
        tried = hsy_kernels_agree(&kernels_avx512, &kernels_plain) ? 1 : 2;
        __atomic_store_n(&kernels_tried, tried, __ATOMIC_RELAXED);
    }
    return tried == 1;
}

bool hsy_cpu_has(hsy_cpu level)
{
    switch (level) {
    case HSY_CPU_PLAIN:
    case HSY_CPU_PORTABLE:
        return true;
    case HSY_CPU_AVX2:
        return kernels_has_avx2();
    case HSY_CPU_AVX512:
        return kernels_has_avx512() && kernels_agrees_avx512();
    }
    return false;
}

#else

bool hsy_cpu_has(hsy_cpu level)
{
    return level == HSY_CPU_PLAIN || level == HSY_CPU_PORTABLE;
}

#endif

hsy_cpu hsy_cpu_best(void)
{
    if (hsy_cpu_has(HSY_CPU_AVX512))
        return HSY_CPU_AVX512;
    return hsy_cpu_has(HSY_CPU_AVX2) ? HSY_CPU_AVX2 : HSY_CPU_PORTABLE;
}

const char *hsy_cpu_name(hsy_cpu level)
{
    switch (level) {
    case HSY_CPU_PLAIN:
        return "plain";
    case HSY_CPU_PORTABLE:
        return "portable";
    case HSY_CPU_AVX2:
        return "avx2";
    case HSY_CPU_AVX512:
        return "avx512";
    }
    return "unknown";
}

const struct hsy_kernels *hsy_kernels_at(hsy_cpu level)
{
    return kernels_table[level];
}
