/*
 * device_send.c - hearsay device send: what is due goes to a collector.
 *
 * The device is open while its uploads are gathered and while what arrived is
 * marked, not while anybody waits for a network: meanwhile it can answer.
 */
#define _DEFAULT_SOURCE
#include "cli/base/tasks.h"
#include "cli/device/internal.h"

#include "host/client/client.h"
#include "host/client/send.h"

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
                             .one_connection = o->one_connection};
    if (o->token != NULL && cli_token_read(token, o->token) != 0)
        return CLI_FAILED;
    to->token = *token;
    return 0;
}

/* What the library said; a wrong address is the arguments' fault. */
static int device_send_fail(struct device_job *j, const hsy_error *err)
{
    const char *url = j->how->operand[1];

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->status == HSY_E_RANGE && err->field == HSY_FIELD_URL)
        return cli_usage(j->parser, "%s", err->msg);
    if (err->status == HSY_E_RANGE)
        return cli_fail_error(NULL, err);
    return cli_fail("%s: %s", url, err->msg);
}

int device_fetch(struct device_job *j, struct task_file *d)
{
    const char *url = j->how->operand[1];
    char *token = NULL;
    uint8_t *bytes = NULL;
    size_t len = 0;
    hsy_send_options options;
    hsy_error err = {0};
    int failed = device_send_options(&options, &token, j->how);

    if (!failed &&
        hsy_document_fetch(&bytes, &len, url, &options, &err) != HSY_OK)
        failed = device_send_fail(j, &err);
    free(token);
    return failed ? failed : cli_tasks_bytes(d, bytes, len, url);
}

/* ---- The device, opened for a moment ------------------------------------- */

struct send_job {
    struct device_job *j;
    int failed; /* the exit code after a message */
    bool may;   /* send anything: there is consent */
};

static hsy_status device_send_failed(struct send_job *job, int failed)
{
    device_close(job->j);
    job->failed = failed;
    return failed ? HSY_E_REFUSED : HSY_OK;
}

static hsy_status device_send_gather(void *ctx, struct send_list *list,
                                     hsy_error *err)
{
    struct send_job *job = ctx;
    struct device_job *j = job->j;
    int failed = device_open(j);

    if (failed)
        return device_send_failed(job, failed);
    job->may =
        hsy_device_consent(hsy_client_device(j->client)) == HSY_CONSENT_SEND;
    if (!job->may)
        cli_note("note: nothing is sent before 'hearsay device consent %s "
                 "send'",
                 j->directory);
    if (hsy_client_due(j->client, hsy_send_add, list, err) != HSY_OK)
        failed = device_fail(j, err);
    return device_send_failed(job, failed);
}

static hsy_status device_send_settle(void *ctx, const struct send_list *list,
                                     hsy_error *err)
{
    struct send_job *job = ctx;
    struct device_job *j = job->j;
    int failed = device_open(j);

    if (!failed && hsy_send_mark(j->client, list, err) != HSY_OK)
        failed = device_fail(j, err);
    return device_send_failed(job, failed);
}

/* ---- Sending ------------------------------------------------------------- */

static int device_send_show(struct device_job *j, const hsy_send_result *r,
                            hsy_status st)
{
    const char *url = j->how->operand[1];
    const struct cli_field fields[] = {
        {"sent", cli_count(r->sent)},
        {"refused", cli_count(r->refused)},
        {"waiting", cli_count(r->waiting)},
        {"attempts", cli_count(r->attempts)},
    };

    cli_print_flat(j->how->format, fields, sizeof fields / sizeof fields[0]);
    if (r->refused != 0)
        cli_note("note: %s: %" PRIu64 " refused for good, and not sent again: "
                 "'hearsay device log %s' says which",
                 url, r->refused, j->directory);
    if (st != HSY_OK)
        cli_fail("%s: %s; %" PRIu64 " stay%s in the outbox, for another time",
                 url, r->why != NULL ? r->why : "there was no time left",
                 r->waiting, r->waiting == 1 ? "s" : "");
    return cli_finish() != CLI_DONE || st != HSY_OK ? CLI_FAILED : CLI_DONE;
}

static int device_send_run(struct device_job *j,
                           const hsy_send_options *options)
{
    struct send_job job = {.j = j};
    const struct send_hooks hooks = {device_send_gather, device_send_settle,
                                     &job};
    hsy_send_result result;
    hsy_error err = {0};
    hsy_status st =
        hsy_send_all(&hooks, j->how->operand[1], options, &result, &err);

    if (job.failed)
        return job.failed;
    if (st != HSY_OK && st != HSY_E_IO)
        return device_send_fail(j, &err);
    if (job.may && result.sent + result.refused + result.waiting == 0)
        cli_note("note: nothing is due now; what is answered is sent after the "
                 "last day (UTC) of its round, and the task's delay");
    return device_send_show(j, &result, st);
}

int device_send(struct device_job *j)
{
    char *token = NULL;
    hsy_send_options options;
    int failed = 0;

    if (!device_is_url(j->how->operand[1]))
        return cli_usage(j->parser, "'device send' takes DIR URL, as "
                                    "https://collector.example");
    if (j->how->take)
        failed = device_take(j);
    device_close(j);
    if (!failed)
        failed = device_send_options(&options, &token, j->how);
    if (!failed)
        failed = device_send_run(j, &options);
    free(token);
    return failed;
}
