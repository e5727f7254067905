/* shuffle.c - hearsay shuffle: a shuffler, its keys, its statements. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "cli/base/tasks.h"
#include "host/base/day.h"
#include "host/tasks/keys.h"
#include "host/yaml/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHUFFLE_NAME 4096u /* bytes of a key file's name */

struct shuffle_how {
    struct serve_how serve; /* the first member: options of both set it */
    const char *output, *sign_key, *seal_key, *operator;
    uint64_t release, place, of, min_batch, max_wait, close_after;
    uint32_t from, until; /* days; until: the last */
};

/* ---- Options ------------------------------------------------------------- */

static bool shuffle_day(struct cli_parser *p, void *to)
{
    struct shuffle_how *how = to;
    uint32_t *day = strcmp(p->name, "from") == 0 ? &how->from : &how->until;

    if (day_parse(day, p->value) && *day != 0)
        return true;
    cli_usage(p, "--%s takes a day, as 2026-12-31", p->name);
    return false;
}

static bool shuffle_close_after(struct cli_parser *p, void *to)
{
    struct shuffle_how *how = to;

    if (yaml_seconds(&how->close_after, p->value) &&
        how->close_after <= (uint64_t)30 * 86400)
        return true;
    cli_usage(p, "--close-after takes a length of time, at most 30d, as 6h");
    return false;
}

#define SHUFFLE(member) offsetof(struct shuffle_how, member)

static const struct cli_option shuffle_options[] = {
    {0, "data", "DIR", "serve: where envelopes wait; made if missing",
     CLI_INTO_CALL, .call = serve_data},
    {0, "document", "FILE", "serve: the collector's signed tasks",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "public-key", "FILE", "serve: who signs them", CLI_INTO_CALL,
     .call = serve_public_key},
    {0, "listen", "ADDRESS", "serve: for devices and shufflers before this one",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "admin", "ADDRESS", "serve: for /readyz, /metrics and batches",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "admin-open", NULL, "serve: no tokens there; only on this machine",
     CLI_INTO_CALL, .call = serve_admin_open},
    {0, "next", "URL", "serve: the next shuffler, or the collector",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "set", "KEY=VALUE...", "serve: any other field of hearsay.yaml",
     CLI_INTO_CALL, .call = serve_set_pair},
    {0, "accept-clock", NULL, "serve: believe today's date once", CLI_INTO_FLAG,
     SHUFFLE(serve.accept_clock)},
    {0, "rehearsal", "FILE", "serve: take the time from FILE", CLI_INTO_CALL,
     .call = serve_setting},
    {0, "output", "FILE",
     "keys: FILE-sign, FILE-seal and FILE-gateway, each\n"
     ".secret and .public; statement: write there",
     CLI_INTO_TEXT, SHUFFLE(output)},
    {0, "sign-key", "FILE", "statement: the secret key that signs it",
     CLI_INTO_TEXT, SHUFFLE(sign_key)},
    {0, "seal-key", "FILE",
     "statement: the public key that envelopes are\n"
     "sealed for",
     CLI_INTO_TEXT, SHUFFLE(seal_key)},
    {0, "operator", "TEXT", "statement: who runs the shuffler, one line",
     CLI_INTO_TEXT, SHUFFLE(operator)},
    {0, "release", "N", "statement: of the task (default 1)", CLI_INTO_COUNT,
     SHUFFLE(release), 1, UINT32_MAX},
    {0, "place", "N", "statement: it opens as the Nth (default 1)",
     CLI_INTO_COUNT, SHUFFLE(place), 1, 8},
    {0, "of", "N", "statement: of so many shufflers (default 1)",
     CLI_INTO_COUNT, SHUFFLE(of), 1, 8},
    {0, "min-batch", "N", "statement: uploads of a batch, at least",
     CLI_INTO_COUNT, SHUFFLE(min_batch), 2, 1u << 24},
    {0, "max-wait", "N",
     "statement: epochs for which fewer wait, until they\n"
     "are erased (default 2)",
     CLI_INTO_COUNT, SHUFFLE(max_wait), 0, 366},
    {0, "close-after", "TIME",
     "statement: after the end of its epoch a batch is\n"
     "closed (default 6h)",
     CLI_INTO_CALL, .call = shuffle_close_after},
    {0, "from", "DAY", "statement: its first day", CLI_INTO_CALL,
     .call = shuffle_day},
    {0, "until", "DAY", "statement: its last day", CLI_INTO_CALL,
     .call = shuffle_day},
    {0}};

static const struct cli_command shuffle_command = {
    "shuffle",
    "serve [hearsay.yaml] [options] | "
    "check [hearsay.yaml] [options] | "
    "keys -o NAME | "
    "statement TASK --min-batch N -o FILE [options]",
    "Run a shuffler: take sealed reports, mix whole batches, pass them on "
    "without\n"
    "names, order and times. 'keys' makes what it signs and opens with, "
    "'statement'\n"
    "signs what it promises about a task (docs/run-a-shuffler.md). 'serve' "
    "prints one\n"
    "line with its addresses when it is ready. SIGHUP reads files again, "
    "SIGTERM ends\n"
    "it.",
    shuffle_options, .operand = serve_operand};

/* ---- Serve and check ----------------------------------------------------- */

static int shuffle_serve(struct shuffle_how *how)
{
    return serve_run(&how->serve);
}

static int shuffle_check(struct shuffle_how *how)
{
    return serve_check(&how->serve);
}

/* ---- Keys ---------------------------------------------------------------- */

