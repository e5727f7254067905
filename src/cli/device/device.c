/* device.c - hearsay device: the client of one person, from a shell. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include "host/client/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEVICE_DOCUMENT = 1,
    DEVICE_PUBLIC_KEY,
    DEVICE_POLICY,
    DEVICE_SOURCE,
    DEVICE_DAY,
    DEVICE_LIFETIME,
    DEVICE_ANCHOR,
    DEVICE_OUTPUT,
    DEVICE_MARK_SENT,
    DEVICE_TAKE,
    DEVICE_TOKEN,
    DEVICE_CA,
    DEVICE_ATTEMPTS,
    DEVICE_SECONDS,
    DEVICE_BACKOFF,
    DEVICE_ONE_CONNECTION,
    DEVICE_WAIT,
    DEVICE_NOW,
    DEVICE_FORMAT
};

#define DEVICE_WAIT_DEFAULT 10u
#define DEVICE_WAIT_MAX 86400u
#define DEVICE_ATTEMPTS_MAX 100u
#define DEVICE_BACKOFF_MAX 600000u

static const struct cli_option device_table[] = {
    {DEVICE_PUBLIC_KEY, "public-key", "FILE",
     "init: who signs the tasks ('tasks keygen')"},
    {DEVICE_DOCUMENT, "document", "FILE",
     "init: the signed tasks ('tasks compile')"},
    {DEVICE_SOURCE, "source", "NAME=A,D,L...",
     "init: epsilon at most: an answer, a day, ever\n"
     "(default: the document's sources with 2,5,10)"},
    {DEVICE_DAY, "day", "E", "init: all sources, a day (default 10)"},
    {DEVICE_LIFETIME, "lifetime", "E", "init: all sources, ever (default 20)"},
    {DEVICE_POLICY, "policy", "FILE", "init: all of that from a policy.yaml"},
    {DEVICE_ANCHOR, "anchor", "FILE",
     "init: a number kept elsewhere, by which a\n"
     "restored directory is noticed and refused"},
    {DEVICE_OUTPUT, "output", "FILE", "pack: write there ('-': stdout)"},
    {DEVICE_MARK_SENT, "mark-sent", NULL,
     "pack: count them as sent once FILE is durable"},
    {DEVICE_TAKE, "take", NULL, "send: first take the collector's tasks"},
    {DEVICE_TOKEN, "token", "FILE", "send, take: an enrolment token"},
    {DEVICE_CA, "ca", "FILE",
     "send, take: who signs the server's certificate\n"
     "(default: the system's list)"},
    {DEVICE_ATTEMPTS, "attempts", "N", "send, take: at most (default 5)"},
    {DEVICE_BACKOFF, "backoff", "MS",
     "... before the second, then doubling (default 1000)"},
    {DEVICE_SECONDS, "seconds", "S", "... for all of them (default 300)"},
    {DEVICE_ONE_CONNECTION, "one-connection", NULL,
     "send: all uploads over one connection: quicker,\n"
     "and the collector may see that they are yours"},
    {DEVICE_WAIT, "wait", "SECONDS",
     "for another process to be done (default 10)"},
    {DEVICE_NOW, "now", "TIME",
     "init: a device to rehearse with, its clock at a\n"
     "day (noon), 2026-01-31T08:30Z or seconds since\n"
     "1970; such a device wants it with every verb"},
    CLI_FORMAT_OPTION(DEVICE_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command device_command = {
    "device",
    "init DIR --public-key FILE --document FILE [options] | "
    "answer DIR TASK [VALUE] | "
    "budget|log|tasks|policy DIR | "
    "send DIR URL [options] | "
    "pack DIR [-o FILE] [--mark-sent] | "
    "consent DIR [none|collect|send] | "
    "forget DIR [SOURCE] | "
    "take DIR FILE|URL",
    "Answer as one device does. What an answer costs is written down before "
    "it\n"
    "is given; what is asked again is answered the same; no document can "
    "raise\n"
    "what the policy allows. The truth is read from standard input: a VALUE "
    "in\n"
    "the command line can be seen by others while the command runs. A new\n"
    "device neither answers nor sends before 'consent'.",
    device_table};

/* ---- Opening ------------------------------------------------------------- */

