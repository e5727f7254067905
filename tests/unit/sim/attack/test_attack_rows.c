/* test_attack_rows.c - what came of attacks, as tables and for machines. */
#define _POSIX_C_SOURCE 200809L
#include "sim/attack/attack.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>

static const struct sim_options options = {.devices = 4,
                                           .days = 10,
                                           .seed = 3,
                                           .nano_report = HSY_NANO,
                                           .nano_permanent =
                                               2 * (uint64_t)HSY_NANO,
                                           .grain = SIM_DRIFT_GRAIN,
                                           .yes = 75,
                                           .of = 100};

/* What is printed; the caller frees it. */
static char *printed(enum table_format format, const struct sim_result *r)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        abort();
    sim_print(to, format, r, &options);
    fclose(to);
    return text;
}

static void has(const struct sim_result *r, enum table_format format,
                const char *words, const char *sentence)
{
    char *text = printed(format, r);

    ok(strstr(text, words) != NULL, "%s", sentence);
    free(text);
}

static void averaging(void)
{
    struct sim_result r = {.kind = SIM_AVERAGING};

    r.nrows = 1;
    r.u.averaging[0] =
        (struct sim_averaging_row){.client = SIM_FRESH,
                                   .days = 1,
                                   .right = {0.75, NAN, 0.75, 0.99999},
                                   .epsilon = INFINITY,
                                   .charged = 1};
    has(&r, TABLE_ALIGNED, "0.7500       -  0.7500  > 0.9999",
        "a share that is not quite 1 is not rounded to it");
    has(&r, TABLE_ALIGNED, "  inf    1.000\n", "what is told may be all");
    has(&r, TABLE_ALIGNED, "75 times yes in 100 fresh answers",
        "answers are weighed below the table");
    has(&r, TABLE_JSON,
        "\"attack\": \"averaging\",\n  \"epsilon\": 1,\n  "
        "\"epsilon_permanent\": 2,\n  \"devices\": 4,\n  \"seed\": 3,",
        "json says what was asked");
    has(&r, TABLE_CSV, "\nfresh,1,0.75,,0.75,0.99999,,1\n",
        "csv has every digit, and nothing where there is none");
}

static void others(void)
{
    struct sim_result r = {.kind = SIM_CHANGE};

    r.day = 5;
    r.gamma = 0.25;
    has(&r, TABLE_ALIGNED, "change after 5 days;", "the day of a change");
    has(&r, TABLE_JSON, "\"change_day\": 5,\n  \"gamma\": 0.25,",
        "and the second step");
    r = (struct sim_result){.kind = SIM_FINGERPRINT};
    has(&r, TABLE_ALIGNED, "found again", "devices are found again");
    r = (struct sim_result){.kind = SIM_DRIFT};
    has(&r, TABLE_ALIGNED, "bins or points of 3650. keys:", "ages are rounded");
    r = (struct sim_result){.kind = SIM_POISONING};
    has(&r, TABLE_JSON,
        "\"epsilon\": 1,\n  \"devices\": 4,\n  \"values\": 128,",
        "nobody keeps an answer who lies");
}

int main(void)
{
    averaging();
    others();
    return tap_done();
}
