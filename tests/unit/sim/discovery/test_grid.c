/* test_grid.c - searches of many rows: what they are called, what they ask by,
 * and what is refused. */
#define _POSIX_C_SOURCE 200809L
#include "sim/discovery/discovery.h"

#include "tap.h"

#include <stdlib.h>

static void methods(void)
{
    struct discovery_method pem, tree, sfp, none;
    hsy_error err = {0};

    ok(discovery_method(&pem, "pem", &err) == HSY_OK &&
           pem.analysis == HSY_ANALYSIS_SEARCH && pem.oracle == NULL &&
           strcmp(pem.rule, "olh") == 0,
       "pem brings no oracle, and has a rule");
    ok(discovery_method(&tree, "treehist", &err) == HSY_OK &&
           strcmp(tree.oracle, "hcms") == 0 && tree.rule == pem.rule,
       "treehist brings its own");
    ok(discovery_method(&sfp, "sfp", &err) == HSY_OK &&
           sfp.analysis == HSY_ANALYSIS_PUZZLE,
       "sfp is a puzzle");
    ok(discovery_method(&none, "nix", &err) != HSY_OK &&
           discovery_method(&none, "rr", &err) != HSY_OK,
       "and others are no searches");
    ok(discovery_rule(0) == NULL, "what is no mechanism has no rule");
}

static void settling(void)
{
    struct discovery how = {.search = {.size = sizeof(hsy_search), .top = 16},
                            .batches = {.bits = 48, .rounds = 1}};
    struct discovery_method pem, tree;
    struct discovery own = how;

    if (discovery_method(&pem, "pem", NULL) != HSY_OK ||
        discovery_method(&tree, "treehist", NULL) != HSY_OK)
        abort();
    discovery_settle(&how, &pem);
    ok(how.batches.step == 8 && how.spec.param[HSY_PARAM_STEP] == 8 &&
           how.spec.param[HSY_PARAM_FIRST] == 4 &&
           strcmp(how.spec.mechanism, "pem") == 0,
       "steps of 8 after as many bits as 16 values take");
    discovery_settle(&own, &tree);
    ok(own.spec.param[HSY_PARAM_STEP] == 0 &&
           own.spec.param[HSY_PARAM_FIRST] == 0,
       "a name that brings an oracle brings its steps too");
}

static struct discovery_grid grid(const struct discovery_data *data,
                                  const char *const *mechanisms, size_t n)
{
    static const uint64_t epsilons[] = {4 * (uint64_t)HSY_NANO};
    struct discovery_grid g = {
        .data = data,
        .ndata = 1,
        .mechanisms = mechanisms,
        .nmechanisms = n,
        .epsilons = epsilons,
        .nepsilons = 1,
        .users = 2000,
        .how = {.spec = {.size = sizeof(hsy_spec)},
                .search = {.size = sizeof(hsy_search),
                           .top = 4,
                           .keep = 2,
                           .max_candidates = HSY_SEARCH_CANDIDATES},
                .batches = {.bits = 16, .step = 4, .rounds = 1},
                .runs = 2,
                .seed = 1,
                .threads = 1}};

    if (discovery_method(&g.method, "pem", NULL) != HSY_OK)
        abort();
    discovery_settle(&g.how, &g.method);
    return g;
}

/* The rows for a person and a program. */
static void rows_printed(const struct discovery_grid *g,
                         const struct discovery_result *r, size_t n)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        abort();
    discovery_print(to, TABLE_ALIGNED, g, r, n);
    discovery_print(to, TABLE_CSV, g, r, n);
    fclose(to);
    ok(strncmp(text, "mechanism  epsilon ", 19) == 0 &&
           strstr(text, "16 bits in steps of 4, top 4, 2 runs.") != NULL &&
           strstr(text, "Privacy: everybody is asked once") != NULL,
       "a table has what differs, and below what does not");
    ok(strstr(text, "\ndata,discover,interactive,mechanism,epsilon,") != NULL &&
           strstr(text, "\n\"a \"\"law\"\"\",pem,false,olh,4,2000,1,") != NULL,
       "csv has all of it");
    free(text);
}

