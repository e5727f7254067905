/* estimate_show.c - estimates for a person, a spreadsheet, a program. */
#include "cli/estimate/internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- What a row is called ------------------------------------------------ */

static void show_own(struct cli_cell *out)
{
    out->type = CLI_TEXT;
    out->text = out->shown;
    out->len = strlen(out->shown);
}

void estimate_name(const struct gather *g, const struct estimate_asked *asked,
                   uint32_t place, struct cli_cell *out)
{
    const struct labels *named = &asked->candidates;

    if (named->d == 0)
        named = &g->labels;
    if (g->info.kind == HSY_KIND_YES_NO) {
        *out = cli_text(place == 0 ? "yes" : "no");
    } else if (g->info.kind == HSY_KIND_NUMBER) {
        *out = cli_text("mean");
    } else if (g->info.kind == HSY_KIND_BINS) {
        shares_bin(out->shown, &g->info, place);
        show_own(out);
    } else if (named->d != 0) {
        out->type = CLI_TEXT;
        out->text = labels_at(named, place, &out->len);
    } else {
        snprintf(out->shown, sizeof out->shown, "%" PRIu32, place);
        show_own(out);
    }
}

/* ---- Cells --------------------------------------------------------------- */

enum show_what {
    SHOW_VALUE,
    SHOW_ESTIMATE,
    SHOW_STDERR,
    SHOW_LOW,
    SHOW_HIGH,
    SHOW_LOW_LYING,
    SHOW_HIGH_LYING,
    SHOW_POST,
    SHOW_P,
    SHOW_LEVEL,
    SHOW_BAR
};

#define SHOW_COLUMNS 9u
#define SHOW_BAR_MAX 24

struct show_state {
    const struct estimate_result *result;
    enum show_what what[SHOW_COLUMNS];
    struct cli_column columns[SHOW_COLUMNS];
    size_t ncolumns;
    int decimals; /* in tables */
    double scale; /* 100 for shares, in tables */
    const char *unit;
    double longest; /* the largest share, for bars */
};

static void show_add(struct show_state *s, enum show_what what,
                     const char *name, const char *title)
{
    s->what[s->ncolumns] = what;
    s->columns[s->ncolumns++] = (struct cli_column){name, title};
}

static double show_number(const struct shares_row *row, enum show_what what)
{
    switch (what) {
    case SHOW_ESTIMATE:
        return row->est.value;
    case SHOW_STDERR:
        return row->est.sd;
    case SHOW_LOW:
        return row->est.low;
    case SHOW_HIGH:
        return row->est.high;
    case SHOW_LOW_LYING:
        return row->low_lying;
    case SHOW_HIGH_LYING:
        return row->high_lying;
    case SHOW_POST:
        return row->post;
    default:
        return row->p_value;
    }
}

static void show_bar(const struct show_state *s, const struct shares_row *row,
                     struct cli_cell *out)
{
    double share = s->longest > 0 ? row->est.value / s->longest : 0;
    int n = (int)(SHOW_BAR_MAX * fmin(fmax(share, 0), 1) + 0.5);

    memset(out->shown, '#', (size_t)n);
    out->shown[n] = '\0';
    show_own(out);
}

static void show_scaled(const struct show_state *s, double x,
                        struct cli_cell *out)
{
    *out = cli_number(x);
    if (out->type == CLI_NUMBER)
        snprintf(out->shown, sizeof out->shown, "%.*f%s", s->decimals,
                 s->scale * x, s->unit);
}

/* The last row: what is not among those above. */
static void show_rest(const struct show_state *s, enum show_what what,
                      struct cli_cell *out)
{
    const struct shares_row row = {
        .est = s->result->rest, .low_lying = NAN, .high_lying = NAN};

    if (what == SHOW_VALUE)
        *out = cli_text("(not shown)");
    else if (what == SHOW_LEVEL)
        *out =
            cli_number(isnan(row.est.sd) ? NAN : s->result->options->how.level);
    else if (what == SHOW_BAR)
        *out = cli_text("");
    else if (what != SHOW_POST && what != SHOW_P)
        show_scaled(s, show_number(&row, what), out);
}

static void show_cell(const void *ctx, size_t row, size_t column,
                      struct cli_cell *out)
{
    const struct show_state *s = ctx;
    const struct shares_row *r = &s->result->rows[row];
    enum show_what what = s->what[column];

