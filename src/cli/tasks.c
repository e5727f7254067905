/* tasks.c - hearsay tasks: check, compile, show task files; make keys. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TASKS_KEY = 1,
    TASKS_OUTPUT,
    TASKS_AGAINST,
    TASKS_NEXT_KEY,
    TASKS_LABELS,
    TASKS_FORMAT
};

static const struct cli_option tasks_options[] = {
    {TASKS_AGAINST, "against", "DOCUMENT",
     "check, compile: what is in force; what may not\n"
     "change without a new release is refused"},
    {TASKS_KEY, "key", "FILE",
     "compile: the secret key that signs\n"
     "show: the public key that must have signed"},
    {TASKS_NEXT_KEY, "next-key", "FILE",
     "compile: a public key that may sign from the\n"
     "next version on, beside the present one"},
    {TASKS_OUTPUT, "output", "FILE",
     "compile: write there, whole or not at all;\n"
     "keygen: FILE.secret and FILE.public"},
    {TASKS_LABELS, "labels", NULL,
     "show: what each task means, in plain words"},
    CLI_FORMAT_OPTION(TASKS_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command tasks_command = {
    "tasks",
    "check FILE [--against DOCUMENT] | "
    "compile FILE --key SECRET -o DOCUMENT [options] | "
    "keygen -o NAME | "
    "show FILE|DOCUMENT [--key PUBLIC] [--labels] [--format F]",
    "What devices are asked: read a tasks.yaml, find everything that is wrong\n"
    "with it, each with its line, and compile it to one signed document.",
    tasks_options};

struct tasks_how {
    const char *action, *file;
    const char *against, *key, *next_key, *output;
    struct tasks_show show;
    uint64_t given; /* a bit for each option */
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

static int tasks_run_keygen(const struct tasks_how *how)
{
    return cli_keys_write(how->output);
}

/* ---- Options ------------------------------------------------------------- */

#define TASKS_BIT(id) ((uint64_t)1 << (id))

/* What each action needs, and what it takes beside that. */
static const struct tasks_action {
    const char *name;
    int (*run)(const struct tasks_how *how);
    bool file;
    uint64_t needs, takes;
} tasks_actions[] = {
    {"check", tasks_run_check, true, 0,
     TASKS_BIT(TASKS_AGAINST) | TASKS_BIT(TASKS_FORMAT)},
    {"compile", tasks_run_compile, true,
     TASKS_BIT(TASKS_KEY) | TASKS_BIT(TASKS_OUTPUT),
     TASKS_BIT(TASKS_AGAINST) | TASKS_BIT(TASKS_NEXT_KEY)},
    {"keygen", tasks_run_keygen, false, TASKS_BIT(TASKS_OUTPUT), 0},
    {"show", tasks_run_show, true, 0,
     TASKS_BIT(TASKS_KEY) | TASKS_BIT(TASKS_LABELS) | TASKS_BIT(TASKS_FORMAT)},
};

#define TASKS_ACTIONS (sizeof tasks_actions / sizeof tasks_actions[0])

static bool tasks_operand(struct cli_parser *p, struct tasks_how *how)
{
    const char **place = how->action == NULL ? &how->action : &how->file;

    if (*place != NULL) {
        cli_usage(p, "one file at a time: '%s' is one too many", p->value);
        return false;
    }
    *place = p->value;
    return true;
}

static bool tasks_option(struct cli_parser *p, int id, struct tasks_how *how)
{
    if (id == CLI_OPERAND)
        return tasks_operand(p, how);
    how->given |= TASKS_BIT(id);
    switch (id) {
    case TASKS_KEY:
        how->key = p->value;
        return true;
    case TASKS_OUTPUT:
        how->output = p->value;
        return true;
    case TASKS_AGAINST:
        how->against = p->value;
        return true;
    case TASKS_NEXT_KEY:
        how->next_key = p->value;
        return true;
    case TASKS_LABELS:
        how->show.labels = true;
        return true;
    default:
        return cli_value_format(p, &how->show.format);
    }
}

static const struct tasks_action *tasks_find(struct cli_parser *p,
                                             const char *name)
{
    const char *names[TASKS_ACTIONS + 1] = {NULL};
    const char *near;

    for (size_t i = 0; i < TASKS_ACTIONS; i++) {
        names[i] = tasks_actions[i].name;
        if (name != NULL && strcmp(name, names[i]) == 0)
            return &tasks_actions[i];
    }
    near = name != NULL ? cli_nearest(name, names) : NULL;
    if (near != NULL)
        cli_usage(p, "no 'tasks %s'; did you mean 'tasks %s'?", name, near);
    else
        cli_usage(p, "say what to do: check, compile, keygen or show");
    return NULL;
}

static const char *tasks_option_name(int id)
{
    const struct cli_option *o = tasks_options;

    while (o->id != id)
        o++;
    return o->name;
}

/* Options that are missing, or that do not go with the action. */
static int tasks_fits(struct cli_parser *p, const struct tasks_action *a,
                      const struct tasks_how *how)
{
    if (a->file != (how->file != NULL))
        return cli_usage(p,
                         a->file ? "'tasks %s' needs a file"
                                 : "'tasks %s' takes no file, only -o NAME",
                         a->name);
    for (int id = TASKS_KEY; id <= TASKS_FORMAT; id++) {
        if (how->given & TASKS_BIT(id) & ~(a->needs | a->takes))
            return cli_usage(p, "--%s does not go with 'tasks %s'",
                             tasks_option_name(id), a->name);
        if (a->needs & TASKS_BIT(id) & ~how->given)
            return cli_usage(p, "'tasks %s' needs --%s", a->name,
                             tasks_option_name(id));
    }
    if (how->show.labels && how->given & TASKS_BIT(TASKS_FORMAT))
        return cli_usage(p, "--labels are plain words: no --format");
    if (how->output != NULL && strcmp(how->output, "-") == 0)
        return cli_usage(p, "-o needs the name of a file");
    return 0;
}

int cmd_tasks(int argc, char **argv)
{
    struct tasks_how how = {0};
    const struct tasks_action *action;
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &tasks_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END)
        if (id == CLI_STOP || !tasks_option(&p, id, &how))
            return p.exit;
    action = tasks_find(&p, how.action);
    if (action == NULL)
        return p.exit;
    failed = tasks_fits(&p, action, &how);
    return failed ? failed : action->run(&how);
}