const char *device_file(struct device_job *j, const char *name)
{
    int n = snprintf(j->path, sizeof j->path, "%s/%s", j->directory, name);

    if (n > 0 && (size_t)n < sizeof j->path)
        return j->path;
    cli_fail("the directory's name is too long");
    return NULL;
}

int device_policy_file(struct policy *p, const char *path)
{
    hsy_problem *problems;
    hsy_error err = {0};
    size_t n;
    const hsy_status st = policy_read(p, path, &problems, &n, &err);

    for (size_t i = 0; i < n; i++)
        cli_problem_say(&problems[i], path, "source");
    free(problems);
    if (st == HSY_E_IO)
        return cli_fail("%s: %s", path, strerror(errno));
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st != HSY_OK && n == 0)
        return cli_fail("%s: %s", path, err.msg);
    return st == HSY_OK ? 0 : CLI_FAILED;
}

int device_read_policy(struct device_job *j)
{
    const char *path = device_file(j, "policy.yaml");

    if (path == NULL)
        return CLI_FAILED;
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return device_policy_file(&j->policy, path);
    path = device_file(j, "key");
    if (path != NULL && access(path, F_OK) == 0)
        return cli_fail("%s: policy.yaml is missing: what this device allows; "
                        "put it back",
                        j->directory);
    return cli_fail("%s: there is no device; make one with 'hearsay device "
                    "init'",
                    j->directory);
}

bool device_roll_forward(struct device_job *j)
{
    char from[DEVICE_PATH];
    const char *path = device_file(j, DEVICE_DRAFT);

    if (path == NULL)
        return false;
    memcpy(from, path, sizeof from);
    path = device_file(j, "document");
    return path != NULL && rename(from, path) == 0;
}

int device_open(struct device_job *j)
{
    hsy_host_options options;
    hsy_error err = {0};
    hsy_status st;
    const char *path;

    if (device_read_policy(j) != 0 || device_now_fits(j) != 0)
        return CLI_FAILED;
    options = device_host_options(j);
    do {
        path = device_file(j, "document");
        if (path == NULL)
            return CLI_FAILED;
        st = hsy_client_open(&j->client, j->directory, &j->policy.policy, path,
                             &options, &err);
    } while (st == HSY_E_OLD && device_roll_forward(j));
    return st == HSY_OK ? 0 : device_fail(j, &err);
}

int device_open_bare(struct device_job *j)
{
    hsy_host_options options;
    hsy_error err = {0};
    int failed = device_read_policy(j);

    if (!failed)
        failed = device_now_fits(j);
    if (failed)
        return failed;
    options = device_host_options(j);
    j->bare = calloc(1, hsy_device_size(&j->policy.policy) + 1);
    if (j->bare == NULL)
        return cli_fail_nomem();
    if (hsy_host_open(&j->host, j->directory, &options, &err) != HSY_OK)
        return device_fail(j, &err);
    if (hsy_device_open(j->bare, &j->policy.policy, hsy_host_world(j->host),
                        &err) == HSY_OK)
        return 0;
    hsy_world_explain(j->host, &err);
    return device_fail(j, &err);
}

void device_close(struct device_job *j)
{
    const hsy_host *host =
        j->client != NULL ? hsy_client_host(j->client) : j->host;

    if (host != NULL && !hsy_host_logged(host))
        cli_note("note: %s: the log could not be written; nothing else is "
                 "affected",
                 j->directory);
    hsy_client_close(j->client);
    if (j->bare != NULL && j->host != NULL)
        hsy_device_close(j->bare);
    free(j->bare);
    hsy_host_close(j->host);
    policy_clear(&j->policy);
    j->client = NULL; /* it may be opened again */
    j->bare = NULL;
    j->host = NULL;
}

