/* test_options.c - arguments by a table: what is read, what is refused. */
#define _GNU_SOURCE /* a stream that is assigned to */
#include "cli/base/base.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

struct peel {
    const char *output;
    bool raw, fine;
    uint64_t users;
    uint32_t small, day;
    double share, part;
    int sort;
    struct cli_texts knives;
    struct cli_numbers sizes;
    struct cli_words names;
    unsigned runs;
};

static int peel_run(void *to)
{
    ((struct peel *)to)->runs++;
    return 0;
}

static const char *const peel_sorts[] = {"apple", "pear", NULL};

#define PEEL(member) offsetof(struct peel, member)

static const struct cli_option peel_rows[] = {
    {"output", "FILE", "there", CLI_INTO_OUTPUT, PEEL(output)},
    {"raw", NULL, "as it is", CLI_INTO_FLAG, PEEL(raw),
     .without = "fine users"},
    {"fine", NULL, "thinly", CLI_INTO_FLAG, PEEL(fine), .with = "users small"},
    {"users", "N", "people", CLI_INTO_COUNT, PEEL(users), 1, 2000000,
     .preset = "7"},
    {"small", "N", "few", CLI_INTO_COUNT32, PEEL(small), 0, 9,
     .verbs = "skin core"},
    {"share", "S", "of all", CLI_INTO_SHARE, PEEL(share)},
    {"part", "S", "of all, or all", CLI_INTO_CHANCE, PEEL(part), 1, 1},
    {"sort", "NAME", "which", CLI_INTO_CHOICE, PEEL(sort), .words = peel_sorts},
    {"day", "DAY", "when", CLI_INTO_DAY, PEEL(day)},
    {"knife", "NAME...", "with", CLI_INTO_TEXTS, PEEL(knives), .high = 2},
    {"sizes", "N,...", "how large", CLI_INTO_COUNTS, PEEL(sizes), 1, 100},
    {"names", "A,...", "who", CLI_INTO_WORDS, PEEL(names)},
    {0}};

static const struct cli_verb peel_verbs[] = {
    {"skin", "FRUIT [BOWL]", .run = peel_run},
    {"core", NULL, NULL, "users|share", peel_run},
    {"mash", "FRUIT...", .run = peel_run},
    {0}};

static const struct cli_command peel_command = {"peel", NULL, "Peel.",
                                                peel_rows, .verbs = peel_verbs};

static char *peel_said; /* what it complained about */

