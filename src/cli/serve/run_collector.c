/* run_collector.c - hearsay serve: run a collector until it is told to stop. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "cli/base/tasks.h"
#include "server/process/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Configuration ------------------------------------------------------- */

/* Whether it is a configuration of what is to be run. */
static int run_role(const struct config *c, const struct serve_how *how)
{
    const char *file = how->file != NULL ? how->file : "options";

    if (how->shuffles && c->next == NULL)
        return cli_fail("%s: next: missing; give the URL of the next shuffler, "
                        "or of the collector",
                        file);
    if (!how->shuffles && c->next != NULL)
        return cli_fail("%s: next: only for shufflers; run this file with "
                        "'hearsay shuffle serve'",
                        file);
    return 0;
}

/* Read the file and the settings; problems to stderr. 0, or the exit code. any:
 * c has then what is sound. */
static int serve_configure(struct config *c, bool any,
                           const struct serve_how *how)
{
    hsy_problem *problems;
    hsy_error err = {0};
    size_t n;
    const hsy_status st = config_read(c, any, how->file, how->settings,
                                      how->nsettings, &problems, &n, &err);
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
    return failed ? failed : run_role(c, how);
}

#define RUN_PROBLEM 4600 /* bytes of a name and a problem */

/* Returns about after its place in the configuration, for example
 * "hearsay.yaml:31: backups: /srv/copies", or about alone if the configuration
 * does not name it. */
static const char *run_where(char text[2 * RUN_PROBLEM],
                             const struct serve_how *how,
                             const struct config *c, const char *about)
{
    uint32_t line = 0;
    const char *key = config_key_of(c, about, &line);

    if (key == NULL)
        return about;
    if (line != 0)
        snprintf(text, 2 * RUN_PROBLEM, "%s:%" PRIu32 ": %s: %s", how->file,
                 line, key, about);
    else
        snprintf(text, 2 * RUN_PROBLEM, "serve: %s: %s", key, about);
    return text;
}

static int run_trouble(const struct serve_trouble *t, const struct config *c,
                       const struct serve_how *how)
{
    char text[2 * RUN_PROBLEM];
    const char *where = run_where(text, how, c, t->about);

    if (where != NULL && t->number == ENOENT &&
        (t->about == c->backups || t->about == c->candidates))
        return cli_fail("%s: no such directory; make it first", where);
    if (t->number == EADDRINUSE)
        return cli_fail_error(where, &t->err);
    if (where != NULL && t->number != 0)
        return cli_fail("%s: %s", where, strerror(t->number));
    if (where != NULL && t->about == c->data)
        return store_complain(t->about, &t->err);
    if (where != NULL && t->about == c->tls_key &&
        t->err.status == HSY_E_MISMATCH)
        return cli_fail("%s: does not belong to the certificate in %s", where,
                        c->tls_cert);
    return cli_fail_error(where, &t->err);
}

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

    if (config_read(&next, false, how->file, how->settings, how->nsettings,
                    &problems, &n, &err) == HSY_OK) {
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
    int failed = serve_configure(&c.config, false, how);
    struct serve_trouble t;
    sigset_t set;

    if (failed)
        return failed;
    umask(077); /* nothing that is made here is for others */
    run_signals(&set);
    c.manager = notify_open();
    if (serve_open(&c, &t) != HSY_OK || serve_start(&c, &t) != HSY_OK)
        failed = run_trouble(&t, &c.config, how);
    else
        failed = run_started(&c, how, &set);
    serve_close(&c);
    if (c.manager != -1)
        close(c.manager);
    return failed;
}

/* ---- Check --------------------------------------------------------------- */

static void run_check_warn(const struct config *c,
                           const struct serve_finding *f)
{
    if (f->what == SERVE_UNASKED)
        cli_note("warning: enrolled: %s has no task '%s'", c->document,
                 f->about);
    else if (f->what == SERVE_EXPIRED)
        cli_note("warning: document: %s has expired; devices no longer accept "
                 "it; sign a new one",
                 c->document);
    else if (f->what == SERVE_EXPIRES)
        cli_note("warning: document: %s expires soon; days left: %" PRIu64,
                 c->document, f->number);
    else if (f->what == SERVE_UNNAMED)
        cli_note("warning: gateway_keys: %s names none of these keys; devices "
                 "seal nothing for this gateway",
                 c->document);
    else if (f->what == SERVE_KEYLESS)
        cli_note("warning: seal_keys: %s has the reports of '%s' sealed for "
                 "another key; its batches will be refused",
                 c->document, f->about);
    else if (f->what == SERVE_NO_RECEIPT)
        cli_note("warning: receipt_key: by %s the next hop is the collector; "
                 "name the public key of its receipts, or all are refused",
                 c->document);
    else if (f->what == SERVE_NO_PLACE)
        cli_note("warning: document: %s has no statement of this shuffler; it "
                 "will receive no reports",
                 c->document);
    else if (f->what == SERVE_ALONE)
        cli_note("warning: storage: %s has no synchronous standby; "
                 "acknowledged uploads are lost if its disk fails",
                 f->about);
    else if (f->what == SERVE_APART)
        cli_note("warning: storage: the clock of %s, which is authoritative, "
                 "differs from this machine's; days: %" PRIu64,
                 f->about, f->number);
    else
        cli_note("warning: memory: keep_days will need %" PRIu64
                 " MiB; days that do not fit get no tally of their own",
                 f->number);
}

struct run_check {
    struct config config;
    const struct serve_how *how;
    bool sound; /* so that what it leads to is worth a warning */
};

static void run_check_tell(void *ctx, const struct serve_finding *f)
{
    const struct run_check *of = ctx;
    const struct config *c = &of->config;
    char text[2 * RUN_PROBLEM];
    const char *where = run_where(text, of->how, c, f->about);

    errno = (int)f->number;
    switch (f->what) {
    case SERVE_NO_KEY:
        cli_fail_file(where, &f->err);
        break;
    case SERVE_NO_DOCUMENT:
        cli_tasks_fail(where, &f->err);
        break;
    case SERVE_NO_FILE:
        if (f->err.status == HSY_E_RANGE)
            cli_fail("%s: longer than 1 MiB", where);
        else
            cli_fail_file(where, &f->err);
        break;
    case SERVE_UNSIGNED:
        cli_fail("%s: not signed by the key in %s", c->document, c->public_key);
        break;
    case SERVE_NO_DIRECTORY:
        cli_fail("%s: not a directory", run_where(text, of->how, c, c->data));
        break;
    case SERVE_OPEN_DIRECTORY:
        cli_fail("%s: accessible to other users; run chmod 700 on it",
                 run_where(text, of->how, c, c->data));
        break;
    case SERVE_TROUBLE:
        run_trouble(f->trouble, c, of->how);
        break;
    default:
        if (of->sound)
            run_check_warn(c, f);
    }
}

int serve_check(const struct serve_how *how)
{
    struct run_check of = {.how = how};
    int failed = serve_configure(&of.config, true, how);

    of.sound = failed == 0;
    if (of.config.listen != NULL && /* it has a default: the file was read */
        serve_examine(&of.config, run_check_tell, &of) != 0)
        failed = CLI_FAILED;
    config_clear(&of.config);
    return failed;
}