    if (row == s->result->count) {
        show_rest(s, what, out);
    } else if (what == SHOW_VALUE) {
        estimate_name(s->result->gather, s->result->asked, r->place, out);
    } else if (what == SHOW_BAR) {
        show_bar(s, r, out);
    } else if (what == SHOW_LEVEL) {
        *out = cli_number(s->result->level);
    } else if (what == SHOW_P) {
        *out = cli_number(r->p_value);
        snprintf(out->shown, sizeof out->shown, "%.3g", r->p_value);
    } else {
        show_scaled(s, show_number(r, what), out);
    }
}

/* ---- A table for a person ------------------------------------------------ */

/* As many decimals as give the smallest standard error two digits. */
static int show_decimals(const struct estimate_result *r, double scale)
{
    double least = INFINITY;
    int decimals;

    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].est.sd > 0 && r->rows[i].est.sd < least)
            least = r->rows[i].est.sd;
    }
    if (!isfinite(least))
        return 4;
    decimals = 1 - (int)floor(log10(scale * least));
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

static const char *show_interval(const struct estimate_result *r)
{
    if (r->no_interval != NULL)
        return "none";
    return r->density != HSY_DENSITY_AUTO
               ? "linear"
               : estimate_interval_names[r->options->how.interval];
}

/* "N reports", or what a release has instead. */
static void show_reports(const struct gather *g)
{
    const uint64_t reports = hsy_tally_reports(&g->tally);
    const double people = hsy_central_people(g->scheme, &g->tally);

    if (g->info.central)
        printf("%" PRIu64 " release%s about %.0f people\n", reports,
               reports == 1 ? "" : "s", people);
    else
        printf("%" PRIu64 " report%s\n", reports, reports == 1 ? "" : "s");
}

const char *estimate_among(const struct estimate_options *o)
{
    return o->how.target == HSY_PEOPLE
               ? "among those who answered"
               : "in the population they are a sample of";
}

const char *const estimate_said[] = {"level",  "target",  "assume_lying",
                                     "rounds", "devices", "reports",
                                     "notes",  NULL};

struct estimate_notes estimate_notes(const struct gather *g)
{
    const struct shares_tally t = gathered(g);
    enum shares_note_code codes[SHARES_NOTES];
    struct estimate_notes notes = {
        .n = shares_notes(codes, &t, g->rounds.n != 0)};

    for (size_t i = 0; i < notes.n; i++)
        notes.text[i] = shares_note(codes[i])->text;
    return notes;
}

struct estimate_notes estimate_result_notes(const struct estimate_result *r)
{
    struct estimate_notes notes = estimate_notes(r->gather);
    enum shares_note_code codes[SHARES_COMPARED];
    const size_t n = shares_compared(codes, r->paired, r->overlap);

    for (size_t i = 0; i < n; i++)
        notes.text[notes.n++] = shares_note(codes[i])->text;
    return notes;
}

struct cli_cell estimate_rounds(const struct gather *g)
{
    return g->attends ? cli_count(g->attended.rounds) : cli_text(NULL);
}

struct cli_cell estimate_devices(const struct gather *g)
{
    return g->attends ? cli_count(g->attended.devices) : cli_text(NULL);
}

void estimate_attendance_say(const struct gather *g)
{
    const struct estimate_notes notes = estimate_notes(g);

    if (notes.n != 0)
        printf("%" PRIu64 " rounds, %" PRIu64 " devices in the largest\n",
               g->attended.rounds, g->attended.devices);
    for (size_t i = 0; i < notes.n; i++)
        printf("%s\n", notes.text[i]);
}

/* What the difference of two tallies takes for granted. */
static void show_compared(const struct estimate_result *r)
{
    const size_t own = estimate_notes(r->gather).n;
    const struct estimate_notes notes = estimate_result_notes(r);

    if (r->paired)
        printf("at most %" PRIu64 " devices in all\n", r->options->devices);
    for (size_t i = own; i < notes.n; i++)
        printf("%s\n", notes.text[i]);
}

/* Rows that were selected have intervals of a higher level. */
static void show_selected(const struct estimate_result *r)
{
    if (r->level == r->options->how.level)
        putchar('\n');
    else
        printf(",\nadjusted for selection: the %zu largest of %zu are shown, "
               "so each has the level %.8g %%\n",
               r->count, r->of, 100 * r->level);
}

