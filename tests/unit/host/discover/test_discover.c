/* test_discover.c - searches planned, and their stages as task files: what they
 * hold, and what is refused with which code. */
#define _POSIX_C_SOURCE 200809L
#include "host/discover/discover.h"

#include "rig/trial.h"
#include "tap.h"

#include <math.h>

#define PEOPLE 3000u

static const struct discover_aim aim = {.frequency = 0.05, .miss = 0.05};
static const hsy_search any = {.size = sizeof any};

static struct discover_batches asked(void)
{
    struct discover_batches b = {
        .nano_epsilon = 4 * (uint64_t)HSY_NANO, .bits = 16, .alphabet = "a-z"};

    discover_settle(&b);
    return b;
}

static hsy_spec first(void)
{
    const struct discover_batches b = asked();
    enum discover_wrong wrong;
    hsy_spec spec;

    if (discover_first(&spec, &wrong, &b, NULL) != HSY_OK)
        abort();
    return spec;
}

/* ---- Plans --------------------------------------------------------------- */

static void plans_of_one_round(void)
{
    hsy_spec pem = trial_values("pem", 0, 2), sfp = trial_values("sfp", 0, 4);
    const hsy_puzzle how = {.size = sizeof how};
    struct discover_plan plan;
    hsy_search few = any;
    hsy_error err = {0};
    hsy_scheme *s;
    double most = 0;

    pem.kind = sfp.kind = HSY_KIND_STRINGS;
    s = trial_scheme(&pem);
    ok(discover_plan_groups(&plan, s, &any, &aim, &err) == HSY_OK &&
           plan.count > 1 && plan.groups == plan.count,
       "a stage a group");
    for (size_t i = 0; i < plan.count; i++)
        most = fmax(most, plan.row[i].users);
    near(plan.users, most * (double)plan.count, 1e-9,
         "the hungriest sets the number");
    near(plan.row[0].epsilon, 2, 1e-12, "each has all of epsilon");
    few.max_candidates = 1;
    ok(discover_plan_groups(&plan, s, &few, &aim, &err) == HSY_E_RANGE &&
           err.limit > 1,
       "what a search refuses is passed on");
    free(s);
    s = trial_scheme(&sfp);
    ok(discover_plan_puzzle(&plan, s, &how, &aim, &err) == HSY_OK &&
           plan.count == 2 && plan.groups > 1,
       "a puzzle has fragments, and the word");
    near(plan.row[0].epsilon + plan.row[1].epsilon, 4, 1e-12,
         "which share epsilon");
    near(plan.users, fmax(plan.row[0].users, plan.row[1].users), 0,
         "of both all who answer count");
    free(s);
}

static void plans_of_batches(void)
{
    hsy_spec spec = first();
    struct discover_plan plan;
    hsy_search few = any;
    hsy_error err = {0};
    double parts = 0;

    ok(discover_plan_batches(&plan, &spec, &any, &aim, &err) == HSY_OK &&
           plan.count == 2 && plan.wrong == DISCOVER_FINE,
       "16 bits by 8 are two batches");
    for (size_t i = 0; i < plan.count; i++)
        parts += plan.row[i].part;
    near(parts, 1, 1e-12, "everybody is in one of them");
    is_u64(plan.row[1].stage.candidates, plan.row[0].stage.keep << 8,
           "the second asks for what the first leaves, continued");
    few.alpha = 1;
    ok(discover_plan_batches(&plan, &spec, &few, &aim, &err) == HSY_E_RANGE &&
           plan.wrong == DISCOVER_SEARCH,
       "a chance of 1 is the search's fault");
    spec.oracle = "nix";
    ok(discover_plan_batches(&plan, &spec, &any, &aim, &err) != HSY_OK &&
           plan.wrong == DISCOVER_SCHEME,
       "an oracle that does not exist is the spec's");
}

/* ---- The first stage ----------------------------------------------------- */

