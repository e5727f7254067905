/* device_send.c - hearsay device send: what is due goes to a collector. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool device_is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 ||
           strncmp(text, "https://", 8) == 0;
}

/* ---- Options ------------------------------------------------------------- */

/* What the library is told; the token is the caller's to free. */
static int device_send_options(hsy_send_options *to, char **token,
                               const struct device_options *o)
{
    *to = (hsy_send_options){.size = sizeof *to,
                             .ca_file = o->ca,
                             .attempts = (uint32_t)o->attempts,
                             .wait_ms = (uint32_t)o->backoff,
                             .seconds = (uint32_t)o->seconds,
                             .one_connection = o->one_connection,
                             .relay = o->relay,
                             .spread = o->spread != 0 ? (uint32_t)o->spread
                                                      : HSY_SPREAD_NONE,
                             .wait = o->wait};
    if (o->token != NULL && cli_token_read(token, o->token) != 0)
        return CLI_FAILED;
    to->token = *token;
    return 0;
}

/* What the library said; a wrong address is the arguments' fault. */
static int device_send_fail(struct device_job *j, const hsy_error *err)
{
    const char *url = j->options.operand[1];

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->status == HSY_E_RANGE && err->field == HSY_FIELD_URL)
        return cli_usage(&j->parser, "%s", err->msg);
    if (err->status == HSY_E_RANGE)
        return cli_fail_error(NULL, err);
    return cli_fail("%s: %s", url, err->msg);
}

int device_fetch(struct device_job *j, struct task_file *d, bool *later)
{
    const char *url = j->options.operand[1];
    struct home_fetched fetched = {.bytes = NULL};
    char *token = NULL;
    hsy_send_options options;
    hsy_error err = {0};
    int failed = device_send_options(&options, &token, &j->options);

    if (!failed && home_fetch(&j->home, &fetched, url, &options,
                              j->options.take, &err) != HSY_OK)
        failed = fetched.inside ? device_refused(j, &err)
                                : device_send_fail(j, &err);
    free(token);
    *later = !failed && fetched.bytes == NULL;
    if (*later)
        cli_note(
            "note: the document is fetched at a random time within %" PRIu64
            " s; run this again every few minutes, or with --wait, or "
            "fetch it now with --spread 0",
            j->options.spread);
    return failed || *later
               ? failed
               : cli_tasks_bytes(d, fetched.bytes, fetched.len, url);
}

/* ---- Sending ------------------------------------------------------------- */

static int device_send_show(struct device_job *j, const hsy_send_result *r,
                            hsy_status st)
{
    const char *url = j->options.operand[1];
    const char *whose =
        r->status == 429 && j->options.token != NULL ? j->options.token : "";
    const struct table_field fields[] = {
        {"sent", cell_count(r->sent)},
        {"refused", cell_count(r->refused)},
        {"waiting", cell_count(r->waiting)},
        {"attempts", cell_count(r->attempts)},
    };

    table_print_flat(stdout, j->options.format, fields,
                     sizeof fields / sizeof fields[0]);
    if (r->refused != 0)
        cli_note("note: %s: %" PRIu64 " permanently refused, and not sent "
                 "again; see 'hearsay device log %s'",
                 url, r->refused, j->home.directory);
    if (st == HSY_OK && r->waiting != 0)
        cli_note("note: %" PRIu64 " wait%s for a random time within %" PRIu64
                 " s; run this again every few minutes, or with --wait, or "
                 "send all now with --spread 0",
                 r->waiting, r->waiting == 1 ? "s" : "", j->options.spread);
    if (st != HSY_OK)
        cli_fail("%s: %s%s%s; %" PRIu64 " stay%s in the outbox; send again "
                 "later",
                 url, r->why != NULL ? r->why : "the time limit is over",
                 whose[0] != '\0' ? ": that of --token " : "", whose,
                 r->waiting, r->waiting == 1 ? "s" : "");
    return cli_finish() != CLI_DONE || st != HSY_OK ? CLI_FAILED : CLI_DONE;
}

static int device_send_run(struct device_job *j,
                           const hsy_send_options *options)
{
    struct home_sent sent;
    hsy_error err = {0};
    hsy_status st =
        home_send(&j->home, &sent, j->options.operand[1], options, &err);
    const hsy_send_result *r = &sent.result;

    if (sent.inside)
        return device_refused(j, &err);
    if (st != HSY_OK && st != HSY_E_IO)
        return device_send_fail(j, &err);
    if (!sent.may)
        cli_note("note: no consent to send yet; allow it with 'hearsay device "
                 "consent %s send'",
                 j->home.directory);
    else if (r->sent + r->refused + r->waiting == 0)
        cli_note("note: nothing is due now; an answer is due after the last "
                 "day (UTC) of its round plus the task's delay");
    return device_send_show(j, r, st);
}

int device_send(void *to)
{
    struct device_job *j = to;
    char *token = NULL;
    hsy_send_options options;
    int failed = 0;

    if (!device_is_url(j->options.operand[1]))
        return cli_usage(
            &j->parser,
            "'device send' takes DIR URL, e.g. https://collector.example");
    if (j->options.take)
        failed = device_take(j);
    home_close(&j->home);
    if (!failed)
        failed = device_send_options(&options, &token, &j->options);
    if (!failed)
        failed = device_send_run(j, &options);
    free(token);
    return failed;
}
