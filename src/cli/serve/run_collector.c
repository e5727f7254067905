/* run_collector.c - hearsay serve: run a collector until it is told to stop. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "cli/base/tasks.h"
#include "host/tasks/expiry.h"
#include "server/process/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Configuration ------------------------------------------------------- */

static hsy_status run_read(struct config *c, const struct serve_how *how,
                           hsy_problem **problems, size_t *n, hsy_error *err)
{
    return config_read(c, how->file, how->settings, how->nsettings, problems, n,
                       err);
}

/* Read the file and the settings; problems to stderr. 0, or the exit code. */
static int serve_configure(struct config *c, const struct serve_how *how)
{
    hsy_problem *problems;
    hsy_error err = {0};
    size_t n;
    const hsy_status st = run_read(c, how, &problems, &n, &err);
    int failed = st != HSY_OK;

    if (st == HSY_E_IO)
        failed = cli_fail("%s: %s", how->file, strerror(errno));
    else if (st != HSY_OK && n == 0)
        failed = cli_fail_error(how->file, &err);
    for (size_t i = 0; i < n; i++) /* what has no line may be of an option */
        cli_problem_say(&problems[i],
                        problems[i].line != 0 || how->nsettings == 0 ? how->file
                                                                     : "serve",
                        "");
    free(problems);
    return failed;
}

static int run_trouble(const struct serve_trouble *t, const struct config *c)
{
    if (t->about != NULL && t->number != 0)
        return cli_fail("%s: %s", t->about, strerror(t->number));
    if (t->about != NULL && t->about == c->data)
        return store_complain(t->about, &t->err);
    return cli_fail_error(t->about, &t->err);
}

#define RUN_PROBLEM 4600 /* bytes of a name and a problem */

/* ---- Until it is told to stop -------------------------------------------- */

static void run_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* With the file that it is in, and the field, if it is one. */
static void run_reload_problem(struct collector *c, const hsy_problem *p,
                               const struct serve_how *how)
{
    char text[RUN_PROBLEM];

    snprintf(text, sizeof text, "%s: %s", p->line != 0 ? how->file : "options",
             p->text);
    log_failure_about(
        c->log, "reload-problem", p->field,
        &(hsy_error){.unit = HSY_UNIT_LINE, .at = p->line, .msg = text});
}

/* Read everything again; a broken file keeps the old. */
static void run_reload(struct collector *c, const struct serve_how *how)
{
    struct config next = {0};
    hsy_problem *problems;
    hsy_error err = {0};
    size_t n;

    if (run_read(&next, how, &problems, &n, &err) == HSY_OK) {
        serve_reload(c, &next);
    } else {
        for (size_t i = 0; i < n; i++)
            if (!problems[i].warning)
                run_reload_problem(c, &problems[i], how);
        log_failure(c->log, "reload-kept-old", &err);
    }
    free(problems);
    config_clear(&next);
}

static void run_wait(struct collector *c, const struct serve_how *how,
                     const sigset_t *set)
{
    static const struct timespec second = {.tv_sec = 1};
    int number;

    while ((number = sigtimedwait(set, NULL, &second)) != SIGTERM &&
           number != SIGINT) {
        if (number == SIGHUP) {
            notify_say(c->manager, "RELOADING=1");
            run_reload(c, how);
            notify_say(c->manager, "READY=1");
        } else {
            serve_look(c);
        }
    }
}

/* The one line that scripts wait for. */
static int run_ready(const struct collector *c)
{
    char public[LISTEN_ADDRESS], admin[LISTEN_ADDRESS] = "";

    listen_address(public, c->public, c->config.listen);
    if (c->admin != NULL)
        listen_address(admin, c->admin, c->config.admin);
    printf("ready public=%s%s%s\n", public, c->admin != NULL ? " admin=" : "",
           admin);
    return cli_finish();
}

static int run_started(struct collector *c, const struct serve_how *how,
                       const sigset_t *set)
{
    hsy_error err = {0};
    int failed = run_ready(c);

    if (failed)
        return failed;
    notify_say(c->manager, "READY=1");
    run_wait(c, how, set);
    notify_say(c->manager, "STOPPING=1");
    if (serve_stop(c, &err) != HSY_OK)
        return cli_fail_error(c->config.data, &err);
    return CLI_DONE;
}

