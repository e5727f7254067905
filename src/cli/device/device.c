/* device.c - hearsay device: the client of one person, from a shell. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include "host/client/world.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Opening ------------------------------------------------------------- */

static int device_opened(struct device_job *j,
                         hsy_status (*open)(struct home *h, hsy_error *err))
{
    hsy_error err = {0};

    return open(&j->home, &err) == HSY_OK ? 0 : device_refused(j, &err);
}

int device_read_policy(struct device_job *j)
{
    return device_opened(j, home_policy);
}

int device_open(struct device_job *j)
{
    return device_opened(j, home_open);
}

int device_open_bare(struct device_job *j)
{
    return device_opened(j, home_open_bare);
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
    if (hsy_client_answer_text(j->home.client, &state, j->how->operand[1], text,
                               len, &err) != HSY_OK)
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
        hsy_device_consent_set(j->home.bare, (hsy_consent)consent, &err) !=
            HSY_OK) {
        home_explain(&j->home, &err);
        return device_fail(j, &err);
    }
    puts(hsy_world_consent_name((uint64_t)hsy_device_consent(j->home.bare)));
    return cli_finish();
}

static int device_forget(struct device_job *j)
{
    const char *source = j->how->operands == 2 ? j->how->operand[1] : NULL;
    hsy_error err = {0};
    int failed = device_open_bare(j);

    if (failed)
        return failed;
    if (hsy_device_forget(j->home.bare, source, &err) == HSY_OK)
        return CLI_DONE;
    home_explain(&j->home, &err);
    if (err.status == HSY_E_UNKNOWN)
        return cli_fail("%s: there is no such source; 'hearsay device policy "
                        "%s' lists them",
                        source, j->home.directory);
    return device_fail(j, &err);
}

/* ---- Options ------------------------------------------------------------- */

static bool device_cap(struct cli_parser *p, uint64_t *nano)
{
    if (policy_cap_parse(nano, p->value, strlen(p->value)))
        return true;
    cli_usage(p, "--%s takes a decimal of at most nine places, or lnN",
              p->name);
    return false;
}

static bool device_day(struct cli_parser *p, void *to)
{
    return device_cap(p, &((struct device_options *)to)->day);
}

static bool device_lifetime(struct cli_parser *p, void *to)
{
    return device_cap(p, &((struct device_options *)to)->lifetime);
}

static bool device_now(struct cli_parser *p, void *to)
{
    struct device_options *o = to;

    o->has_now = day_moment(&o->now, p->value);
    if (!o->has_now)
        cli_usage(p, "--now takes a day, as 2026-01-31 (its noon, UTC), a time "
                     "as 2026-01-31T08:30Z, or seconds since 1970");
    return o->has_now;
}

static bool device_source(struct cli_parser *p, void *to)
{
    struct device_options *o = to;

    if (o->nsources == DEVICE_SOURCES) {
        cli_usage(p, "at most %u sources", DEVICE_SOURCES);
        return false;
    }
    o->sources[o->nsources++] = p->value;
    return true;
}

static bool device_operand(struct cli_parser *p, void *to)
{
    struct device_options *o = to;

    if (o->verb == NULL) {
        o->verb = p->value;
        return true;
    }
    if (o->operands == DEVICE_OPERANDS) {
        /* Which may be a truth: it is not repeated. */
        cli_usage(p, "one word too many");
        return false;
    }
    o->operand[o->operands++] = p->value;
    return true;
}

#define DEVICE(member) offsetof(struct device_options, member)
#define DEVICE_WAIT_DEFAULT 10u
#define DEVICE_WAIT_MAX 86400u