static void puzzle_printed(void)
{
    double each[DISCOVERY_METRICS] = {[DISCOVERY_SECONDS] = 1.25};
    const struct discovery how = {
        .users = 9, .nwords = 2, .search = {.top = 1}, .runs = 1};
    const struct discovery_result r = {
        .info = {.mechanism = "sfp", .oracle = "hcms", .epsilon = 8},
        .mean = {[DISCOVERY_F1] = 0.5},
        .runs = 1,
        .each = each};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        abort();
    discovery_print_puzzles(to, TABLE_ALIGNED, &how, &r, 1, 3);
    discovery_print_puzzles(to, TABLE_CSV, &how, &r, 1, 3);
    fclose(to);
    ok(strncmp(text, "2 words, 3 left out", 19) == 0 &&
           strstr(text, "took 1.25 s") != NULL &&
           strstr(text, "\nsfp,hcms,8,9,2,0,0,0,0,1,1,0.5,0,") != NULL,
       "a puzzle's rows, and to a person how long it took");
    free(text);
}

static void rows(void)
{
    static const char *const mechanisms[] = {"auto", "cms"};
    static const char *const wrong[] = {"pem"};
    const hsy_spec asked = {
        .size = sizeof asked, .kind = HSY_KIND_VALUES, .d = 50};
    const struct study_data law = {.law = STUDY_ZIPF, .a = 1.5};
    struct discovery_data data = {.name = "a \"law\""};
    struct discovery_grid g = grid(&data, mechanisms, 2);
    struct discovery_result r[2] = {{0}};
    hsy_error err = {0};
    uint8_t *dump = NULL;
    size_t n = 0, len = 0;

    if (study_people_open(&data.people, &law, &asked, &err) != HSY_OK ||
        output_memory(&g.dump) != HSY_OK)
        abort();
    ok(discovery_grid_people(&g) == 8000,
       "two rows of two runs are so many people");
    ok(discovery_grid_check(&g, &err) == HSY_OK &&
           discovery_grid_run(&g, r, &n, &err) == HSY_OK && n == 2 &&
           strcmp(r[0].mechanism, "olh") == 0 &&
           strcmp(r[1].mechanism, "cms") == 0 && r[0].users == 2000,
       "by the rule, and by what is named");
    rows_printed(&g, r, n);
    if (output_take(g.dump, &dump, &len) != HSY_OK)
        abort();
    ok(len > 60 && memcmp(dump, "data,mechanism,epsilon,users,run,", 33) == 0 &&
           memcmp(strchr((char *)dump, '\n') + 1, "\"a \"\"law\"\"\",olh,4,",
                  18) == 0,
       "every run is dumped, names in quotes");
    free(dump);
    g = grid(&data, wrong, 1);
    ok(discovery_grid_check(&g, &err) != HSY_OK &&
           strcmp(g.refused, "pem") == 0,
       "what cannot ask is named");
    study_people_close(&data.people);
}

static void words(void)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "sfp",
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = 8 * (uint64_t)HSY_NANO};
    struct discovery_word *taken = NULL;
    struct labels list = {0};
    hsy_error err = {0};
    size_t n = 0;

    (void)hsy_alphabet_parse(spec.alphabet, "a-z", 3, NULL);
    if (labels_add(&list, "fig", 3, &err) != HSY_OK ||
        labels_add(&list, "42", 2, &err) != HSY_OK ||
        labels_add(&list, "pear", 4, &err) != HSY_OK)
        abort();
    ok(discovery_words(&taken, &n, &list, &spec, &err) == HSY_OK && n == 2 &&
           taken[1].len == 4 && memcmp(taken[1].text, "pear", 4) == 0,
       "words that the alphabet spells are taken");
    free(taken);
    taken = NULL;
    spec.mechanism = "nix";
    ok(discovery_words(&taken, &n, &list, &spec, &err) != HSY_OK &&
           taken == NULL,
       "of no scheme none");
    labels_clear(&list);
}

int main(void)
{
    methods();
    settling();
    rows();
    words();
    puzzle_printed();
    return tap_done();
}
