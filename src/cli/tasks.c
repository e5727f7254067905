/* tasks.c - hearsay tasks: check, compile, show task files; make keys and
 * sheets. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks_show.h"

#include "host/tasks/task_cost.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tasks_how {
    const char *file;
    const char *against, *key, *next_key, *output;
    bool seal;
    struct tasks_show show;
};

/* ---- Check and compile --------------------------------------------------- */

/* Read a tasks.yaml and hold it against the document in force. */
static int tasks_sound(struct task_file *t, const struct tasks_how *how)
{
    struct task_file from = {0};
    const hsy_problem *p;
    int failed = cli_tasks_open(t, how->file, true);
    hsy_error err = {0};
    size_t before;

    if (failed)
        return failed;
    if (t->yaml == NULL)
        return cli_fail("%s: already compiled; use 'hearsay tasks show'",
                        how->file);
    if (how->against == NULL)
        return 0;
    before = hsy_tasks_problems(t->yaml, &p);
    failed = cli_tasks_document(&from, how->against);
    if (!failed && hsy_tasks_change(t->yaml, &from.doc, &err) != HSY_OK) {
        failed = CLI_FAILED;
        if (cli_tasks_say(t->yaml, how->file, before, true) == 0)
            failed = cli_fail_error(how->file, &err);
    }
    task_file_clear(&from);
    return failed;
}

static int tasks_run_check(void *to)
{
    const struct tasks_how *how = to;
    struct task_file t = {0};
    int failed = tasks_sound(&t, how);

    if (!failed)
        failed = tasks_show(&t, &how->show);
    task_file_clear(&t);
    return failed;
}

static int tasks_sign(const struct task_file *t, const struct tasks_how *how)
{
    uint8_t secret[HSY_SIGN_SECRET], next[HSY_SIGN_KEY], *bytes = NULL;
    hsy_error err = {0};
    size_t len = 0;
    int failed = cli_secret_read(secret, how->key);

    if (!failed && how->next_key != NULL)
        failed = cli_public_read(next, how->next_key);
    if (!failed &&
        hsy_tasks_compile(t->yaml, &bytes, &len, secret,
                          how->next_key != NULL ? next : NULL, &err) != HSY_OK)
        failed = cli_fail_error(how->key, &err);
    explicit_bzero(secret, sizeof secret);
    if (!failed)
        failed = cli_write_file(how->output, bytes, len);
    free(bytes);
    return failed;
}

static int tasks_run_compile(void *to)
{
    const struct tasks_how *how = to;
    struct task_file t = {0};
    int failed = tasks_sound(&t, how);

    if (!failed)
        failed = tasks_sign(&t, how);
    task_file_clear(&t);
    return failed;
}

/* ---- Show and keygen ----------------------------------------------------- */

/* What can be said of the signature. */
static int tasks_verify(const struct task_file *t, const struct tasks_how *how,
                        struct tasks_show *show)
{
    const size_t len = t->doc.len - HSY_SIGNATURE;
    uint8_t key[HSY_SIGN_KEY];
    int failed;

    if (t->yaml != NULL)
        return how->key == NULL
                   ? 0
                   : cli_fail(
                         "%s: a tasks.yaml is not signed; compile it first",
                         how->file);
    show->signature = "not checked (--key)";
    if (how->key == NULL)
        return 0;
    failed = cli_public_read(key, how->key);
    if (failed)
        return failed;
    if (!hsy_sign_verify(key, t->bytes + len, t->bytes, len))
        return cli_fail("%s: not signed by the key in %s", how->file, how->key);
    show->signature = "good";
    return 0;
}

static int tasks_run_show(void *to)
{
    const struct tasks_how *how = to;
    struct tasks_show show = how->show;
    struct task_file t = {0};
    int failed = cli_tasks_open(&t, how->file, false);

    if (!failed)
        failed = tasks_verify(&t, how, &show);
    if (!failed)
        failed = tasks_show(&t, &show);
    task_file_clear(&t);
    return failed;
}