static void show_head(const struct estimate_result *r)
{
    const struct estimate_options *o = r->options;
    const hsy_scheme_info *info = &r->gather->info;

    printf("%s, epsilon %.9g (exactly %.16g), ", info->mechanism, info->epsilon,
           info->epsilon_exact);
    show_reports(r->gather);
    if (r->other != NULL) {
        printf("minus %s, epsilon %.9g, ", r->other->info.mechanism,
               r->other->info.epsilon);
        show_reports(r->other);
    }
    printf("%s %s; ", info->kind == HSY_KIND_NUMBER ? "mean" : "shares",
           estimate_among(o));
    if (r->no_interval != NULL)
        printf("no intervals: %s\n", r->no_interval);
    else {
        printf("%.14g %% intervals (%s)%s", 100 * o->how.level,
               show_interval(r), o->simultaneous ? ", all at once" : "");
        show_selected(r);
    }
    if (r->density == HSY_DENSITY_EMS)
        puts("smoothed (ems); --density em has noisier shares, and intervals");
    if (o->lying != 0)
        estimate_lying_say(r);
    estimate_attendance_say(r->gather);
    show_compared(r);
    putchar('\n');
}

static void show_columns(struct show_state *s)
{
    const struct estimate_options *o = s->result->options;
    bool mean = s->result->gather->info.kind == HSY_KIND_NUMBER;
    bool difference = s->result->other != NULL;

    show_add(s, SHOW_VALUE, "value", NULL);
    show_add(s, SHOW_ESTIMATE, "estimate",
             difference ? "difference"
             : mean     ? "estimate"
                        : "share");
    show_add(s, SHOW_STDERR, "stderr", "std. error");
    show_add(s, SHOW_LOW, "low", "from");
    show_add(s, SHOW_HIGH, "high", "to");
    if (o->lying != 0) {
        show_add(s, SHOW_LOW_LYING, "low_lying", "liars: from");
        show_add(s, SHOW_HIGH_LYING, "high_lying", "to");
    }
    if (o->post != HSY_POST_NONE)
        show_add(s, SHOW_POST, "post", estimate_post_names[o->post]);
    if (difference)
        show_add(s, SHOW_P, "p_value", "p-value");
    if (s->result->count < s->result->of)
        show_add(s, SHOW_LEVEL, "level_selected", "");
    if (difference)
        return;
    if (o->format == CLI_TABLE && !mean && o->lying == 0)
        show_add(s, SHOW_BAR, "bar", "(of the largest)");
}

static void show_prepare(struct show_state *s)
{
    const struct estimate_result *r = s->result;
    bool mean = r->gather->info.kind == HSY_KIND_NUMBER;

    s->scale = mean ? 1 : 100;
    s->unit = mean ? "" : " %";
    s->decimals = show_decimals(r, s->scale);
    for (size_t i = 0; i < r->count; i++)
        s->longest = fmax(s->longest, r->rows[i].est.value);
    show_columns(s);
}

/* ---- All three ----------------------------------------------------------- */

/* Places of fields of json. */
enum {
    SHOW_REPORTS = 3,
    SHOW_LYING_P = 9,
    SHOW_LIFETIME,
    SHOW_RELEASES = SHOW_LIFETIME + 3,
    SHOW_PEOPLE,
    SHOW_WHY,
    SHOW_UNEXPLAINED = SHOW_PEOPLE + 5
};

#define SHOW_AGAINST 7u /* fields of json that only --against has, */
#define SHOW_LYING 3u   /* ... and that only --assume-lying has */

static void show_against(struct cli_field fields[SHOW_AGAINST],
                         const struct estimate_result *r)
{
    const struct gather *other = r->other;

    fields[0].cell = cli_text(other->info.mechanism);
    fields[1].cell = cli_number(other->info.epsilon);
    fields[2].cell = cli_number(other->info.epsilon_exact);
    if (!other->info.central) /* which has none */
        fields[3].cell = cli_count(hsy_tally_reports(&other->tally));
    fields[4].cell = cli_bool(r->paired);
    fields[5].cell = cli_bool(r->overlap);
    if (r->options->devices != 0)
        fields[6].cell = cli_count(r->options->devices);
}

