/* simulate_study.c - hearsay simulate --data: how well mechanisms do on people
 * whose truths are known. */
#include "cli/simulate/simulate_study.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void study_tick(void *ctx, uint64_t users)
{
    struct simulate_study *s = ctx;

    s->people += users;
    cli_progress_tick(&s->progress, s->people, s->of);
}

/* Whether the figure is a histogram: of few rows, about the same people. */
static bool study_histograms(const struct simulate_study *s, uint32_t d)
{
    const size_t n = simulate_count(s);

    return s->files.plot != NULL && s->nepsilons == 1 && s->nusers == 1 &&
           s->ndomains <= 1 && n <= STUDY_SHOWN_ROWS && d > 0 &&
           d <= (n == 1 ? STUDY_SHOWN_MAX : STUDY_SHOWN_BARS);
}

static struct study study_setting(struct simulate_study *s,
                                  const struct study_people *people,
                                  const struct simulate_model *who,
                                  const hsy_spec *spec, uint64_t users)
{
    struct study t = {.people = people,
                      .spec = *spec,
                      .model = who->model,
                      .curators = who->curators,
                      .users = users,
                      .runs = s->runs,
                      .seed = s->seed,
                      .top = (size_t)(s->top != 0 ? s->top : 10),
                      .threads = (unsigned)s->threads,
                      .one_by_one = s->one_by_one,
                      .keep = study_histograms(s, spec->d),
                      .tick = study_tick,
                      .ctx = s};

    if (t.top > spec->d)
        t.top = spec->d;
    return t;
}

/* One row: a mechanism at an epsilon, of one population. */
static int study_row(struct simulate_study *s,
                     const struct study_people *people,
                     const struct simulate_model *who, const hsy_spec *spec,
                     uint64_t users)
{
    struct study setting = study_setting(s, people, who, spec, users);
    struct study_result *row = &s->rows[s->nrows];
    hsy_error err = {0};
    hsy_status st;

    setting.as_counted = users == 0;
    if (users == 0)
        setting.users = s->counted;
    setting.delta = s->delta > 0 ? s->delta : study_delta(setting.users);
    st = study_run(row, &setting, &err);
    s->nrows++;
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st != HSY_OK)
        return cli_fail_error(spec->mechanism, &err);
    if (s->files.dumped != NULL)
        (void)simulate_dump(s, row, s->nrows == 1); /* commit says it again */
    free(row->each);
    row->each = NULL;
    return CLI_DONE;
}

/* All rows of one question. */
static int study_rows(struct simulate_study *s,
                      const struct study_people *people, const hsy_spec *asked)
{
    int code = CLI_DONE;

    for (size_t w = 0; w < s->nways; w++)
        for (size_t e = 0; e < s->nepsilons; e++)
            for (size_t u = 0; code == CLI_DONE && u < s->nusers; u++) {
                hsy_spec spec = *asked;

                spec.mechanism = s->ways[w].mechanism;
                spec.nano_epsilon = s->epsilons[e];
                code =
                    study_row(s, people, &s->ways[w].who, &spec, s->users[u]);
            }
    return code;
}

/* Every scheme is resolved before any work, so that what makes no sense does
 * not come out late. */
static int study_schemes(const struct simulate_study *s, const hsy_spec *asked)
{
    int code = CLI_DONE;

    for (size_t w = 0; w < s->nways; w++)
        for (size_t e = 0; code == CLI_DONE && e < s->nepsilons; e++) {
            hsy_spec spec = *asked;
            hsy_scheme *scheme = NULL;

            spec.mechanism = s->ways[w].mechanism;
            spec.nano_epsilon = s->epsilons[e];
            spec = study_model_spec(s->ways[w].who.model, &spec);
            code = cli_scheme_new(&scheme, &spec);
            free(scheme);
        }
    return code;
}

/* What progress is measured by: all who will report. */
static void study_total(struct simulate_study *s)
{
    const double rows = (double)simulate_count(s) / (double)s->nusers;
    double people = 0;

    for (size_t u = 0; u < s->nusers; u++)
        people += (double)(s->users[u] != 0 ? s->users[u] : s->counted);
    snprintf(s->of, sizeof s->of, "of %.0f people",
             people * (double)s->runs * rows);
}

/* No curator without people. */
static int study_curators(const struct simulate_study *s, struct cli_parser *p)
{
    for (size_t m = 0; m < s->nmodels; m++)
        for (size_t u = 0; u < s->nusers; u++) {
            const uint64_t users = s->users[u] != 0 ? s->users[u] : s->counted;

            if (s->models[m].curators > users)
                return cli_usage(p,
                                 "--model multiparty:%" PRIu64
                                 ": more curators than people, who are "
                                 "%" PRIu64 "; ask for fewer, or for more "
                                 "--users",
                                 s->models[m].curators, users);
        }
    return CLI_DONE;
}

