/* kernels.c - which loops a processor runs. */
#include "lib/kernels/internal.h"

/* The kernels of a level, with a checksum that it has. */
#define KERNELS_OF(level, checksum)                                            \
    {                                                                          \
        .crc32c = hsy_crc32c_##checksum, .chacha20 = hsy_chacha20_##level,     \
        .bernoulli_bits = hsy_bernoulli_bits_##level,                          \
        .sparse = hsy_sparse_##level,                                          \
        .blanket_choices = hsy_blanket_choices_##level,                        \
        .hadamard = hsy_hadamard_##level, .wht = hsy_wht_##level,              \
        .bit_counts = hsy_bit_counts_##level,                                  \
        .rows_with_popcount = hsy_rows_with_popcount_##level,                  \
        .cohorts = hsy_cohorts_##level,                                        \
        .bit_counts_some = hsy_bit_counts_some_##level,                        \
        .lh_direct = hsy_lh_direct_##level, .lh_table = hsy_lh_table_##level,  \
        .orthogonal_points = hsy_orthogonal_points_##level,                    \
        .line_sums = hsy_line_sums_##level,                                    \
    }

static const struct hsy_kernels kernels_plain = KERNELS_OF(plain, plain);

/* The vectors of 16 bytes are for little-endian machines: on others plain takes
 * their place. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__

static const struct hsy_kernels *const kernels_table[] = {&kernels_plain,
                                                          &kernels_plain};

#else

static const struct hsy_kernels kernels_portable =
    KERNELS_OF(portable, portable);

#if !defined(__x86_64__)
static const struct hsy_kernels *const kernels_table[] = {&kernels_plain,
                                                          &kernels_portable};
#endif

#endif

#if defined(__x86_64__)

static const struct hsy_kernels kernels_avx2 = KERNELS_OF(avx2, sse42);

static const struct hsy_kernels kernels_avx512 = KERNELS_OF(avx512, sse42);

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

#undef KERNELS_OF