/* Read a line of words, as a shell would split them. */
static int peel(struct peel *to, struct cli_parser *p, const char *line)
{
    static char words[256];
    static char *argv[32];
    FILE *err = stderr;
    size_t len;
    int argc = 1, code;

    *to = (struct peel){0};
    snprintf(words, sizeof words, "%s", line);
    argv[0] = "peel";
    for (char *word = strtok(words, " "); word != NULL;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    free(peel_said);
    stderr = open_memstream(&peel_said, &len);
    code = cli_run(p, &peel_command, argc, argv, to);
    fclose(stderr);
    stderr = err;
    return code;
}

static void is_read(const char *line)
{
    struct peel to;
    struct cli_parser p;

    ok(eq_int(peel(&to, &p, line), 0) && eq_u64(to.runs, 1) &&
           eq_text(peel_said, ""),
       "is read: %s", line);
}

static void is_refused(const char *line, const char *why)
{
    struct peel to;
    struct cli_parser p;

    ok(eq_int(peel(&to, &p, line), 2) && eq_u64(to.runs, 0) &&
           strstr(peel_said, why) != NULL,
       "%s: %s", line, why);
    if (strstr(peel_said, why) == NULL)
        fprintf(stderr, "# %s", peel_said);
}

static void values_are_put_where_they_go(void)
{
    struct peel to;
    struct cli_parser p;

    peel(&to, &p,
         "core --users 1.5e3 --share=25% --part 0 --sort pear "
         "--day 1970-01-03 --knife a --knife b -o - --sizes 1,2e1 "
         "--names x,y");
    is_u64(to.users, 1500, "a count as 1.5e3");
    ok(to.share == 0.25 && to.part == 0, "shares, also as per cent");
    ok(eq_int(to.sort, 1) && eq_u64(to.day, 2), "a word, a day");
    ok(eq_u64(to.knives.n, 2) && eq_text(to.knives.at[1], "b") &&
           to.knives.at[2] == NULL,
       "an option given again");
    ok(eq_u64(to.sizes.n, 2) && eq_u64(to.sizes.at[1], 20), "a list of counts");
    ok(eq_u64(to.names.n, 2) && eq_text(to.names.at[0], "x") &&
           eq_text(to.names.at[1], "y"),
       "a list of words");
    ok(to.output == NULL && cli_given(&p, "output"), "- is standard output");
    peel(&to, &p, "skin bowl");
    ok(eq_u64(to.users, 7) && !cli_given(&p, "users"),
       "what is not given has its preset");
    peel(&to, &p, "--share 1/4 skin -- -fruit --users");
    ok(to.share == 0.25 && eq_int(p.noperands, 2) &&
           eq_text(p.operands[0], "-fruit") &&
           eq_text(p.operands[1], "--users") && p.operands[2] == NULL &&
           cli_does(&p, "skin"),
       "operands and the verb, wherever options stand");
}

static void what_goes_together(void)
{
    is_read("core --users 3");
    is_read("core --share 1%");
    is_read("skin a --fine --users 3");
    is_read("skin a b --fine --small 0");
    is_read("mash a b c d e");
    is_refused("core", "'peel core' needs --users or --share");
    is_refused("skin a --fine", "--fine needs --users or --small");
    is_refused("skin a --raw --users 3", "--raw cannot be used with --users");
    is_refused("mash a --small 3",
               "--small is only for 'peel skin' or 'peel core'");
    is_refused("skin", "'peel skin' takes FRUIT [BOWL]");
    is_refused("skin a b c", "unexpected argument 'c'");
    is_refused("core x", "unexpected argument 'x'");
    is_refused("", "missing subcommand: skin, core or mash");
    is_refused("--users 3", "missing subcommand");
}

static void what_was_meant(void)
{
    is_refused("corr --users 3",
               "unknown command 'peel corr'; did you mean 'peel core'?");
    is_refused("zzzz", "unknown command 'peel zzzz'\n");
    is_refused("core --user 3", "unknown option --user; did you mean --users?");
    is_refused("skin a --sort aple",
               "one of: apple, pear; did you mean 'apple'?");
    is_refused("skin a --sort grape", "one of: apple, pear\n");
    is_refused("skin a -x", "unknown option -x");
}

static void what_is_no_value(void)
{
    static const char *const counts[] = {"1e-1", "0",    "1.55e1", "1e7", "e3",
                                         "1e",   "1.e2", ".5e1",   "1.5", "-1",
                                         "1e99", "0x3",  "+3"};
    static const char *const shares[] = {"0", "1",   "100%", "5e-1", "-0.5",
                                         "%", "1/0", "3/2",  "1/4%"};
    char line[64];

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        snprintf(line, sizeof line, "skin a --users=%s", counts[i]);
        is_refused(line, "--users takes an integer from 1 to 2000000");
    }
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        snprintf(line, sizeof line, "skin a --share=%s", shares[i]);
        is_refused(line, "--share takes a share above 0 and below 1");
    }
    is_read("skin a --part 1e-6");
    is_read("skin a --part 100%");
    is_refused("skin a --part 1.1", "--part takes a share from 0 up to 1");
    is_refused("skin a --knife a --knife b --knife c", "at most 2 times");
    is_refused("skin a --users 1 --users 2", "twice");
    is_refused("skin a --users", "needs a value: --users N");
    is_refused("skin a --raw=1", "takes no value");
    is_refused("skin a --sizes 1,,2", "an item of the list is empty");
    is_refused("skin a --sizes 1,101", "integers from 1 to 100");
    is_refused("skin a --day 2026-02-30", "--day takes a day");
}

static void counts_are_exact(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"1e6", 1000000},
                {"1.25e2", 125},
                {"1.50e1", 15},
                {"0e5", 0},
                {"10e0", 10},
                {"1.8446744073709551615e19", UINT64_MAX},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"1.8446744073709551616e19", "2e19",
                                      "18446744073709551616", "1.25e1", ""};
    uint64_t x = 0;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ok(cli_parse_count(&x, good[i].text) && eq_u64(x, good[i].value), "%s",
           good[i].text);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(!cli_parse_count(&x, bad[i]), "no count: '%s'", bad[i]);
}

int main(void)
{
    values_are_put_where_they_go();
    what_goes_together();
    what_was_meant();
    what_is_no_value();
    counts_are_exact();
    free(peel_said);
    return tap_done();
}