static int tasks_run_sheet(void *to)
{
    const struct tasks_how *how = to;
    struct tasks_show show = how->show;
    struct task_costs costs = {0};
    struct task_file t = {0};
    hsy_error err = {0};
    size_t at = 0;
    int failed = cli_tasks_open(&t, how->file, false);

    if (!failed)
        failed = tasks_verify(&t, how, &show);
    if (!failed && task_costs_open(&costs, &t, &at, &err) != HSY_OK)
        failed = cli_fail_error(t.all[at].id, &err);
    if (!failed) {
        task_sheet_write(stdout, &t, &costs, show.signature);
        failed = cli_finish();
    }
    task_costs_clear(&costs);
    task_file_clear(&t);
    return failed;
}

static int tasks_run_keygen(void *to)
{
    const struct tasks_how *how = to;

    return cli_keys_write(how->output, how->seal);
}

/* ---- The command --------------------------------------------------------- */

#define TASKS(member) offsetof(struct tasks_how, member)

static const struct cli_option tasks_options[] = {
    {"against", "DOCUMENT",
     "document in force; refuse changes that make answers incomparable",
     CLI_INTO_TEXT, TASKS(against), .verbs = "check compile"},
    {"key", "FILE",
     "secret key to sign with (compile), or public key to verify with (sheet, "
     "show)",
     CLI_INTO_TEXT, TASKS(key), .verbs = "compile sheet show"},
    {"next-key", "FILE", "public key that may also sign later versions",
     CLI_INTO_TEXT, TASKS(next_key), .verbs = "compile"},
    {"output", "FILE",
     "document to write, whole or not at all; keygen writes FILE.secret and "
     "FILE.public",
     CLI_INTO_FILE, TASKS(output), .verbs = "compile keygen"},
    {"seal", NULL,
     "make an encryption key pair (X25519), for a gateway or collector",
     CLI_INTO_FLAG, TASKS(seal), .verbs = "keygen"},
    {"labels", NULL, "print each task's privacy label, in plain words",
     CLI_INTO_FLAG, TASKS(show.labels), .verbs = "show", .without = "format"},
    {"format", "table|csv|json", "output format", CLI_INTO_FORMAT,
     TASKS(show.format), .preset = "table", .verbs = "check show"},
    {0}};

static const struct cli_verb tasks_verbs[] = {
    {"check", "FILE", "[--against DOCUMENT]", .run = tasks_run_check,
     .about = "Read a tasks.yaml and report every error in it."},
    {"compile", "FILE", "--key SECRET -o DOCUMENT [options]", "key output",
     tasks_run_compile,
     .about = "Compile a tasks.yaml to one signed document."},
    {"keygen", NULL, "-o NAME [--seal]", "output", tasks_run_keygen,
     .about = "Make a key pair."},
    {"sheet", "FILE|DOCUMENT", "[--key PUBLIC]", .run = tasks_run_sheet,
     .about = "Fill in a deployment sheet: who sees what, and for how long."},
    {"show", "FILE|DOCUMENT", "[--key PUBLIC] [--labels] [--format F]",
     .run = tasks_run_show,
     .about = "Show the tasks of a tasks.yaml or document."},
    {0}};

static const struct cli_command tasks_command = {
    "tasks", NULL,
    "Check a tasks.yaml, report every error with its line, and compile it to "
    "a\nsigned document. 'show' prints tasks and costs, 'sheet' a "
    "data-protection\nsummary; 'keygen' makes keys.",
    tasks_options, .verbs = tasks_verbs};

int cmd_tasks(int argc, char **argv)
{
    struct tasks_how how = {0};
    struct cli_parser p;

    if (!cli_read(&p, &tasks_command, argc, argv, &how))
        return p.exit;
    how.file = p.operands[0];
    return p.verb->run(&how);
}