static int shuffle_keys(struct shuffle_how *how)
{
    static const struct {
        const char *suffix;
        bool seal;
    } pairs[] = {{"-sign", false}, {"-seal", true}, {"-gateway", true}};
    int failed = 0;

    for (size_t i = 0; !failed && i < sizeof pairs / sizeof pairs[0]; i++) {
        char name[SHUFFLE_NAME];

        if (snprintf(name, sizeof name, "%s%s", how->output, pairs[i].suffix) >=
            (int)sizeof name)
            return cli_fail("%s: too long a name", how->output);
        failed = cli_keys_write(name, pairs[i].seal);
    }
    return failed;
}

/* ---- Statements ---------------------------------------------------------- */

static int shuffle_fill(hsy_statement *s, const struct shuffle_how *how)
{
    const char *task = how->serve.words[1];
    hsy_error err = {0};

    *s = (hsy_statement){.release = (uint32_t)how->release,
                         .place = (uint32_t)how->place,
                         .of = (uint32_t)how->of,
                         .min_batch = (uint32_t)how->min_batch,
                         .max_wait = (uint32_t)how->max_wait,
                         .close_after_seconds = (uint32_t)how->close_after,
                         .from = how->from,
                         .until = how->until + 1};
    if (strlen(task) > HSY_TASK_ID)
        return cli_fail("'%s' is no task's id: at most %u letters", task,
                        HSY_TASK_ID);
    if (strlen(how->operator) > HSY_OPERATOR_MAX)
        return cli_fail("--operator: at most %u bytes", HSY_OPERATOR_MAX);
    memcpy(s->task, task, strlen(task));
    memcpy(s->operated_by, how->operator, strlen(how->operator));
    if (keys_seal_public(s->seal_key, how->seal_key, &err) != HSY_OK)
        return cli_fail_file(how->seal_key, &err);
    return 0;
}

static int shuffle_statement(struct shuffle_how *how)
{
    uint8_t secret[HSY_SIGN_SECRET], wire[HSY_STATEMENT_WIRE];
    hsy_error err = {0};
    hsy_statement s;
    int failed = shuffle_fill(&s, how);

    if (!failed)
        failed = cli_secret_read(secret, how->sign_key);
    if (failed)
        return failed;
    if (keys_sign_statement(wire, &s, secret, &err) != HSY_OK)
        failed = cli_fail_error("statement", &err);
    explicit_bzero(secret, sizeof secret);
    return failed ? failed : cli_write_file(how->output, wire, sizeof wire);
}

/* ---- What to do ---------------------------------------------------------- */

#define SHUFFLE_SERVES                                                         \
    "data document public-key listen admin admin-open next set accept-clock "  \
    "rehearsal"

static const struct shuffle_action {
    const char *name;
    int (*run)(struct shuffle_how *how);
    size_t least, most; /* operands */
    const char *operand;
    const char *needs, *takes;
} shuffle_actions[] = {
    {"serve", shuffle_serve, 0, 1, "a hearsay.yaml, or options", "",
     SHUFFLE_SERVES},
    {"check", shuffle_check, 0, 1, "a hearsay.yaml, or options", "",
     SHUFFLE_SERVES},
    {"keys", shuffle_keys, 0, 0, "no file, only -o NAME", "output", "output"},
    {"statement", shuffle_statement, 1, 1, "a TASK",
     "min-batch sign-key seal-key operator from until output",
     "release place of min-batch max-wait close-after sign-key seal-key "
     "operator from until output"},
};

#define SHUFFLE_ACTIONS (sizeof shuffle_actions / sizeof shuffle_actions[0])

static int shuffle_fits(struct cli_parser *p, const struct shuffle_action *a,
                        const struct shuffle_how *how)
{
    const char *stray = cli_stray(p, a->takes);
    const char *lacking = cli_lacking(p, a->needs);
    const size_t n = how->serve.nwords - 1;

    if (n < a->least || n > a->most)
        return cli_usage(p, "'shuffle %s' takes %s", a->name, a->operand);
    if (stray != NULL)
        return cli_usage(p, "--%s does not go with 'shuffle %s'", stray,
                         a->name);
    if (lacking != NULL)
        return cli_usage(p, "'shuffle %s' needs --%s", a->name, lacking);
    if (a->most == 1 && a->least == 0 && n == 0 && how->serve.nsettings == 0)
        return cli_usage(p, "name a hearsay.yaml, or say --data, --document, "
                            "--public-key and --next");
    if (how->output != NULL && strcmp(how->output, "-") == 0)
        return cli_usage(p, "-o needs the name of a file");
    return 0;
}

static int shuffle_run(struct cli_parser *p, struct shuffle_how *how)
{
    const char *near = NULL;
    size_t i = SHUFFLE_ACTIONS;
    int failed;

    if (how->serve.nwords != 0)
        i = cli_find(shuffle_actions, sizeof shuffle_actions[0],
                     SHUFFLE_ACTIONS, how->serve.words[0], &near);
    if (i == SHUFFLE_ACTIONS && near != NULL)
        return cli_usage(p, "no 'shuffle %s'; did you mean 'shuffle %s'?",
                         how->serve.words[0], near);
    if (i == SHUFFLE_ACTIONS)
        return cli_usage(p, "say what to do: serve, check, keys or statement");
    failed = shuffle_fits(p, &shuffle_actions[i], how);
    how->serve.file = how->serve.words[1]; /* NULL if there is none */
    return failed ? failed : shuffle_actions[i].run(how);
}

int cmd_shuffle(int argc, char **argv)
{
    struct shuffle_how how = {.serve = {.shuffles = true, .role = -1},
                              .release = 1,
                              .place = 1,
                              .of = 1,
                              .max_wait = 2,
                              .close_after = 21600};
    struct cli_parser p;
    int code = cli_read(&p, &shuffle_command, argc, argv, &how)
                   ? shuffle_run(&p, &how)
                   : p.exit;

    serve_how_clear(&how.serve);
    return code;
}