static void refused(struct discover_batches b, enum discover_wrong want,
                    const char *sentence)
{
    enum discover_wrong wrong = DISCOVER_FINE;
    hsy_error err = {0};
    hsy_spec spec;

    ok(discover_first(&spec, &wrong, &b, &err) != HSY_OK && wrong == want &&
           err.status != HSY_OK && err.msg != NULL,
       "%s", sentence);
}

static void what_holds_for_all_stages(void)
{
    struct discover_batches b = {0};
    hsy_spec spec = first();

    discover_settle(&b);
    ok(b.bits == 48 && b.step == 8 && b.top == 16 && b.keep == 2 &&
           b.candidates == HSY_SEARCH_CANDIDATES,
       "what is not said has a value");
    is_u64(spec.param[HSY_PARAM_MAX_CANDIDATES], 32 << 8,
           "there is room for all that goes on, continued");
    b.step = 7;
    refused(b, DISCOVER_STEP, "steps that do not divide the bits");
    b = asked();
    b.alphabet = "z-a";
    refused(b, DISCOVER_ALPHABET, "an alphabet that is none");
    b = asked();
    b.candidates = 32 * 256 - 1;
    refused(b, DISCOVER_WIDTH, "more candidates than are allowed");
    b = asked();
    b.bits = 42;
    b.step = 21;
    refused(b, DISCOVER_WIDTH, "a step that nobody searches");
}

static hsy_task task(void)
{
    hsy_task t = discover_task(20000, 20000 + DISCOVER_DAYS);

    strcpy(t.id, "words");
    strcpy(t.source, "typed");
    t.question = "Say \"a\"";
    t.question_len = strlen(t.question);
    return t;
}

static void files(void)
{
    hsy_spec spec = first();
    struct discover_file file;
    hsy_error err = {0};
    hsy_task t = task();

    ok(discover_stage_file(&file, &t, &spec, 3, &err) == HSY_OK &&
           strlen(file.text) == file.len,
       "a first stage becomes a file");
    ok(strstr(file.text, "# Stage 1 of 2 of a search in batches.") != NULL &&
           strstr(file.text, "version: 3\n") != NULL &&
           strstr(file.text, "    question: \"Say \\\"a\\\"\"\n") != NULL &&
           strstr(file.text, "    epsilon: 4\n") != NULL &&
           strstr(file.text, "    end: 2024-10-10\n") != NULL &&
           strstr(file.text, "prefixes") == NULL,
       "that says what it is, and all that is asked");
    free(file.text);
    t.end = t.start;
    ok(discover_stage_file(&file, &t, &spec, 3, &err) != HSY_OK &&
           file.wrong == DISCOVER_DOCUMENT && file.text == NULL,
       "a task of no day is no document");
    t = task();
    spec.nano_epsilon = 0;
    ok(discover_stage_file(&file, &t, &spec, 3, &err) != HSY_OK &&
           file.wrong == DISCOVER_SCHEME && file.text == NULL,
       "without privacy there is no scheme");
}

/* ---- The next stage ------------------------------------------------------ */

/* Two words in three are ab, the others ba; all of a spec's stage. */
struct answered {
    hsy_scheme *s;
    hsy_scheme_info info;
    hsy_tally tally;
    hsy_analysis_tally t;
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_task task;
};

static void answer(struct answered *a, const hsy_spec *spec, size_t people)
{
    uint64_t *codes = trial_memory((people + 1) * sizeof *codes);
    hsy_stream secret, published;
    uint8_t *reports;

    a->s = trial_scheme(spec);
    hsy_scheme_describe(a->s, &a->info);
    hsy_scheme_encode(a->s, a->wire);
    a->task = task();
    a->task.scheme = a->wire;
    hsy_tally_init(&a->tally, a->s, trial_memory(8 * hsy_tally_words(a->s)));
    a->t = (hsy_analysis_tally){
        .scheme = a->s, .info = &a->info, .tally = &a->tally};
    reports = trial_memory((people + 1) * a->info.report_bytes);
    hsy_stream_seed(&secret, 5, 0);
    hsy_stream_seed(&published, 5, 1);
    for (size_t i = 0; i < people; i++) {
        const hsy_truth truth = {.type = HSY_TRUTH_BYTES,
                                 .u.bytes = {i % 3 == 0 ? "ba" : "ab", 2, 0}};
        uint64_t code[HSY_SPELL_WORDS];

        if (hsy_truth_code(a->s, code, &truth, NULL) != HSY_OK)
            abort();
        codes[i] = code[0];
    }
    if (hsy_simulate_batch(a->s, reports, codes, people, &secret, &published,
                           NULL) != HSY_OK ||
        hsy_tally_batch(&a->tally, a->s, reports, people, NULL) != HSY_OK)
        abort();
    free(reports);
    free(codes);
}