static const struct cli_option device_table[] = {
    {0, "public-key", "FILE", "init: who signs the tasks ('tasks keygen')",
     CLI_INTO_TEXT, DEVICE(public_key)},
    {0, "document", "FILE", "init: the signed tasks ('tasks compile')",
     CLI_INTO_TEXT, DEVICE(document)},
    {0, "source", "NAME=R,D,L...",
     "init: epsilon at most: a report, a day, ever\n"
     "(default: the document's sources with 2,5,10)",
     CLI_INTO_CALL, .call = device_source},
    {0, "day", "E", "init: all sources, a day (default 10)", CLI_INTO_CALL,
     .call = device_day},
    {0, "lifetime", "E", "init: all sources, ever (default 20)", CLI_INTO_CALL,
     .call = device_lifetime},
    {0, "policy", "FILE", "init: all of that from a policy.yaml", CLI_INTO_TEXT,
     DEVICE(policy)},
    {0, "anchor", "FILE",
     "init: a number kept elsewhere, by which a\n"
     "restored directory is noticed and refused",
     CLI_INTO_TEXT, DEVICE(anchor)},
    {0, "output", "FILE", "pack: write there ('-': stdout)", CLI_INTO_OUTPUT,
     DEVICE(output)},
    {0, "mark-sent", NULL, "pack: count them as sent once FILE is durable",
     CLI_INTO_FLAG, DEVICE(mark_sent)},
    {0, "take", NULL, "send: first take the collector's tasks", CLI_INTO_FLAG,
     DEVICE(take)},
    {0, "token", "FILE", "send, take: an enrolment token", CLI_INTO_TEXT,
     DEVICE(token)},
    {0, "ca", "FILE", "send, take: who certifies servers (the system's)",
     CLI_INTO_TEXT, DEVICE(ca)},
    {0, "relay", "URL", "send: sealed, by this relay, not the document's",
     CLI_INTO_TEXT, DEVICE(relay)},
    {0, "attempts", "N", "send, take: at most (default 5)", CLI_INTO_COUNT,
     DEVICE(attempts), 1, 100},
    {0, "backoff", "MS", "... before the second, then doubling (default 1000)",
     CLI_INTO_COUNT, DEVICE(backoff), 1, 600000},
    {0, "seconds", "S", "... for all of them (default 300)", CLI_INTO_COUNT,
     DEVICE(seconds), 1, DEVICE_WAIT_MAX},
    {0, "one-connection", NULL,
     "send: all uploads over one connection: quicker,\n"
     "and the collector may see that they are yours",
     CLI_INTO_FLAG, DEVICE(one_connection)},
    {0, "wait", "SECONDS", "for another process to be done (default 10)",
     CLI_INTO_COUNT, DEVICE(wait), 0, DEVICE_WAIT_MAX},
    {0, "now", "TIME",
     "init: a device to rehearse with, its clock at a\n"
     "day (noon), 2026-01-31T08:30Z or seconds since\n"
     "1970; then of every verb that asks the clock",
     CLI_INTO_CALL, .call = device_now},
    CLI_FORMAT_ROW(DEVICE(format)),
    {0}};

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
    device_table,
    .operand = device_operand,
    .truths = true};

/* ---- Verbs --------------------------------------------------------------- */

#define DEVICE_ASKS "wait now token ca attempts seconds backoff"

static const struct device_verb {
    const char *name;
    int (*run)(struct device_job *j);
    size_t least, most; /* operands, the directory included */
    const char *options;
    const char *takes;
} device_verbs[] = {
    {"init", device_init, 1, 1,
     "wait now document public-key policy source day lifetime anchor", "DIR"},
    {"take", device_take, 2, 2, DEVICE_ASKS, "DIR FILE|URL"},
    {"answer", device_answer, 2, 3, "wait now", "DIR TASK [VALUE]"},
    {"budget", device_budget, 1, 1, "wait now format", "DIR"},
    {"log", device_log, 1, 1, "wait format", "DIR"},
    {"tasks", device_tasks, 1, 1, "wait now format", "DIR"},
    {"policy", device_policy, 1, 1, "wait format", "DIR"},
    {"send", device_send, 2, 2, DEVICE_ASKS " take relay one-connection format",
     "DIR URL"},
    {"pack", device_pack, 1, 1, "wait now output mark-sent", "DIR"},
    {"consent", device_consent, 1, 2, "wait now", "DIR [none|collect|send]"},
    {"forget", device_forget, 1, 2, "wait now", "DIR [SOURCE]"},
};

#define DEVICE_VERBS (sizeof device_verbs / sizeof device_verbs[0])

/* The verb, if these operands and options go with it; NULL after a complaint.
 */
static const struct device_verb *device_verb(struct cli_parser *p,
                                             const struct device_options *o)
{
    const char *near, *stray;
    size_t i = cli_find(device_verbs, sizeof device_verbs[0], DEVICE_VERBS,
                        o->verb, &near);
    const struct device_verb *v = device_verbs + i;

    if (o->verb == NULL)
        cli_usage(p, "say what to do: 'device init', 'device answer' and so "
                     "on");
    else if (i == DEVICE_VERBS && near != NULL)
        cli_usage(p, "no such verb; did you mean 'device %s'?", near);
    else if (i == DEVICE_VERBS)
        cli_usage(p, "no such verb");
    else if ((stray = cli_stray(p, v->options)) != NULL)
        cli_usage(p, "--%s is not for 'device %s'", stray, v->name);
    else if (o->operands < v->least || o->operands > v->most)
        cli_usage(p, "'device %s' takes %s", v->name, v->takes);
    else
        return v;
    return NULL;
}

int cmd_device(int argc, char **argv)
{
    struct device_options options = {.wait = DEVICE_WAIT_DEFAULT,
                                     .day = POLICY_ALL_DAY,
                                     .lifetime = POLICY_ALL_LIFETIME};
    struct cli_parser p;
    struct device_job job = {.how = &options, .parser = &p};
    const struct device_verb *verb;
    int failed;

    if (!cli_read(&p, &device_command, argc, argv, &options))
        return p.exit;
    verb = device_verb(&p, &options);
    if (verb == NULL)
        return p.exit;
    umask(077);
    job.home.directory = options.operand[0];
    job.home.wait = (uint32_t)options.wait;
    job.home.now = options.has_now ? &options.now : NULL;
    failed = verb->run(&job);
    home_close(&job.home);
    if (job.home.unlogged)
        cli_note("note: %s: the log could not be written; nothing else is "
                 "affected",
                 job.home.directory);
    return failed;
}