/* ---- Answering ----------------------------------------------------------- */

/* One line of standard input, into text, and nothing after it. */
static int device_read_line(struct lines *lines, char text[LINES_LONGEST],
                            size_t *len)
{
    struct line line;
    hsy_error err = {0};
    size_t n = 0;
    hsy_status st = lines_next(lines, &line, 1, &n, &err);

    if (st == HSY_OK && n == 1) {
        memcpy(text, line.text, line.len);
        *len = line.len;
        st = lines_next(lines, &line, 1, &n, &err);
        n = n == 0;
    }
    if (st != HSY_OK)
        return cli_fail_line("standard input", &err);
    if (n != 1)
        return cli_fail("standard input: one answer, on one line, is wanted");
    return 0;
}

static int device_say(struct device_job *j, const char *text, size_t len)
{
    hsy_answer_state state = HSY_ANSWERED;
    hsy_error err = {0};
    int failed = device_open(j);

    if (failed)
        return failed;
    if (hsy_client_answer_text(j->client, j->how->operand[1], text, len, &state,
                               &err) != HSY_OK)
        return device_fail_task(j, j->how->operand[1], &err);
    device_say_state(j, state);
    return cli_finish();
}

/* The truth is read before the device is opened: nobody waits for typing. */
static int device_answer_line(struct device_job *j)
{
    char text[LINES_LONGEST];
    struct lines lines;
    size_t len = 0;
    int failed;

    if (lines_open(&lines, STDIN_FILENO) != HSY_OK)
        return cli_fail_nomem();
    failed = device_read_line(&lines, text, &len);
    lines_close(&lines);
    if (!failed)
        failed = device_say(j, text, len);
    explicit_bzero(text, sizeof text);
    return failed;
}

static int device_answer(struct device_job *j)
{
    int failed = cli_hide();

    if (failed)
        return failed;
    if (j->how->operands == 2)
        return device_answer_line(j);
    return device_say(j, j->how->operand[2], strlen(j->how->operand[2]));
}

/* ---- What the person decides --------------------------------------------- */

static int device_consent(struct device_job *j)
{
    hsy_error err = {0};
    uint64_t consent = 0;
    int failed;

    while (j->how->operands == 2 && hsy_world_consent_name(consent) != NULL &&
           strcmp(j->how->operand[1], hsy_world_consent_name(consent)) != 0)
        consent++;
    if (hsy_world_consent_name(consent) == NULL)
        return cli_usage(j->parser, "consent is one of: none, collect, send");
    failed = device_open_bare(j);
    if (failed)
        return failed;
    if (j->how->operands == 2 &&
        hsy_device_consent_set(j->bare, (hsy_consent)consent, &err) != HSY_OK) {
        hsy_world_explain(j->host, &err);
        return device_fail(j, &err);
    }
    puts(hsy_world_consent_name((uint64_t)hsy_device_consent(j->bare)));
    return cli_finish();
}

static int device_forget(struct device_job *j)
{
    const char *source = j->how->operands == 2 ? j->how->operand[1] : NULL;
    hsy_error err = {0};
    int failed = device_open_bare(j);

    if (failed)
        return failed;
    if (hsy_device_forget(j->bare, source, &err) == HSY_OK)
        return CLI_DONE;
    hsy_world_explain(j->host, &err);
    if (err.status == HSY_E_UNKNOWN)
        return cli_fail("%s: there is no such source; 'hearsay device policy "
                        "%s' lists them",
                        source, j->directory);
    return device_fail(j, &err);
}

/* ---- Verbs and options --------------------------------------------------- */

