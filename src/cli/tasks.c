/* tasks.c - hearsay tasks: check, compile, show task files; make keys and
 * sheets. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks_show.h"

#include "host/tasks/task_sheet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tasks_how {
    const char *action, *file;
    const char *against, *key, *next_key, *output;
    bool seal;
    struct tasks_show show;
};

static bool tasks_operand(struct cli_parser *p, void *to)
{
    struct tasks_how *how = to;
    const char **place = how->action == NULL ? &how->action : &how->file;

    if (*place != NULL) {
        cli_usage(p, "one file at a time: '%s' is one too many", p->value);
        return false;
    }
    *place = p->value;
    return true;
}

#define TASKS(member) offsetof(struct tasks_how, member)

static const struct cli_option tasks_options[] = {
    {0, "against", "DOCUMENT",
     "check, compile: what is in force; what may not\n"
     "change without a new release is refused",
     CLI_INTO_TEXT, TASKS(against)},
    {0, "key", "FILE",
     "compile: the secret key that signs\n"
     "show, sheet: the public key that must have signed",
     CLI_INTO_TEXT, TASKS(key)},
    {0, "next-key", "FILE",
     "compile: a public key that may sign from the\n"
     "next version on, beside the present one",
     CLI_INTO_TEXT, TASKS(next_key)},
    {0, "output", "FILE",
     "compile: write there, whole or not at all;\n"
     "keygen: FILE.secret and FILE.public",
     CLI_INTO_TEXT, TASKS(output)},
    {0, "seal", NULL, "keygen: a pair to seal for, of a gateway or collector",
     CLI_INTO_FLAG, TASKS(seal)},
    {0, "labels", NULL, "show: what each task means, in plain words",
     CLI_INTO_FLAG, TASKS(show.labels)},
    CLI_FORMAT_ROW(TASKS(show.format)),
    {0}};

static const struct cli_command tasks_command = {
    "tasks",
    "check FILE [--against DOCUMENT] | "
    "compile FILE --key SECRET -o DOCUMENT [options] | "
    "keygen -o NAME [--seal] | "
    "sheet FILE|DOCUMENT [--key PUBLIC] | "
    "show FILE|DOCUMENT [--key PUBLIC] [--labels] [--format F]",
    "What devices are asked: read a tasks.yaml, find everything that is wrong\n"
    "with it, each with its line, and compile it to one signed document.",
    tasks_options, .operand = tasks_operand};

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
        return cli_fail("%s: this is compiled already; 'hearsay tasks show' "
                        "shows it",
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

static int tasks_run_check(const struct tasks_how *how)
{
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

static int tasks_run_compile(const struct tasks_how *how)
{
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
                   : cli_fail("%s: a tasks.yaml is not signed; compile it",
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

static int tasks_run_show(const struct tasks_how *how)
{
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

static int tasks_run_sheet(const struct tasks_how *how)
{
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

static int tasks_run_keygen(const struct tasks_how *how)
{
    return cli_keys_write(how->output, how->seal);
}

/* ---- Actions ------------------------------------------------------------- */

/* What each action needs, and what it takes, which has what it needs. */
static const struct tasks_action {
    const char *name;
    int (*run)(const struct tasks_how *how);
    bool file;
    const char *needs, *takes;
} tasks_actions[] = {
    {"check", tasks_run_check, true, "", "against format"},
    {"compile", tasks_run_compile, true, "key output",
     "key output against next-key"},
    {"keygen", tasks_run_keygen, false, "output", "output seal"},
    {"sheet", tasks_run_sheet, true, "", "key"},
    {"show", tasks_run_show, true, "", "key labels format"},
};

#define TASKS_ACTIONS (sizeof tasks_actions / sizeof tasks_actions[0])

static int tasks_unknown(struct cli_parser *p, const char *name,
                         const char *near)
{
    if (near != NULL)
        return cli_usage(p, "no 'tasks %s'; did you mean 'tasks %s'?", name,
                         near);
    return cli_usage(p,
                     "say what to do: check, compile, keygen, sheet or show");
}

/* Options that are missing, or that do not go with the action. */
static int tasks_fits(struct cli_parser *p, const struct tasks_action *a,
                      const struct tasks_how *how)
{
    const char *stray = cli_stray(p, a->takes);
    const char *lacking = cli_lacking(p, a->needs);

    if (a->file != (how->file != NULL))
        return cli_usage(p,
                         a->file ? "'tasks %s' needs a file"
                                 : "'tasks %s' takes no file, only -o NAME",
                         a->name);
    if (stray != NULL)
        return cli_usage(p, "--%s does not go with 'tasks %s'", stray, a->name);
    if (lacking != NULL)
        return cli_usage(p, "'tasks %s' needs --%s", a->name, lacking);
    if (how->show.labels && cli_given(p, "format"))
        return cli_usage(p, "--labels are plain words: no --format");
    if (how->output != NULL && strcmp(how->output, "-") == 0)
        return cli_usage(p, "-o needs the name of a file");
    return 0;
}

int cmd_tasks(int argc, char **argv)
{
    struct tasks_how how = {0};
    struct cli_parser p;
    const char *near;
    size_t i;
    int failed;

    if (!cli_read(&p, &tasks_command, argc, argv, &how))
        return p.exit;
    i = cli_find(tasks_actions, sizeof tasks_actions[0], TASKS_ACTIONS,
                 how.action, &near);
    if (i == TASKS_ACTIONS)
        return tasks_unknown(&p, how.action, near);
    failed = tasks_fits(&p, &tasks_actions[i], &how);
    return failed ? failed : tasks_actions[i].run(&how);
}
