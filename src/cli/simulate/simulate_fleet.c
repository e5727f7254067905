/* simulate_fleet.c - hearsay simulate fleet: a rehearsal against a collector.
 */
#define _DEFAULT_SOURCE
#include "cli/simulate/internal.h"

#include "cli/base/tasks.h"
#include "cli/base/tasks_show.h"
#include "host/tasks/clock_file.h"
#include "sim/fleet/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLEET_RATE_MAX 1e6
#define FLEET_DOCUMENT_MAX (16u << 20) /* bytes, as over HTTP */

/* In the order of enum fleet_attendance. */
static const char *const fleet_attendances[] = {"stay", "leave", "join", NULL};

struct fleet_job {
    struct fleet_options o;
    struct cli_texts laws; /* TASK=LAW */
    const char *public_key, *token, *document;
    int attendance;
    uint8_t key[HSY_SIGN_KEY];
    char *token_text;        /* owned */
    uint8_t *document_bytes; /* owned */
    enum table_format format;
    struct cli_progress progress;
};

/* ---- Options ------------------------------------------------------------- */

static bool fleet_rate(struct cli_parser *p, void *to)
{
    double *out = &((struct fleet_job *)to)->o.rate;

    if (text_number(out, p->value) && *out > 0 && *out <= FLEET_RATE_MAX)
        return true;
    cli_usage(p, "--rate takes a number above 0, at most 1000000");
    return false;
}

static bool fleet_is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 ||
           strncmp(text, "https://", 8) == 0;
}

static bool fleet_relay_option(struct cli_parser *p, void *to)
{
    struct fleet_job *j = to;

    if (!fleet_is_url(p->value)) {
        cli_usage(p, "--relay takes a URL, e.g. https://relay.example");
        return false;
    }
    j->o.relay = p->value;
    return true;
}

#define FLEET(member) offsetof(struct fleet_job, member)

static const struct cli_option fleet_table[] = {
    {"devices", "N", "number of devices", CLI_INTO_COUNT, FLEET(o.devices), 1,
     FLEET_DEVICES_MAX, .preset = "1000"},
    {"days", "T",
     "run T days, with answers and uploads on each; needs a collector with "
     "--rehearsal",
     CLI_INTO_COUNT32, FLEET(o.days), 1, FLEET_DAYS_MAX, .with = "clock"},
    {"clock", "FILE",
     "clock file of the collector (serve --rehearsal FILE): the first day, or "
     "without --days the time",
     CLI_INTO_TEXT, FLEET(o.clock)},
    {"attendance", "stay|leave|join",
     "all stay; every second device leaves after its first round; or devices "
     "join evenly over the days",
     CLI_INTO_CHOICE, FLEET(attendance), .words = fleet_attendances,
     .preset = "stay", .with = "days"},
    {"seed", "N",
     "seed of keys and truths; the same seed and day make the same uploads, "
     "which count once",
     CLI_INTO_COUNT, FLEET(o.seed), 0, UINT64_MAX, .preset = "1"},
    {"truth", "TASK=LAW...",
     "distribution of a task's truths:\n  yes-no: 30%, the share of yes "
     "(default)\n  values: A:3,B:1 or uniform or zipf[:S] (default)\n  "
     "numbers: uniform[:LO:HI] or normal:MEAN:DEVIATION\n  strings: "
     "WORD:3,OTHER:1 (default: six words)",
     CLI_INTO_TEXTS, FLEET(laws), .high = CLI_TEXTS_MAX},
    {"relay", "RELAY",
     "relay for sealed uploads, one per request (default: the document's "
     "relay, if any)",
     CLI_INTO_CALL, FLEET(o.relay), .call = fleet_relay_option},
    {"document", "FILE", "signed task document (default: the one at URL)",
     CLI_INTO_TEXT, FLEET(document)},
    {"public-key", "FILE", "public key of the task signer (default: any)",
     CLI_INTO_TEXT, FLEET(public_key)},
    {"threads", "N", "number of threads (default: all cores)", CLI_INTO_COUNT32,
     FLEET(o.threads), 1, FLEET_THREADS_MAX},
    {"connections", "C", "number of open connections", CLI_INTO_COUNT32,
     FLEET(o.connections), 1, FLEET_CONNECTIONS_MAX, .preset = "32"},
    {"batch", "B", "uploads per request; real devices send 1", CLI_INTO_COUNT32,
     FLEET(o.batch), 1, FLEET_BATCH_MAX, .preset = "1"},
    {"rate", "R", "most requests per second (default: no limit)", CLI_INTO_CALL,
     FLEET(o.rate), .call = fleet_rate},
    {"repeat", "K", "send each request K times; it is still counted once",
     CLI_INTO_COUNT32, FLEET(o.repeat), 1, FLEET_REPEAT_MAX, .preset = "1"},
    {"attempts", "N", "attempts before a request is given up", CLI_INTO_COUNT32,
     FLEET(o.attempts), 1, FLEET_REPEAT_MAX, .preset = "8"},
    {"token", "FILE", "file with an enrolment token", CLI_INTO_TEXT,
     FLEET(token)},
    {"ca", "FILE", "CA certificates (default: the system's)", CLI_INTO_TEXT,
     FLEET(o.ca_file)},
    CLI_FORMAT_ROW(FLEET(format)),
    {0}};