#define DEVICE_BIT(id) (1u << (id))
#define DEVICE_ANY (DEVICE_BIT(DEVICE_WAIT) | DEVICE_BIT(DEVICE_NOW))
#define DEVICE_READS (DEVICE_BIT(DEVICE_WAIT) | DEVICE_BIT(DEVICE_FORMAT))
#define DEVICE_SHOWS (DEVICE_ANY | DEVICE_READS)
#define DEVICE_ASKS                                                            \
    (DEVICE_ANY | DEVICE_BIT(DEVICE_TOKEN) | DEVICE_BIT(DEVICE_CA) |           \
     DEVICE_BIT(DEVICE_ATTEMPTS) | DEVICE_BIT(DEVICE_SECONDS) |                \
     DEVICE_BIT(DEVICE_BACKOFF))

static const struct {
    const char *name;
    int (*run)(struct device_job *j);
    size_t least, most; /* operands, the directory included */
    unsigned options;
    const char *takes;
} device_verbs[] = {
    {"init", device_init, 1, 1,
     DEVICE_ANY | DEVICE_BIT(DEVICE_DOCUMENT) | DEVICE_BIT(DEVICE_PUBLIC_KEY) |
         DEVICE_BIT(DEVICE_POLICY) | DEVICE_BIT(DEVICE_SOURCE) |
         DEVICE_BIT(DEVICE_DAY) | DEVICE_BIT(DEVICE_LIFETIME) |
         DEVICE_BIT(DEVICE_ANCHOR),
     "DIR"},
    {"take", device_take, 2, 2, DEVICE_ASKS, "DIR FILE|URL"},
    {"answer", device_answer, 2, 3, DEVICE_ANY, "DIR TASK [VALUE]"},
    {"budget", device_budget, 1, 1, DEVICE_SHOWS, "DIR"},
    {"log", device_log, 1, 1, DEVICE_READS, "DIR"},
    {"tasks", device_tasks, 1, 1, DEVICE_SHOWS, "DIR"},
    {"policy", device_policy, 1, 1, DEVICE_READS, "DIR"},
    {"send", device_send, 2, 2,
     DEVICE_ASKS | DEVICE_BIT(DEVICE_TAKE) | DEVICE_BIT(DEVICE_ONE_CONNECTION) |
         DEVICE_BIT(DEVICE_FORMAT),
     "DIR URL"},
    {"pack", device_pack, 1, 1,
     DEVICE_ANY | DEVICE_BIT(DEVICE_OUTPUT) | DEVICE_BIT(DEVICE_MARK_SENT),
     "DIR"},
    {"consent", device_consent, 1, 2, DEVICE_ANY, "DIR [none|collect|send]"},
    {"forget", device_forget, 1, 2, DEVICE_ANY, "DIR [SOURCE]"},
};

#define DEVICE_VERBS (sizeof device_verbs / sizeof device_verbs[0])

static bool device_cap(struct cli_parser *p, uint64_t *nano, bool *has)
{
    *has = policy_cap_parse(nano, p->value, strlen(p->value));
    if (!*has)
        cli_usage(p, "--%s takes a decimal of at most nine places, or lnN",
                  p->name);
    return *has;
}

static bool device_text(const char **to, const char *value)
{
    *to = value;
    return true;
}

static bool device_add_source(struct cli_parser *p, struct device_options *o)
{
    if (o->nsources == DEVICE_SOURCES) {
        cli_usage(p, "at most %u sources", DEVICE_SOURCES);
        return false;
    }
    o->sources[o->nsources++] = p->value;
    return true;
}

static bool device_add_operand(struct cli_parser *p, struct device_options *o)
{
    if (o->operands == DEVICE_OPERANDS) {
        /* Which may be a truth: it is not repeated. */
        cli_usage(p, "one word too many");
        return false;
    }
    o->operand[o->operands++] = p->value;
    return true;
}

