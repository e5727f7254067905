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
        return cli_fail("standard input: expected one answer on one line");
    return 0;
}

static int device_say(struct device_job *j, const char *text, size_t len)
{
    hsy_answer_state state = HSY_ANSWERED;
    hsy_error err = {0};
    int failed = device_open(j);

    if (failed)
        return failed;
    if (hsy_client_answer_text(j->home.client, &state, j->options.operand[1],
                               text, len, &err) != HSY_OK)
        return device_fail_task(j, j->options.operand[1], &err);
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

static int device_answer(void *to)
{
    struct device_job *j = to;
    int failed = cli_hide();

    if (failed)
        return failed;
    if (j->options.operand[2] == NULL)
        return device_answer_line(j);
    return device_say(j, j->options.operand[2], strlen(j->options.operand[2]));
}

/* ---- What the person decides --------------------------------------------- */

static int device_consent(void *to)
{
    struct device_job *j = to;
    hsy_error err = {0};
    uint64_t consent = 0;
    int failed;

    while (j->options.operand[1] != NULL &&
           hsy_world_consent_name(consent) != NULL &&
           strcmp(j->options.operand[1], hsy_world_consent_name(consent)) != 0)
        consent++;
    if (hsy_world_consent_name(consent) == NULL)
        return cli_usage(&j->parser, "consent must be none, collect or send");
    failed = device_open_bare(j);
    if (failed)
        return failed;
    if (j->options.operand[1] != NULL &&
        hsy_device_consent_set(j->home.bare, (hsy_consent)consent, &err) !=
            HSY_OK) {
        home_explain(&j->home, &err);
        return device_fail(j, &err);
    }
    puts(hsy_world_consent_name((uint64_t)hsy_device_consent(j->home.bare)));
    return cli_finish();
}

static int device_forget(void *to)
{
    struct device_job *j = to;
    const char *source = j->options.operand[1];
    hsy_error err = {0};
    int failed = device_open_bare(j);

    if (failed)
        return failed;
    if (hsy_device_forget(j->home.bare, source, &err) == HSY_OK)
        return CLI_DONE;
    home_explain(&j->home, &err);
    if (err.status == HSY_E_UNKNOWN)
        return cli_fail(
            "%s: no such source; 'hearsay device policy %s' lists the sources",
            source, j->home.directory);
    return device_fail(j, &err);
}

/* ---- Options ------------------------------------------------------------- */

static bool device_cap(struct cli_parser *p, uint64_t *nano)
{
    if (policy_cap_parse(nano, p->value, strlen(p->value)))
        return true;
    cli_usage(p,
              "--%s takes a decimal number with at most nine decimals, or lnN",
              p->name);
    return false;
}

static bool device_day(struct cli_parser *p, void *to)
{
    return device_cap(p, &((struct device_job *)to)->options.day);
}

static bool device_lifetime(struct cli_parser *p, void *to)
{
    return device_cap(p, &((struct device_job *)to)->options.lifetime);
}

static bool device_now(struct cli_parser *p, void *to)
{
    struct device_options *o = &((struct device_job *)to)->options;

    o->has_now = day_moment(&o->now, p->value);
    if (!o->has_now)
        cli_usage(p, "--now takes a day such as 2026-01-31 (its noon, UTC), a "
                     "time such as 2026-01-31T08:30Z, or seconds since 1970");
    return o->has_now;
}

#define DEVICE(member) offsetof(struct device_job, options.member)
#define DEVICE_WAIT_MAX 86400u
#define DEVICE_CLOCK "init take answer budget tasks send pack consent forget"

static const char *const device_pins[] = {"document", "none", NULL};

static const struct cli_option device_table[] = {
    {"public-key", "FILE", "public key of the task signer ('tasks keygen')",
     CLI_INTO_TEXT, DEVICE(public_key), .verbs = "init"},
    {"document", "FILE", "signed task document ('tasks compile')",
     CLI_INTO_TEXT, DEVICE(document), .verbs = "init"},
    {"source", "NAME=R,D,L...",
     "epsilon caps of a source, as NAME=REPORT,DAY,LIFETIME (default: the "
     "document's sources with 2,5,10)",
     CLI_INTO_TEXTS, DEVICE(sources), .high = CLI_TEXTS_MAX, .verbs = "init"},
    {"day", "E", "daily epsilon cap for all sources together", CLI_INTO_CALL,
     .call = device_day, .preset = "10", .verbs = "init"},
    {"lifetime", "E", "lifetime epsilon cap for all sources together",
     CLI_INTO_CALL, .call = device_lifetime, .preset = "20", .verbs = "init"},
    {"policy", "FILE", "read key, sources and caps from a policy.yaml",
     CLI_INTO_TEXT, DEVICE(policy), .verbs = "init",
     .without = "public-key source day lifetime anchor pin"},
    {"pin", "document|none",
     "demand from every later document the relay and, if all its tasks are "
     "shuffled, the shufflers and batches that this one names",
     CLI_INTO_CHOICE, DEVICE(pin), .words = device_pins, .preset = "document",
     .verbs = "init"},
    {"anchor", "FILE",
     "keep a counter in FILE, outside DIR, so that an old copy of DIR is "
     "refused",
     CLI_INTO_TEXT, DEVICE(anchor), .verbs = "init"},
    {"output", "FILE", "output file ('-': stdout)", CLI_INTO_OUTPUT,
     DEVICE(output), .verbs = "pack"},
    {"mark-sent", NULL, "mark uploads as sent once FILE is durable",
     CLI_INTO_FLAG, DEVICE(mark_sent), .verbs = "pack", .with = "output"},
    {"take", NULL,
     "first fetch and accept the collector's document, where no relay is used",
     CLI_INTO_FLAG, DEVICE(take), .verbs = "send"},
    {"token", "FILE", "file with an enrolment token", CLI_INTO_TEXT,
     DEVICE(token), .verbs = "send take"},
    {"ca", "FILE", "CA certificates (default: the system's)", CLI_INTO_TEXT,
     DEVICE(ca), .verbs = "send take"},
    {"relay", "URL",
     "send sealed uploads, and fetch documents, through this relay instead of "
     "the policy's or the document's",
     CLI_INTO_TEXT, DEVICE(relay), .verbs = "send take"},
    {"spread", "S",
     "each upload leaves, and a document is fetched through a relay, at a "
     "random "
     "time of its own within S seconds; 0: now, which shows that uploads are "
     "one "
     "device's",
     CLI_INTO_COUNT, DEVICE(spread), 0, DEVICE_WAIT_MAX, .preset = "3600",
     .verbs = "send take"},
    {"wait", NULL,
     "wait for these times and for retries; 'send' ends when the outbox is "
     "empty or --seconds are over",
     CLI_INTO_FLAG, DEVICE(wait), .verbs = "send take"},
    {"attempts", "N",
     "maximum attempts (default 5); 'send --wait' ignores it unless --spread "
     "is 0",
     CLI_INTO_COUNT, DEVICE(attempts), 1, 100, .verbs = "send take"},
    {"backoff", "MS",
     "initial retry delay in ms, doubled each time (default 1000)",
     CLI_INTO_COUNT, DEVICE(backoff), 1, 600000, .verbs = "send take"},
    {"seconds", "S",
     "total time limit in seconds (default 300, with --wait 86400)",
     CLI_INTO_COUNT, DEVICE(seconds), 1, DEVICE_WAIT_MAX, .verbs = "send take"},
    {"one-connection", NULL,
     "use one connection for all uploads: faster, but it links them to one "
     "device",
     CLI_INTO_FLAG, DEVICE(one_connection), .verbs = "send"},
    {"loaded", "FILE",
     "a shuffler's /v1/documents: fail unless this document is in it",
     CLI_INTO_TEXT, DEVICE(loaded), .verbs = "tasks"},
    {"lock-wait", "SECONDS", "seconds to wait for the device's lock",
     CLI_INTO_COUNT, DEVICE(lock_wait), 0, DEVICE_WAIT_MAX, .preset = "10"},
    {"now", "TIME",
     "rehearsal devices only ('init --now'): use this time, a day (noon UTC), "
     "2026-01-31T08:30Z or seconds since 1970",
     CLI_INTO_CALL, .call = device_now, .verbs = DEVICE_CLOCK},
    {"format", "table|csv|json", "output format", CLI_INTO_FORMAT,
     DEVICE(format), .preset = "table",
     .verbs = "budget log tasks policy send"},
    {0}};

static const struct cli_verb device_verbs[] = {
    {"init", "DIR", "--public-key FILE --document FILE [options]",
     "document public-key|policy", device_init,
     .about = "Create a device in DIR. Print its caps and its tasks."},
    {"answer", "DIR TASK [VALUE]", .run = device_answer,
     .about = "Answer a task.\nThe truth is read from standard input, one "
              "line. Other users can see a VALUE\nwhile the command runs."},
    {"budget", "DIR", .run = device_budget,
     .about = "Show the epsilon spent, today and in total, and the caps."},
    {"log", "DIR", .run = device_log, .about = "Show the log of the device."},
    {"tasks", "DIR", .run = device_tasks,
     .about = "Show the document's digest, its tasks and their cost."},
    {"policy", "DIR", .run = device_policy,
     .about = "Show the policy: the caps of the device, and what it demands."},
    {"send", "DIR URL", "[options]", .run = device_send,
     .about = "Send due uploads to a collector, each at a random time.\n"
              "Without --wait: the one whose time has come."},
    {"pack", "DIR", "[-o FILE] [--mark-sent]", .run = device_pack,
     .about = "Write all due uploads to a file."},
    {"consent", "DIR [none|collect|send]", .run = device_consent,
     .about = "Show or change the person's consent."},
    {"forget", "DIR [SOURCE]", .run = device_forget,
     .about = "Delete everything stored about a source, or about all."},
    {"take", "DIR FILE|URL", .run = device_take,
     .about = "Accept a newer document from a file, the relay or a collector."},
    {0}};

static const struct cli_command device_command = {
    "device",
    NULL,
    "Act as one device. It records the cost of an answer before giving it, "
    "gives\nthe same answer when asked again, and never exceeds the caps of "
    "its policy,\nwhatever a document says. It reads the truth from standard "
    "input; other users\ncan see a VALUE in the command line while the command "
    "runs. A new device\nneither answers nor sends before 'consent'.",
    device_table,
    .verbs = device_verbs,
    .apart = true,
    .truths = true};

int cmd_device(int argc, char **argv)
{
    struct device_job job = {0};
    struct cli_parser *p = &job.parser;
    int failed;

    if (!cli_read(p, &device_command, argc, argv, &job))
        return p->exit;
    umask(077);
    job.options.operand = p->operands;
    job.home.directory = p->operands[0];
    job.home.wait = (uint32_t)job.options.lock_wait;
    job.home.now = job.options.has_now ? &job.options.now : NULL;
    failed = p->verb->run(&job);
    home_close(&job.home);
    if (job.home.withheld)
        cli_note("note: %s: an answer was given under another promise than "
                 "this document makes (shufflers, keys, relay or terms), so it "
                 "is not sent",
                 job.home.directory);
    if (job.home.unlogged)
        cli_note("note: %s: cannot write the log; nothing else is affected",
                 job.home.directory);
    return failed;
}