int serve_run(const struct serve_how *how)
{
    struct collector c = {.config_path = how->file,
                          .accept_clock = how->accept_clock};
    int failed = serve_configure(&c.config, how);
    struct serve_trouble t;
    sigset_t set;

    if (failed)
        return failed;
    umask(077); /* nothing that is made here is for others */
    run_signals(&set);
    c.manager = notify_open();
    if (serve_open(&c, &t) != HSY_OK || serve_start(&c, &t) != HSY_OK)
        failed = run_trouble(&t, &c.config);
    else
        failed = run_started(&c, how, &set);
    serve_close(&c);
    if (c.manager != -1)
        close(c.manager);
    return failed;
}

/* ---- Check --------------------------------------------------------------- */

#define CHECK_DAY 86400u

/* A closed task under a wrong name leaves the right one open. */
static void run_check_enrolled(const struct config *c,
                               const struct task_file *doc)
{
    for (char **task = c->enrolled; task != NULL && *task != NULL; task++)
        if (task_file_find(doc, *task) == doc->n)
            cli_note("warning: enrolled: %s asks no task '%s'", c->document,
                     *task);
}

static void run_check_expiry(const struct config *c, const hsy_document *doc)
{
    const uint64_t today = (uint64_t)time(NULL) / CHECK_DAY;
    const enum expiry when = expiry_of(doc->expires, today);

    if (when == EXPIRY_PAST)
        cli_note("warning: document: %s has expired: devices that do not have "
                 "it refuse it; sign a new one",
                 c->document);
    else if (when == EXPIRY_NEAR)
        cli_note("warning: document: %s expires; days that are left: %" PRIu64,
                 c->document, doc->expires - today);
}

/* What the tallies will take in the end. */
static void run_check_memory(const struct config *c, const hsy_document *doc)
{
    struct roster *none = roster_new(), *r = NULL;
    uint64_t need;

    if (none != NULL && roster_extend(&r, none, doc, NULL) == HSY_OK) {
        need = roster_tally_bytes(r, c->day_words,
                                  c->keep_days > c->grace_days ? c->keep_days
                                                               : c->grace_days);
        if (need > c->tally_bytes)
            cli_note("warning: tally_bytes: keep_days will need %" PRIu64
                     " MiB; days that do not fit have no tally of their own",
                     (need >> 20) + 1);
    }
    roster_drop(r);
    roster_drop(none);
}

static int run_check_document(const struct config *c)
{
    uint8_t key[HSY_SIGN_KEY];
    struct task_file doc = {0};
    size_t len;
    int failed = cli_public_read(key, c->public_key);

    if (failed || c->document == NULL)
        return failed;
    failed = cli_tasks_document(&doc, c->document);
    len = doc.doc.len - HSY_SIGNATURE;
    if (!failed && !hsy_sign_verify(key, doc.bytes + len, doc.bytes, len))
        failed = cli_fail("%s: not signed by the key in %s", c->document,
                          c->public_key);
    if (!failed) {
        run_check_enrolled(c, &doc);
        run_check_expiry(c, &doc.doc);
        run_check_memory(c, &doc.doc);
    }
    task_file_clear(&doc);
    return failed;
}

/* As a store wants it, if it is there; whose it must be depends on who runs the
 * collector. */
static int run_check_data(const struct config *c)
{
    struct stat is;

    if (stat(c->data, &is) == -1)
        return errno == ENOENT ? 0
                               : cli_fail("%s: %s", c->data, strerror(errno));
    if (!S_ISDIR(is.st_mode))
        return cli_fail("%s: data: it is no directory", c->data);
    if ((is.st_mode & 077) != 0)
        return cli_fail("%s: data: others may enter it: chmod 700 it", c->data);
    return 0;
}

/* The files that it names, each, as far as that shows without a store. */
static int run_check_files(const struct config *c)
{
    uint8_t *bytes = NULL;
    struct serve_trouble t;
    size_t len;
    int failed = run_check_document(c) | run_check_data(c);

    if (serve_directories(c, &t) != HSY_OK)
        failed |= run_trouble(&t, c);
    for (int i = 0; i < 2; i++) {
        const char *file = i == 0 ? c->tls_cert : c->tls_key;

        if (file != NULL)
            failed |= cli_read_file(&bytes, &len, file, 1u << 20);
        free(bytes);
        bytes = NULL;
    }
    return failed;
}

int serve_check(const struct serve_how *how)
{
    struct config c = {0};
    int failed = serve_configure(&c, how);

    if (!failed)
        failed = run_check_files(&c);
    config_clear(&c);
    return failed;
}