static bool device_option(struct cli_parser *p, int id,
                          struct device_options *o)
{
    switch (id) {
    case DEVICE_DOCUMENT:
        return device_text(&o->document, p->value);
    case DEVICE_PUBLIC_KEY:
        return device_text(&o->public_key, p->value);
    case DEVICE_POLICY:
        return device_text(&o->policy, p->value);
    case DEVICE_ANCHOR:
        return device_text(&o->anchor, p->value);
    case DEVICE_OUTPUT:
        return device_text(&o->output, cli_output_path(p->value));
    case DEVICE_SOURCE:
        return device_add_source(p, o);
    case DEVICE_DAY:
        return device_cap(p, &o->day, &o->has_day);
    case DEVICE_LIFETIME:
        return device_cap(p, &o->lifetime, &o->has_lifetime);
    case DEVICE_MARK_SENT:
        o->mark_sent = true;
        return true;
    case DEVICE_TAKE:
        o->take = true;
        return true;
    case DEVICE_ONE_CONNECTION:
        o->one_connection = true;
        return true;
    case DEVICE_TOKEN:
        return device_text(&o->token, p->value);
    case DEVICE_CA:
        return device_text(&o->ca, p->value);
    case DEVICE_ATTEMPTS:
        return cli_value_count(p, &o->attempts, 1, DEVICE_ATTEMPTS_MAX);
    case DEVICE_SECONDS:
        return cli_value_count(p, &o->seconds, 1, DEVICE_WAIT_MAX);
    case DEVICE_BACKOFF:
        return cli_value_count(p, &o->backoff, 1, DEVICE_BACKOFF_MAX);
    case DEVICE_WAIT:
        return cli_value_count(p, &o->wait, 0, DEVICE_WAIT_MAX);
    case DEVICE_NOW:
        return device_now_parse(p, o);
    case DEVICE_FORMAT:
        return cli_value_format(p, &o->format);
    default:
        return device_add_operand(p, o);
    }
}

/* Which verb it is; DEVICE_VERBS after a complaint. */
static size_t device_verb(struct cli_parser *p, const char *name)
{
    const char *names[DEVICE_VERBS + 1] = {NULL}, *near;
    size_t i = 0;

    while (i < DEVICE_VERBS && strcmp(device_verbs[i].name, name) != 0)
        i++;
    if (i < DEVICE_VERBS)
        return i;
    for (size_t k = 0; k < DEVICE_VERBS; k++)
        names[k] = device_verbs[k].name;
    near = cli_nearest(name, names);
    if (near != NULL)
        cli_usage(p, "no such verb; did you mean 'device %s'?", near);
    else
        cli_usage(p, "no such verb");
    return i;
}

/* Whether these operands and options go with the verb. */
static bool device_fits(struct cli_parser *p, size_t verb,
                        const struct device_options *o)
{
    for (size_t i = 0; device_table[i].id != 0; i++) {
        if ((p->given >> i & 1) != 0 && (device_verbs[verb].options &
                                         DEVICE_BIT(device_table[i].id)) == 0) {
            cli_usage(p, "--%s is not for 'device %s'", device_table[i].name,
                      device_verbs[verb].name);
            return false;
        }
    }
    if (o->operands >= device_verbs[verb].least &&
        o->operands <= device_verbs[verb].most)
        return true;
    cli_usage(p, "'device %s' takes %s", device_verbs[verb].name,
              device_verbs[verb].takes);
    return false;
}

int cmd_device(int argc, char **argv)
{
    struct device_options options = {.wait = DEVICE_WAIT_DEFAULT};
    struct cli_parser p;
    struct device_job job = {.how = &options, .parser = &p};
    const char *name = NULL;
    size_t verb;
    int id, failed;

    cli_begin(&p, &device_command, argc, argv);
    p.truths = true;
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_STOP)
            return p.exit;
        if (id == CLI_OPERAND && name == NULL)
            name = p.value;
        else if (!device_option(&p, id, &options))
            return p.exit;
    }
    if (name == NULL)
        return cli_usage(&p, "say what to do: 'device init', 'device answer' "
                             "and so on");
    verb = device_verb(&p, name);
    if (verb == DEVICE_VERBS || !device_fits(&p, verb, &options))
        return p.exit;
    umask(077);
    job.directory = options.operand[0];
    failed = device_verbs[verb].run(&job);
    device_close(&job);
    return failed;
}
