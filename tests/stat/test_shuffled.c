/*
 * test_shuffled.c - what batches of shuffled reports estimate.
 *
 * 2,000 batches of 50,000 people, 64 values, of whom nine tenths are taken for
 * honest: together the reports of a batch are (1, 1e-8) private. Their mean
 * squared error must be within 5 % of what is predicted, and at least 500 times
 * below that of the best local reports of epsilon 1; and intervals must cover
 * 95 % within 7.1 standard errors over batches (1e-12, by the central limit
 * theorem), and half a percent for what is normal only nearly. The order that a
 * shuffler draws changes no tally: it is not drawn here (test_shuffle_order.c
 * does). One batch in a hundred is also made report by report.
 */
#include "rig/stat.h"
#include "sim/study/study.h"

#define BATCH_PEOPLE 50000u
#define BATCHES 2000u
#define BATCH_VALUES 64u
#define BATCH_ERRORS 7.1
#define BATCH_NEAR 0.005

static bool batch_study(struct study_result *r, const struct study_people *who,
                        enum study_model model, uint64_t runs, bool each)
{
    const struct study study = {.people = who,
                                .spec = {.size = sizeof(hsy_spec),
                                         .mechanism = "auto",
                                         .kind = HSY_KIND_VALUES,
                                         .d = BATCH_VALUES,
                                         .nano_epsilon = HSY_NANO},
                                .model = model,
                                .delta = 1e-8,
                                .honest = 0.9,
                                .users = BATCH_PEOPLE,
                                .runs = runs,
                                .seed = 17,
                                .top = 10,
                                .threads = 1,
                                .one_by_one = each};
    hsy_error err = {0};

    if (study_run(r, &study, &err) == HSY_OK)
        return true;
    printf("# %s\n", err.msg);
    return false;
}

static void batch_judge(const struct study_result *r, const char *how)
{
    const double off = r->mean[STUDY_MSE] / r->mean[STUDY_PREDICTED] - 1;
    const double share = r->mean[STUDY_COVERAGE];
    const double allow = BATCH_ERRORS * r->error[STUDY_COVERAGE] + BATCH_NEAR;

    ok(fabs(off) <= 0.05,
       "%u batches, %s: error within 5 %% of what is predicted: %+.2f %%",
       (unsigned)r->runs, how, 100 * off);
    ok(fabs(share - 0.95) <= allow, "%u batches, %s: intervals cover %.4f",
       (unsigned)r->runs, how, share);
}

int main(void)
{
    const hsy_spec question = {
        .size = sizeof question, .kind = HSY_KIND_VALUES, .d = BATCH_VALUES};
    struct study_result local = {0}, shuffled = {0}, each = {0}, central = {0};
    struct study_people people = {0};
    struct study_data data;
    bool good;

    good = study_data_parse(&data, "zipf:1.1", NULL) == HSY_OK &&
           study_people_open(&people, &data, &question, NULL) == HSY_OK &&
           batch_study(&local, &people, STUDY_LOCAL, BATCHES / 100, false) &&
           batch_study(&shuffled, &people, STUDY_SHUFFLED, BATCHES, false) &&
           batch_study(&each, &people, STUDY_SHUFFLED, BATCHES / 100, true) &&
           batch_study(&central, &people, STUDY_CENTRAL, BATCHES, false);
    ok(good, "studies of local, shuffled and curated people run");
    if (good) {
        const double gain = local.mean[STUDY_MSE] / shuffled.mean[STUDY_MSE];

        ok(shuffled.info.epsilon >= 6.6 && shuffled.info.epsilon <= 6.69,
           "a report may have epsilon %.4f by the %s bound",
           shuffled.info.epsilon, shuffled.bound);
        batch_judge(&shuffled, "drawn at once");
        batch_judge(&each, "report by report");
        ok(gain >= 500, "error %.0f times below that of local reports", gain);
        ok(central.mean[STUDY_MSE] < shuffled.mean[STUDY_MSE] &&
               local.mean[STUDY_MSE] / central.mean[STUDY_MSE] > gain,
           "and %.1f times that of a curator",
           shuffled.mean[STUDY_MSE] / central.mean[STUDY_MSE]);
    }
    study_close(&local);
    study_close(&shuffled);
    study_close(&each);
    study_close(&central);
    study_people_close(&people);
    return tap_done();
}