static const struct cli_command fleet_command = {
    "simulate fleet", "URL [options]",
    "Rehearse with simulated devices. They take the tasks of the collector at "
    "URL,\nanswer them for the last round that is over, with truths of known "
    "shares, and\nsend the due uploads over HTTP. The true shares are printed, "
    "to compare with the\ncollector's estimates. With --days, devices run for "
    "days, under a clock that\nthis command drives. These reports are not from "
    "people: never send them to a\ncollector that counts real people.",
    fleet_table, .operands = "URL"};

/* Days, and whose clock it is. */
static int fleet_time(struct fleet_job *j)
{
    struct timespec t;
    hsy_error err = {0};
    hsy_status st;

    j->o.attendance = (enum fleet_attendance)j->attendance;
    if (j->o.clock != NULL) {
        st = rehearsal_read(&j->o.now, j->o.clock, &err);
        if (st == HSY_E_IO)
            return cli_fail("%s: %s", j->o.clock, strerror(errno));
        return st == HSY_OK ? 0 : cli_fail("%s: %s", j->o.clock, err.msg);
    }
    if (clock_gettime(CLOCK_REALTIME, &t) == -1 || t.tv_sec < 0)
        return cli_fail("the system clock is before 1970; set it");
    j->o.now = (uint64_t)t.tv_sec;
    return 0;
}

/* Files that options name, and the clock. */
static int fleet_settle(struct cli_parser *p, struct fleet_job *j)
{
    int failed;

    j->o.url = p->operands[0];
    if (!fleet_is_url(j->o.url))
        return cli_usage(p, "give one URL, e.g. http://127.0.0.1:8080");
    for (size_t i = 0; i < j->laws.n; i++)
        if (strchr(j->laws.at[i], '=') == NULL)
            return cli_usage(p, "--truth takes TASK=LAW, e.g. dark-mode=40%%");
    if (j->o.repeat > 1 && j->o.connections == 1)
        return cli_usage(p, "--repeat needs two connections or more");
    failed = fleet_time(j);
    if (failed)
        return failed;
    if (j->public_key != NULL) {
        if (cli_public_read(j->key, j->public_key) != 0)
            return CLI_FAILED;
        j->o.key = j->key;
    }
    if (j->token != NULL && cli_token_read(&j->token_text, j->token) != 0)
        return CLI_FAILED;
    j->o.token = j->token_text;
    if (j->document != NULL &&
        cli_read_file(&j->document_bytes, &j->o.document_len, j->document,
                      FLEET_DOCUMENT_MAX) != 0)
        return CLI_FAILED;
    j->o.document = j->document_bytes;
    return 0;
}

/* ---- Running ------------------------------------------------------------- */

static int fleet_laws(const struct fleet_job *j, struct fleet *f)
{
    size_t n;
    struct fleet_task *tasks = fleet_tasks(f, &n);
    hsy_error err = {0};

    for (size_t i = 0; i < j->laws.n; i++) {
        const char *said = j->laws.at[i];
        const size_t len = strcspn(said, "=");
        const char *law = said + len + 1;
        size_t k = 0;

        while (k < n && (strlen(tasks[k].task.id) != len ||
                         memcmp(tasks[k].task.id, said, len) != 0))
            k++;
        if (k == n)
            return cli_fail("--truth %s: the collector has no such task", said);
        if (fleet_law_parse(&tasks[k], law, &err) != HSY_OK)
            return err.status == HSY_E_NOMEM
                       ? cli_fail_nomem()
                       : cli_fail("--truth %s: for this task use %s", said,
                                  err.msg);
    }
    return 0;
}