static void show_lying(struct cli_field fields[SHOW_LYING],
                       const struct estimate_result *r)
{
    fields[0] =
        (struct cli_field){"assume_lying", cli_number(r->options->lying)};
    fields[1] = (struct cli_field){"lying_up", cli_number(r->lying.up)};
    fields[2] = (struct cli_field){"lying_down", cli_number(r->lying.down)};
}

/* Fields that only some results have. */
static void show_optional(struct cli_field *fields,
                          const struct estimate_result *r)
{
    const hsy_scheme_info *info = &r->gather->info;

    if (r->options->format == CLI_JSON)
        fields[SHOW_LYING_P].cell = estimate_lying_p(r->gather);
    if (info->epsilon_permanent > 0)
        fields[SHOW_LIFETIME].cell = cli_number(info->epsilon_permanent);
    if (r->no_interval != NULL)
        fields[SHOW_WHY].cell = cli_text(r->no_interval);
    if (info->central) {
        fields[SHOW_RELEASES].cell = fields[SHOW_REPORTS].cell;
        fields[SHOW_REPORTS].cell.type = CLI_NONE;
        fields[SHOW_PEOPLE].cell = cli_number(
            hsy_central_people(r->gather->scheme, &r->gather->tally));
    }
    if (r->has_rest)
        fields[SHOW_UNEXPLAINED].cell = cli_estimate(&r->rest);
}

void estimate_show(const struct estimate_result *r)
{
    const struct estimate_options *o = r->options;
    const hsy_scheme_info *info = &r->gather->info;
    const struct estimate_notes notes = estimate_result_notes(r);
    struct show_state s = {.result = r};
    struct cli_table table;
    struct cli_field fields[] = {
        {"mechanism", cli_text(info->mechanism)},
        {"epsilon", cli_number(info->epsilon)},
        {"epsilon_exact", cli_number(info->epsilon_exact)},
        {"reports", cli_count(hsy_tally_reports(&r->gather->tally))},
        {"level", cli_number(o->how.level)},
        {"interval", cli_text(show_interval(r))},
        {"simultaneous", cli_bool(o->simultaneous)},
        {"target", cli_text(estimate_target_names[o->how.target])},
        {"post", cli_text(estimate_post_names[o->post])},
        {"lying_p", {.type = CLI_NONE}},
        {"epsilon_permanent", {.type = CLI_NONE}},
        {"rounds", estimate_rounds(r->gather)},
        {"devices", estimate_devices(r->gather)},
        {"releases", {.type = CLI_NONE}},
        {"people", {.type = CLI_NONE}},
        {"why", {.type = CLI_NONE}},
        {"selected", cli_count(r->count)},
        {"of", cli_count(r->of)},
        {"level_selected", cli_number(r->level)},
        {"unexplained", {.type = CLI_NONE}},
        {"kind", cli_text(hsy_kind_name(info->kind))},
        {"notes", cli_list(notes.text, notes.n)},
        {"mechanism_against", {.type = CLI_NONE}},
        {"epsilon_against", {.type = CLI_NONE}},
        {"epsilon_exact_against", {.type = CLI_NONE}},
        {"reports_against", {.type = CLI_NONE}},
        {"paired", {.type = CLI_NONE}},
        {"overlap", {.type = CLI_NONE}},
        {"devices_in_all", {.type = CLI_NONE}},
        {NULL, {.type = CLI_NONE}}, /* SHOW_LYING of them */
        {NULL, {.type = CLI_NONE}},
        {NULL, {.type = CLI_NONE}},
    };
    size_t nfields =
        sizeof fields / sizeof fields[0] - SHOW_AGAINST - SHOW_LYING;

    show_optional(fields, r);
    show_prepare(&s);
    table = (struct cli_table){
        s.columns, s.ncolumns,
        r->count + (r->has_rest && o->format != CLI_JSON), show_cell, &s};
    if (r->other != NULL) {
        show_against(fields + nfields, r);
        nfields += SHOW_AGAINST;
    }
    if (o->lying != 0) {
        show_lying(fields + nfields, r);
        nfields += SHOW_LYING;
    }
    if (r->no_interval != NULL && o->format == CLI_CSV)
        cli_note("note: no intervals: %s", r->no_interval);
    if (o->format == CLI_TABLE)
        show_head(r);
    cli_print_said(o->format, &table, fields, nfields, "estimates",
                   estimate_said);
}