/* A question for which the people are there. */
static int study_asked(struct simulate_study *s, struct cli_parser *p,
                       const struct study_people *people, const hsy_spec *spec,
                       bool try)
{
    int code;

    if (s->top != 0 && spec->kind == HSY_KIND_NUMBER)
        return cli_usage(p, "--top does not go with a mean");
    if (s->top > spec->d && spec->kind != HSY_KIND_NUMBER)
        return cli_usage(p,
                         "--top %" PRIu64 " is more than there are candidates: "
                         "%" PRIu32 " values",
                         s->top, spec->d);
    study_total(s);
    if (!try)
        return study_rows(s, people, spec);
    code = study_curators(s, p);
    return code == CLI_DONE ? study_schemes(s, spec) : code;
}

/* The people of a distribution. */
static int study_people(const struct simulate_study *s, struct cli_parser *p,
                        struct study_people *people, const hsy_spec *spec)
{
    struct study_data data = {0};
    hsy_error err = {0};

    if (study_data_parse(&data, s->data, &err) == HSY_OK &&
        study_people_open(people, &data, spec, &err) == HSY_OK)
        return CLI_DONE;
    if (err.status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err.status == HSY_E_UNKNOWN)
        return cli_usage(p,
                         "--data: no distribution '%.64s'; there are zipf:S, "
                         "geometric:P, poisson:L, uniform, uniform:LO:HI, "
                         "gaussian:M:SD and file:PATH",
                         s->data);
    return cli_usage(p, "--data: %s", err.msg);
}

/* A file's people; it is read the first time. */
static int study_filed(struct simulate_study *s, struct cli_parser *p, bool try)
{
    int code = CLI_DONE;

    if (try)
        code = simulate_file(&s->filed, &s->counted, &s->question.spec,
                             s->data + 5);
    return code == CLI_DONE
               ? study_asked(s, p, &s->filed, &s->question.spec, try)
               : code;
}

/* Every domain: first only whether all makes sense, then for real. */
static int study_domains(struct simulate_study *s, struct cli_parser *p,
                         bool try)
{
    const size_t n = s->ndomains > 0 ? s->ndomains : 1;
    int code = CLI_DONE;

    if (simulate_from_file(s))
        return study_filed(s, p, try);
    for (size_t i = 0; code == CLI_DONE && i < n; i++) {
        struct study_people people = {0};
        hsy_spec spec = s->question.spec;

        if (s->ndomains > 0)
            spec.d = (uint32_t)s->domains[i];
        code = study_people(s, p, &people, &spec);
        if (code == CLI_DONE)
            code = study_asked(s, p, &people, &spec, try);
        study_people_close(&people);
    }
    return code;
}

/* ---- Files --------------------------------------------------------------- */

static int study_figure(const struct simulate_study *s)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status st = study_svg(&svg, &len, s->rows, s->nrows, &err);

    return cli_finish_figure(s->files.figure, s->files.plot, st, svg, len,
                             &err);
}

static int study_all(struct simulate_study *s, struct cli_parser *p)
{
    int code = study_domains(s, p, true);

    if (code == CLI_DONE)
        code = simulate_files_open(&s->files);
    if (code == CLI_DONE)
        code = study_domains(s, p, false);
    cli_progress_end(&s->progress);
    code = simulate_files_end(&s->files, code);
    if (code == CLI_DONE && s->files.figure != NULL)
        code = study_figure(s);
    if (code != CLI_DONE)
        return code;
    simulate_rows(s);
    return cli_finish();
}

static void study_end(struct simulate_study *s)
{
    for (size_t i = 0; s->rows != NULL && i < s->nrows; i++)
        study_close(&s->rows[i]);
    free(s->rows);
    free(s->mechanisms.memory);
    free(s->ways);
    study_people_close(&s->filed);
    cli_spec_clear(&s->question);
}

int simulate_study(int argc, char **argv)
{
    struct simulate_study s = {.runs = 20, .seed = 1};
    struct cli_parser p;
    int code = simulate_options(&s, &p, argc, argv);

    if (code == CLI_DONE && !s.stop) {
        s.rows = calloc(SIMULATE_ROWS_MAX, sizeof *s.rows);
        code = s.rows != NULL ? study_all(&s, &p) : cli_fail_nomem();
    }
    study_end(&s);
    return code;
}