/* Say which tasks are left out; whether any is left. */
static int fleet_ready(struct fleet *f, const struct fleet_options *o)
{
    size_t n, open = 0;
    const struct fleet_task *tasks = fleet_tasks(f, &n);

    for (size_t i = 0; i < n; i++) {
        open += tasks[i].day != 0;
        if (tasks[i].day == 0)
            cli_note("note: %s is left out: %s", tasks[i].task.id,
                     tasks[i].why);
    }
    if (fleet_relay(f) != NULL && o->batch > 1)
        cli_note("note: --batch is ignored: through a relay a request holds "
                 "one upload");
    if (open == 0 && o->days != 0)
        return cli_fail("no task is asked on any of these days; the first is "
                        "the day of --clock");
    if (open == 0)
        return cli_fail("no task has a round to answer; use tasks that began "
                        "yesterday or earlier and are not long over");
    return 0;
}

/* What may be behind a status, where an option of ours helps. */
static const char *fleet_why(uint32_t status)
{
    return status == 403   ? ": their task needs an enrolment token (--token), "
                             "or refuses this one"
           : status == 429 ? ": the quota of the token (--token) is used up "
                             "for the day of these uploads; every day has its "
                             "own"
                           : "";
}

/* Say what was not counted; the exit code. */
static int fleet_left(const struct fleet_result *r)
{
    for (size_t i = 0; i < FLEET_STATUSES && r->statuses[i].uploads != 0; i++)
        cli_note("note: %" PRIu64 " uploads were refused with status %" PRIu32
                 "%s",
                 r->statuses[i].uploads, r->statuses[i].status,
                 fleet_why(r->statuses[i].status));
    if (r->given_up != 0)
        return cli_fail("%" PRIu64 " uploads were given up; the collector or "
                        "the relay is overloaded or fails",
                        r->given_up);
    return r->refused != 0 ? CLI_FAILED : CLI_DONE;
}

static int fleet_show(struct fleet *f, const struct fleet_job *j,
                      const struct fleet_result *r)
{
    const int failed =
        fleet_print(stdout, j->format, f, &j->o, r, NULL) == HSY_OK
            ? cli_finish()
            : cli_fail_nomem();
    const int left = fleet_left(r);

    return left != CLI_DONE ? left : failed;
}

/* Who is to blame: until the tasks are there, who has them. */
static const char *fleet_where(const struct fleet_job *j,
                               const struct fleet *opened)
{
    if (opened == NULL)
        return j->document != NULL ? j->document : j->o.url;
    return fleet_relay(opened) != NULL ? fleet_relay(opened) : j->o.url;
}

static int fleet_rehearse(struct fleet_job *j)
{
    struct fleet *f = NULL;
    struct fleet_result result;
    hsy_error err = {0};
    hsy_status st = fleet_open(&f, &j->o, &err);
    const bool opened = st == HSY_OK;
    int failed = 0;

    if (opened)
        failed = fleet_laws(j, f);
    if (opened && !failed)
        failed = fleet_ready(f, &j->o);
    if (opened && !failed) {
        if (j->o.days != 0)
            j->progress.what = "days of devices";
        j->progress.total =
            (double)j->o.devices * (j->o.days != 0 ? j->o.days : 1);
        st = fleet_run(f, &result, &err);
        cli_progress_end(&j->progress);
        if (st == HSY_OK)
            failed = fleet_show(f, j, &result);
    }
    if (st == HSY_E_NOMEM)
        failed = cli_fail_nomem();
    else if (st != HSY_OK)
        failed = cli_fail_error(fleet_where(j, opened ? f : NULL), &err);
    fleet_close(f);
    return failed;
}

int simulate_fleet(int argc, char **argv)
{
    struct fleet_job job = {
        .o = {.threads = (uint32_t)simulate_cores(), .tick = cli_progress_add},
        .progress.what = "devices"};
    struct cli_parser p;
    int failed;

    job.o.ctx = &job.progress;
    if (!cli_read(&p, &fleet_command, argc, argv, &job))
        return p.exit;
    failed = fleet_settle(&p, &job);
    if (!failed)
        failed = fleet_rehearse(&job);
    free(job.token_text);
    free(job.document_bytes);
    return failed;
}