static void answered_close(struct answered *a)
{
    free(a->tally.cells);
    free(a->s);
}

static enum discover_wrong next_wrong(const struct answered *a,
                                      const struct discover_done *done)
{
    struct discover_next next;
    hsy_error err = {0};

    if (discover_next(&next, &a->t, done, &err) == HSY_OK) {
        free(next.file.text);
        return DISCOVER_FINE;
    }
    return next.file.text == NULL && err.status != HSY_OK ? next.file.wrong
                                                          : DISCOVER_FINE;
}

static void a_stage_follows(void)
{
    const hsy_spec spec = first();
    struct answered a;
    struct discover_done done = {.task = &a.task, .version = 4};
    struct discover_next next;
    hsy_error err = {0};

    answer(&a, &spec, PEOPLE);
    done.search = (hsy_search){
        .size = sizeof done.search, .top = 4, .keep = 2, .significant = true};
    ok(discover_next(&next, &a.t, &done, &err) == HSY_OK && next.stage == 1 &&
           next.stages == 2 && next.survivors >= 2 && next.survivors <= 8,
       "what is more than chance makes goes on");
    ok(strstr(next.file.text, "version: 5\n") != NULL &&
           strstr(next.file.text, "release: 2\n") != NULL &&
           strstr(next.file.text, "prefixes: [") != NULL &&
           strstr(next.file.text, "# Stage 2 of 2") != NULL,
       "into the next version of the file, as the next release");
    free(next.file.text);
    done.search.top = 17;
    ok(discover_next(&next, &a.t, &done, &err) == HSY_E_RANGE &&
           next.file.wrong == DISCOVER_ROOM && next.room == 32 &&
           next.top * next.keep == 34,
       "no more than the search was begun for");
    done.search.top = 4;
    done.search.alpha = 1;
    ok(next_wrong(&a, &done) == DISCOVER_SEARCH, "what a search refuses");
    done.search.alpha = 0;
    done.end = a.task.start;
    ok(next_wrong(&a, &done) == DISCOVER_DOCUMENT, "an end before its start");
    answered_close(&a);
}

static void two_that_belong_together(void)
{
    hsy_spec spec = first(), yes = trial_values("grr", 3, 1), last = spec;
    struct answered a, other, none;
    struct discover_done done = {.search = any};
    /* One label of eight bits: two digits. */
    static const uint8_t labels[] = {2, 0, 0, 0, '0', '8'};

    last.param[HSY_PARAM_PREFIX_BITS] = 16;
    last.labels = labels;
    last.labels_len = sizeof labels;
    last.d = 1;
    answer(&a, &spec, 3);
    spec.nano_epsilon /= 2;
    answer(&other, &spec, 0);
    answer(&none, &last, 0);
    none.task.labels = labels;
    none.task.labels_len = sizeof labels;
    done.task = &other.task;
    ok(next_wrong(&a, &done) == DISCOVER_OTHER_TASK,
       "a tally of another epsilon");
    ok(next_wrong(&other, &done) == DISCOVER_EMPTY, "one without reports");
    done.task = &none.task;
    ok(next_wrong(&a, &done) == DISCOVER_OTHER_STAGE, "of another stage");
    none.tally.strata[0] = 1;
    ok(next_wrong(&none, &done) == DISCOVER_LAST, "nothing follows the last");
    none.task.labels_len = 0;
    ok(next_wrong(&none, &done) == DISCOVER_RELEASE,
       "a task that no device takes");
    free(other.s);
    other.s = trial_scheme(&yes);
    hsy_scheme_encode(other.s, other.wire);
    done.task = &other.task;
    ok(next_wrong(&a, &done) == DISCOVER_NO_STAGE, "or that is no search");
    answered_close(&a);
    answered_close(&other);
    answered_close(&none);
}

