/* shuffle.c - hearsay shuffle: a shuffler, its keys, its statements. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "cli/base/tasks.h"
#include "host/base/day.h"
#include "host/tasks/keys.h"
#include "host/yaml/yaml.h"

#include <stdlib.h>
#include <string.h>

#define SHUFFLE_NAME 4096u /* bytes of a key file's name */

struct shuffle_how {
    struct serve_how serve; /* the first member: options of both set it */
    const char *output, *sign_key, *seal_key, *operator;
    struct cli_texts gateway_keys;
    uint64_t release, place, of, min_batch, max_wait, close_after;
    uint32_t from, until; /* days; until: the last */
};

/* ---- Options ------------------------------------------------------------- */

static bool shuffle_close_after(struct cli_parser *p, void *to)
{
    struct shuffle_how *how = to;

    if (yaml_seconds(&how->close_after, p->value) &&
        how->close_after <= (uint64_t)30 * 86400)
        return true;
    cli_usage(p, "--close-after takes a time, at most 30d, e.g. 6h");
    return false;
}

/* ---- Keys ---------------------------------------------------------------- */

static int shuffle_keys(void *to)
{
    const struct shuffle_how *how = to;
    static const struct {
        const char *suffix;
        bool seal;
    } pairs[] = {{"-sign", false}, {"-seal", true}, {"-gateway", true}};
    int failed = 0;

    for (size_t i = 0; !failed && i < sizeof pairs / sizeof pairs[0]; i++) {
        char name[SHUFFLE_NAME];

        if (snprintf(name, sizeof name, "%s%s", how->output, pairs[i].suffix) >=
            (int)sizeof name)
            return cli_fail("%s: the name is too long", how->output);
        failed = cli_keys_write(name, pairs[i].seal);
    }
    return failed;
}

/* ---- Statements ---------------------------------------------------------- */

static int shuffle_fill(hsy_statement *s, const struct shuffle_how *how)
{
    const char *task = how->serve.parser.operands[0];
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
        return cli_fail("'%s' is not a task id: use at most %u characters",
                        task, HSY_TASK_ID);
    if (strlen(how->operator) > HSY_OPERATOR_MAX)
        return cli_fail("--operator: use at most %u bytes", HSY_OPERATOR_MAX);
    memcpy(s->task, task, strlen(task));
    memcpy(s->operated_by, how->operator, strlen(how->operator));
    if (keys_seal_public(s->seal_key, how->seal_key, &err) != HSY_OK)
        return cli_fail_file(how->seal_key, &err);
    for (size_t i = 0; i < how->gateway_keys.n; i++)
        if (keys_seal_public(s->gateway[s->gateway_keys++],
                             how->gateway_keys.at[i], &err) != HSY_OK)
            return cli_fail_file(how->gateway_keys.at[i], &err);
    return 0;
}

static int shuffle_statement(void *to)
{
    const struct shuffle_how *how = to;
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

/* ---- The command --------------------------------------------------------- */

#define SHUFFLE(member) offsetof(struct shuffle_how, member)

static const struct cli_option shuffle_options[] = {
    SERVE_ROWS("serve check", "data directory (created if missing)"),
    {"next", "URL", "address of the next shuffler or of the collector",
     CLI_INTO_CALL, .call = serve_setting, .verbs = "serve check"},
    {"output", "FILE",
     "keys: writes FILE-sign, FILE-seal and FILE-gateway, each as .secret and "
     ".public\nstatement: output file",
     CLI_INTO_FILE, SHUFFLE(output), .verbs = "keys statement"},
    {"sign-key", "FILE", "secret key to sign with", CLI_INTO_TEXT,
     SHUFFLE(sign_key), .verbs = "statement"},
    {"seal-key", "FILE", "public key to seal envelopes for", CLI_INTO_TEXT,
     SHUFFLE(seal_key), .verbs = "statement"},
    {"gateway-key", "FILE...",
     "public key of this shuffler's gateway, which devices that pin the "
     "shuffler want named",
     CLI_INTO_TEXTS, SHUFFLE(gateway_keys), .high = HSY_STATEMENT_GATEWAYS,
     .verbs = "statement"},
    {"operator", "TEXT", "name of the shuffler's operator, one line",
     CLI_INTO_TEXT, SHUFFLE(operator), .verbs = "statement"},
    {"release", "N", "release of the task", CLI_INTO_COUNT, SHUFFLE(release), 1,
     UINT32_MAX, .preset = "1", .verbs = "statement"},
    {"place", "N", "position of this shuffler in the chain", CLI_INTO_COUNT,
     SHUFFLE(place), 1, 8, .preset = "1", .verbs = "statement"},
    {"of", "N", "number of shufflers in the chain", CLI_INTO_COUNT, SHUFFLE(of),
     1, 8, .preset = "1", .verbs = "statement"},
    {"min-batch", "N", "minimum uploads per batch", CLI_INTO_COUNT,
     SHUFFLE(min_batch), 2, 1u << 19, .verbs = "statement"},
    {"max-wait", "N", "days that a smaller batch waits before it is erased",
     CLI_INTO_COUNT, SHUFFLE(max_wait), 0, 366, .preset = "2",
     .verbs = "statement"},
    {"close-after", "TIME",
     "delay between the end of a day and the closing of its batch",
     CLI_INTO_CALL, .call = shuffle_close_after, .preset = "6h",
     .verbs = "statement"},
    {"from", "DAY", "first day of the statement, such as 2026-12-01",
     CLI_INTO_DAY, SHUFFLE(from), .verbs = "statement"},
    {"until", "DAY", "last day of the statement", CLI_INTO_DAY, SHUFFLE(until),
     .verbs = "statement"},
    {0}};

static const struct cli_verb shuffle_verbs[] = {
    {"serve", "[hearsay.yaml]", "[options]", .run = serve_runs,
     .about = "Run a shuffler."},
    {"check", "[hearsay.yaml]", "[options]", .run = serve_checks,
     .about = "Report every error in the configuration."},
    {"keys", NULL, "-o NAME", "output", shuffle_keys,
     .about = "Make the signing and opening keys of a shuffler."},
    {"statement", "TASK", "--min-batch N -o FILE [options]",
     "min-batch sign-key seal-key operator from until output",
     shuffle_statement, .about = "Sign a shuffler's promise about a task."},
    {0}};

static const struct cli_command shuffle_command = {
    "shuffle",
    NULL,
    "Run a shuffler: take sealed reports, mix whole batches and pass them on "
    "without\nnames, order and times. 'keys' makes its keys. 'statement' signs "
    "its promise\nabout a task (docs/run-a-shuffler.md). When ready, 'serve' "
    "prints one line with\nits addresses. SIGHUP reloads its files, SIGTERM "
    "stops it.",
    shuffle_options,
    .verbs = shuffle_verbs,
    .apart = true};

int cmd_shuffle(int argc, char **argv)
{
    struct shuffle_how how = {.serve.shuffles = true};
    const int code =
        cli_run(&how.serve.parser, &shuffle_command, argc, argv, &how);

    serve_how_clear(&how.serve);
    return code;
}
