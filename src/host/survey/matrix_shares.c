/* matrix_shares.c - answers through a matrix of one's own: H, its inverse, the
 * shares and how they vary together. */
#include "host/survey/survey.h"

#include "lib/bits/bytes.h"

#include <math.h>

hsy_status survey_matrix_open(struct survey_matrix *m,
                              const struct matrix_file *file, hsy_error *err)
{
    hsy_status st;

    m->d = file->d;
    for (size_t i = 0; i < m->d * m->d; i++)
        m->h[i] = (double)bytes_get64(file->bytes + 8 + 8 * i) /
                  (double)bytes_get64(file->bytes);
    st = hsy_survey_invert(m->inverse, &m->condition, m->h, m->d, err);
    if (st == HSY_OK)
        m->epsilon = hsy_survey_states_epsilon(m->h, m->d);
    return st;
}

hsy_status survey_matrix_estimate(struct survey_matrix *m,
                                  const uint64_t *counts, hsy_error *err)
{
    double worth[HSY_MATRIX_MAX];

    m->n = 0;
    for (size_t i = 0; i < m->d; i++) {
        m->counts[i] = counts[i];
        worth[i] = (double)counts[i];
        m->n += worth[i];
    }
    return hsy_survey_states(&m->shares, m->h, worth, m->d, err);
}

double survey_matrix_sd(const struct survey_matrix *m, size_t i)
{
    return sqrt(m->shares.covariance[i * m->d + i]);
}

void survey_matrix_wald(double ends[2], const struct survey_matrix *m, size_t i,
                        double level)
{
    const double z = -hsy_normal_quantile((1 - level) / 2);
    const double share = m->shares.share[i], sd = survey_matrix_sd(m, i);

    ends[0] = fmin(fmax(share - z * sd, 0), 1);
    ends[1] = fmin(fmax(share + z * sd, 0), 1);
}

bool survey_matrix_proof(size_t *answer, size_t *truth,
                         const struct survey_matrix *m)
{
    for (size_t y = 0; y < m->d; y++) {
        size_t none = m->d;
        double sum = 0;

        for (size_t x = 0; x < m->d; x++) {
            sum += m->h[y * m->d + x];
            none = m->h[y * m->d + x] == 0 ? x : none;
        }
        if (none < m->d && sum > 0) {
            *answer = y;
            *truth = none;
            return true;
        }
    }
    return false;
}