static void nothing_goes_on(void)
{
    const hsy_spec spec = first();
    struct answered a;
    struct discover_done done = {.task = &a.task};

    answer(&a, &spec, 2);
    done.search = (hsy_search){
        .size = sizeof done.search, .significant = true, .alpha = 1e-9};
    ok(next_wrong(&a, &done) == DISCOVER_NOTHING, "chance alone is not asked");
    answered_close(&a);
}

/* ---- A figure ------------------------------------------------------------ */

static void printed_found(const struct discover_found *f)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        abort();
    discover_print(to, TABLE_ALIGNED, f);
    discover_print(to, TABLE_JSON, f);
    fclose(to);
    ok(strstr(text, "stage 1 of ") != NULL && strstr(text, "(not shown)") &&
           strstr(text, "\"stage\": 1,") != NULL &&
           strstr(text, "\"unexplained\": {") != NULL,
       "and printed, what is not shown last or by itself");
    free(text);
}

static void printed_plans(void)
{
    const struct discover_plan plan = {
        .row = {{.stage = {.bits = 8, .oracle = "grr", .candidates = 256},
                 .epsilon = 2,
                 .part = 1,
                 .users = HUGE_VAL}},
        .count = 1,
        .groups = 1,
        .users = HUGE_VAL};
    const hsy_scheme_info pem = {.mechanism = "pem", .epsilon = 2},
                          sfp = {.mechanism = "sfp",
                                 .epsilon = 2,
                                 .analysis = HSY_ANALYSIS_PUZZLE};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        abort();
    discover_plan_print(to, TABLE_ALIGNED, &plan, &pem, &aim);
    discover_plan_print(to, TABLE_CSV, &plan, &sfp, &aim);
    discover_plan_print(to, TABLE_JSON, &plan, NULL, &aim);
    fclose(to);
    ok(strstr(text, "pem, epsilon 2: a string that 5 %") != NULL &&
           strstr(text, "            inf\n") != NULL,
       "a plan of one round, also one that nobody can fill");
    ok(strstr(text, "part,bits,oracle,epsilon,candidates,variance,users\n"
                    "fragment,8,grr,2,256,0,\n") != NULL,
       "of a puzzle");
    ok(strstr(text, "\"mechanism\": \"stage\",\n  \"epsilon\": 2,") != NULL &&
           strstr(text, "\"epsilon_same_people\": 2,") != NULL,
       "and of batches");
    free(text);
}

static void figures(void)
{
    const hsy_spec spec = first();
    const struct analysis_wanted wanted = {
        .search = any, .how.level = 0.95, .significant = true};
    struct analysis_search got;
    struct answered a;
    struct discover_found f = {
        .tally = &a.t, .got = &got, .level = 0.95, .miss = 0.05};
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;

    answer(&a, &spec, PEOPLE);
    if (analysis_search(&got, &a.t, &wanted, &err) != HSY_OK)
        abort();
    ok(discover_svg(&svg, &len, &f, &err) == HSY_OK &&
           strstr(svg, "Strings that were found") != NULL &&
           strstr(svg, "adjusted for selection") != NULL,
       "what was found is drawn, and its intervals told");
    free(svg);
    f.simultaneous = true;
    ok(discover_svg(&svg, &len, &f, &err) == HSY_OK &&
           strstr(svg, "all at once") != NULL,
       "also those that hold together");
    free(svg);
    printed_found(&f);
    analysis_search_clear(&got);
    answered_close(&a);
}

int main(void)
{
    plans_of_one_round();
    plans_of_batches();
    what_holds_for_all_stages();
    files();
    a_stage_follows();
    two_that_belong_together();
    nothing_goes_on();
    figures();
    printed_plans();
    return tap_done();
}
