/* simulate_study.c - hearsay simulate study: how well mechanisms do on people
 * whose truths are known. */
#include "cli/simulate/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* Whether the figure is a histogram: of few rows, about the same people. */
static bool study_histograms(const struct simulate_study *s, uint32_t d)
{
    const size_t n = simulate_count(s);

    return s->files.plot != NULL && s->epsilons.n == 1 && s->users.n == 1 &&
           s->domains.n <= 1 && n <= STUDY_SHOWN_ROWS && d > 0 &&
           d <= (n == 1 ? STUDY_SHOWN_MAX : STUDY_SHOWN_BARS);
}

/* ---- What is wrong, in the words of the options -------------------------- */

int simulate_file_refused(const char *path, enum study_wrong wrong,
                          hsy_error *err)
{
    static const char *const words[STUDY_WRONG_RUN + 1] = {
        [STUDY_WRONG_VALUE] =
            "not an integer; to use lines as values, leave out --domain",
        [STUDY_WRONG_DOMAIN] = "not below --domain",
        [STUDY_WRONG_RANGE] = "outside --range",
        [STUDY_WRONG_BITS] = "has more than --bits bits",
        [STUDY_WRONG_LENGTH] =
            "too long: a byte takes 8 bits; raise --bits (at most 64)"};
    static const hsy_spec strings = {.mechanism = "pem",
                                     .kind = HSY_KIND_STRINGS};

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (wrong == STUDY_WRONG_SCHEME)
        return cli_scheme_refused(&strings, err);
    if (wrong == STUDY_WRONG_PEOPLE)
        return cli_fail_error("--data", err);
    if (wrong == STUDY_WRONG_MANY)
        return cli_fail("%s: more than %u different lines", path,
                        HSY_VALUES_MAX);
    if (words[wrong] != NULL)
        err->msg = words[wrong];
    return cli_fail_line(cli_input_name(path), err);
}

static int study_refused(const struct simulate_study *s, struct cli_parser *p,
                         hsy_error *err)
{
    const struct study_grid *g = &s->grid;

    switch (g->wrong) {
    case STUDY_WRONG_MEAN:
        return cli_usage(p, "--top cannot be used with a mean");
    case STUDY_WRONG_TOP:
        return cli_usage(
            p, "--top %" PRIu64 " exceeds the number of candidates, %" PRIu64,
            g->top, err->limit);
    case STUDY_WRONG_CURATORS:
        return cli_usage(p,
                         "--model multiparty:%" PRIu64
                         ": more curators than the %" PRIu64
                         " people; use fewer, or more --users",
                         g->refused.curators, err->limit);
    case STUDY_WRONG_SCHEME:
        return cli_scheme_refused(&g->spec, err);
    default:
        if (err->field == HOST_FIELD_DOMAIN)
            cli_note("note: lower --domain, or --threads");
        return err->status == HSY_E_NOMEM
                   ? cli_fail_nomem()
                   : cli_fail_error(g->spec.mechanism, err);
    }
}

/* ---- Running ------------------------------------------------------------- */

/* A question for which the people are there. */
static int study_asked(struct simulate_study *s, struct cli_parser *p,
                       const struct study_people *people, const hsy_spec *spec,
                       bool try)
{
    struct study_grid *g = &s->grid;
    hsy_error err = {0};
    hsy_status st;

    g->counted = s->filed.users;
    g->how.keep = study_histograms(s, spec->d);
    s->progress.total =
        study_grid_people(g) * (double)(s->domains.n > 0 ? s->domains.n : 1);
    st = try ? study_grid_check(g, spec, &err)
             : study_grid_run(g, s->rows, &s->nrows, people, spec, &err);
    return st == HSY_OK ? CLI_DONE : study_refused(s, p, &err);
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
        return cli_usage(
            p,
            "--data: unknown distribution '%.64s'; use zipf:S, geometric:P, "
            "poisson:L, uniform, uniform:LO:HI, gaussian:M:SD or file:PATH",
            s->data);
    return cli_usage(p, "--data: %s", err.msg);
}

/* A file's people; it is read the first time. */
static int study_filed(struct simulate_study *s, struct cli_parser *p, bool try)
{
    const char *path = s->data + 5;
    hsy_error err = {0};
    hsy_status st = HSY_OK;

    if (try) {
        const int fd = cli_open_input(path);

        if (fd < 0)
            return CLI_FAILED;
        st = study_file_read(&s->filed, &s->question.spec, fd, &err);
        cli_close_input(fd);
    }
    return st == HSY_OK
               ? study_asked(s, p, &s->filed.people, &s->question.spec, try)
               : simulate_file_refused(path, s->filed.wrong, &err);
}

/* Every domain: first only whether all makes sense, then for real. */
static int study_domains(struct simulate_study *s, struct cli_parser *p,
                         bool try)
{
    const size_t n = s->domains.n > 0 ? s->domains.n : 1;
    int code = CLI_DONE;

    if (simulate_from_file(s))
        return study_filed(s, p, try);
    for (size_t i = 0; code == CLI_DONE && i < n; i++) {
        struct study_people people = {0};
        hsy_spec spec = s->question.spec;

        if (s->domains.n > 0)
            spec.d = (uint32_t)s->domains.at[i];
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
    struct cli_figure f = {0};

    return cli_finish_figure(
        s->files.figure, s->files.plot,
        study_svg(&f.svg, &f.len, s->rows, s->nrows, &f.err), &f);
}

static int study_all(struct simulate_study *s, struct cli_parser *p)
{
    int code = study_domains(s, p, true);

    if (code == CLI_DONE)
        code = simulate_files_open(&s->files);
    s->grid.dump = s->files.dumped;
    if (code == CLI_DONE)
        code = study_domains(s, p, false);
    cli_progress_end(&s->progress);
    code = simulate_files_end(&s->files, code);
    if (code == CLI_DONE && s->files.figure != NULL)
        code = study_figure(s);
    if (code != CLI_DONE)
        return code;
    study_print(stdout, s->format,
                &(struct study_shown){&s->grid, s->data, s->domains.n, s->rows,
                                      s->nrows});
    return cli_finish();
}

static void study_end(struct simulate_study *s)
{
    for (size_t i = 0; s->rows != NULL && i < s->nrows; i++)
        study_close(&s->rows[i]);
    free(s->rows);
    free(s->ways);
    study_people_close(&s->filed.people);
    cli_spec_clear(&s->question);
}

int simulate_study(int argc, char **argv)
{
    struct simulate_study s = {.grid.how.tick = cli_progress_add,
                               .progress.what = "people"};
    struct cli_parser p;
    int code;

    s.grid.how.ctx = &s.progress;
    code = simulate_options(&s, &p, argc, argv);

    if (code == CLI_DONE && !s.stop) {
        s.rows = calloc(SIMULATE_ROWS_MAX, sizeof *s.rows);
        code = s.rows != NULL ? study_all(&s, &p) : cli_fail_nomem();
    }
    study_end(&s);
    return code;
}
