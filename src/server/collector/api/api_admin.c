/* api_admin.c - the routes of the admin listener, and what they share. */
#include "server/collector/api/api.h"

#include "host/base/day.h"
#include "host/base/digits.h"
#include "host/base/fields.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADMIN_TALLY_MAX ((size_t)64 * 1024 * 1024)
#define ADMIN_DOCUMENT_MAX ((size_t)16 * 1024 * 1024)

/* There were server-sent events here. This answer goes with 0.1.0. */
static void api_gone(struct request *q, void *ctx)
{
    (void)ctx;
    api_problem(q, 410, "Gone",
                "there are no events any more: ask for /v1/tasks and "
                "/v1/status every few seconds instead");
}

/* docs/openapi.yaml has the same, but for what is gone; tests/e2e/openapi.t
 * holds them together. */
const struct route api_admin[] = {
    {"GET", "/healthz", LISTEN_ANYONE, 0, api_health, NULL},
    {"GET", "/readyz", LISTEN_ANYONE, 0, api_ready, NULL},
    {"GET", "/", LISTEN_ANYONE, 0, api_page, NULL},
    {"GET", "/assets/*", LISTEN_ANYONE, 0, api_asset, NULL},
    {"GET", "/metrics", LISTEN_SCRAPER, 0, api_metrics, NULL},
    {"GET", "/v1/status", LISTEN_ANALYST, 0, api_status, NULL},
    {"GET", "/v1/events", LISTEN_ANALYST, 0, api_gone, NULL},
    {"GET", "/v1/tasks", LISTEN_ANALYST, 0, api_renewed, api_tasks},
    {"GET", "/v1/tasks/*", LISTEN_ANALYST, 0, api_renewed, api_task},
    {"GET", "/v1/tasks/*/estimate", LISTEN_ANALYST, 0, api_later, api_estimate},
    {"GET", "/v1/tasks/*/estimate.csv", LISTEN_ANALYST, 0, api_later,
     api_estimate_csv},
    {"GET", "/v1/tasks/*/estimate.svg", LISTEN_ANALYST, 0, api_later,
     api_estimate_svg},
    {"GET", "/v1/tasks/*/history", LISTEN_ANALYST, 0, api_history, NULL},
    {"GET", "/v1/tasks/*/compare", LISTEN_ANALYST, 0, api_later, api_compare},
    {"GET", "/v1/tasks/*/tally", LISTEN_ANALYST, 0, api_later, api_tally},
    {"GET", "/v1/tasks/*/live", LISTEN_OPERATOR, 0, api_later, api_live},
    {"POST", "/v1/tasks/*/tally", LISTEN_OPERATOR, ADMIN_TALLY_MAX, api_change,
     api_merge},
    {"GET", "/v1/document", LISTEN_ANALYST, 0, api_document, NULL},
    {"PUT", "/v1/document", LISTEN_OPERATOR, ADMIN_DOCUMENT_MAX, api_change,
     api_put_document},
    {"POST", "/v1/backup", LISTEN_OPERATOR, 0, api_change, api_backup},
    {"POST", "/v1/tasks/*/retire", LISTEN_OPERATOR, 0, api_change, api_retire},
    {"POST", "/v1/purge", LISTEN_OPERATOR, 0, api_change, api_purge},
};

const size_t api_admin_count = sizeof api_admin / sizeof api_admin[0];

const struct route api_shuffler_admin[] = {
    {"GET", "/healthz", LISTEN_ANYONE, 0, api_health, NULL},
    {"GET", "/readyz", LISTEN_ANYONE, 0, api_ready, NULL},
    {"GET", "/metrics", LISTEN_SCRAPER, 0, api_metrics, NULL},
    {"GET", "/v1/status", LISTEN_OPERATOR, 0, api_status, NULL},
    {"GET", "/v1/batches", LISTEN_OPERATOR, 0, api_all_batches, NULL},
    {"GET", "/v1/document", LISTEN_OPERATOR, 0, api_document, NULL},
};

const size_t api_shuffler_admin_count =
    sizeof api_shuffler_admin / sizeof api_shuffler_admin[0];

/* ---- Answers ------------------------------------------------------------- */

void api_problem(struct request *q, int status, const char *title,
                 const char *format, ...)
{
    char detail[512];
    va_list args;

    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    request_guard(q, NULL);
    if (status == 503)
        request_set(q, "Retry-After", "1");
    request_problem(q, status, title, "%s", detail);
}

bool api_begin(struct request *q, struct put *p)
{
    if (put_open(p, NULL) == HSY_OK)
        return true;
    api_problem(q, 503, "Out of memory", "try again later");
    return false;
}

/* Whether the page that polls has this answer already. */
static bool api_unchanged(struct request *q, const char *json, size_t len)
{
    uint8_t digest[REQUEST_DIGEST];

    crypto_generichash(digest, sizeof digest, (const uint8_t *)json, len, NULL,
                       0);
    return request_unchanged(q, digest);
}

void api_answer(struct request *q, int status, struct put *p)
{
    char *json;
    size_t len;

    if (put_close(p, &json, &len, NULL) != HSY_OK) {
        api_problem(q, 503, "Out of memory", "try again later");
        return;
    }
    request_guard(q, NULL);
    if (status == 200 && strcmp(request_route(q)->method, "GET") == 0 &&
        api_unchanged(q, json, len)) {
        free(json);
        request_answer(q, 304, NULL, NULL, 0, NULL);
        return;
    }
    request_answer(q, status,
                   status < 400 ? "application/json"
                                : "application/problem+json",
                   json, len, free);
}

/* What a failure of ours is to who asked. */
static const struct {
    hsy_status st;
    int status;
    const char *title;
} admin_failures[] = {
    {HSY_E_RANGE, 400, "Not possible as asked"},
    {HSY_E_FORMAT, 400, "Malformed"},
    {HSY_E_SIGNATURE, 403, "Not signed by the key in force"},
    {HSY_E_OLD, 409, "Older than what is in force, or expired"},
    {HSY_E_REFUSED, 409, "Done before"},
    {HSY_E_MISMATCH, 409, "Of another scheme"},
    {HSY_E_OVERFLOW, 409, "Too large"},
    {HSY_E_EMPTY, 409, "Too few reports"},
    {HSY_E_UNKNOWN, 422, "No such figure"},
    {HSY_E_VERSION, 422, "Made by a newer program"},
    {HSY_E_NOMEM, 503, "Out of memory"},
    {HSY_E_BUSY, 503, "Busy"},
    {HSY_E_FULL, 503, "No room left"},
};

void api_failed_about(struct request *q, const char *about,
                      const hsy_error *err)
{
    const size_t n = sizeof admin_failures / sizeof admin_failures[0];
    const char *msg = err->msg != NULL ? err->msg : "no more is known";
    size_t i = 0;

    while (i < n && admin_failures[i].st != err->status)
        i++;
    if (i == n)
        api_problem(q, 500, "The collector failed", "%s", msg);
    else if (about[0] != '\0' && err->at != 0)
        api_problem(q, admin_failures[i].status, admin_failures[i].title,
                    "%s, line %" PRIu64 ": %s", about, err->at, msg);
    else
        api_problem(q, admin_failures[i].status, admin_failures[i].title,
                    "%s%s%s", about, about[0] != '\0' ? ": " : "", msg);
}

void api_failed(struct request *q, const hsy_error *err)
{
    api_failed_about(q, host_field_name(err->field), err);
}

bool api_operator(struct collector *c, const struct request *q)
{
    const char *token = request_bearer(q);

    return c->config.admin_open ||
           (token != NULL && tokens_role(c->tokens, token) >= LISTEN_OPERATOR);
}

void api_later(struct request *q, void *ctx)
{
    struct desk *desk = history_desk(((struct collector *)ctx)->history);

    if (desk == NULL || !desk_hand(desk, q, request_route(q)->work))
        api_problem(q, 503, "Busy",
                    "too many requests wait for an answer; try again later");
}

static void admin_renew(struct request *q, void *ctx)
{
    history_renew(ctx, NULL);
    request_route(q)->work(q, ctx);
}

void api_renewed(struct request *q, void *ctx)
{
    struct desk *desk = history_desk(((struct collector *)ctx)->history);

    if (desk == NULL || !history_due(ctx, NULL) ||
        !desk_hand(desk, q, admin_renew))
        request_route(q)->work(q, ctx);
}

/* Whether a browser sent this for another page than ours. */
static bool admin_foreign(const struct request *q)
{
    const char *site = request_header(q, "Sec-Fetch-Site");
    const char *origin = request_header(q, "Origin");
    const char *host = request_header(q, "Host");
    const char *at = origin != NULL ? strstr(origin, "://") : NULL;

    if (site != NULL && strcmp(site, "same-origin") != 0 &&
        strcmp(site, "none") != 0)
        return true;
    return origin != NULL &&
           (at == NULL || host == NULL || strcmp(at + 3, host) != 0);
}

void api_change(struct request *q, void *ctx)
{
    if (admin_foreign(q))
        api_problem(q, 403, "Not from another page",
                    "a browser sent this for another site");
    else
        api_later(q, ctx);
}

/* ---- What is asked ------------------------------------------------------- */

bool api_count(struct request *q, const char *name, uint64_t most,
               uint64_t *out)
{
    const char *text = request_query(q, name);
    uint64_t value = 0;
    size_t len;

    if (text == NULL)
        return true;
    len = strlen(text);
    if (len > 10 || !digits_parse(&value, text, len, most) || value == 0) {
        api_problem(q, 400, "Not possible as asked",
                    "%s: a whole number from 1 to %" PRIu64 " is wanted", name,
                    most);
        return false;
    }
    *out = value;
    return true;
}

bool api_fraction(struct request *q, const char *name, bool zero, double *out)
{
    const char *text = request_query(q, name);
    const size_t len = text != NULL ? strlen(text) : 0;
    double value;
    char *end;

    if (text == NULL)
        return true;
    value = strtod(text, &end);
    if (*end == '%' && end != text) {
        value /= 100;
        end++;
    }
    if (len == 0 || len > 24 || strspn(text, "0123456789.%") != len ||
        *end != '\0' || !((value > 0 || zero) && value < 1)) {
        api_problem(q, 400, "Not possible as asked",
                    zero ? "%s: a share from 0 to below 1 is wanted, as 0.01"
                         : "%s: a fraction between 0 and 1 is wanted, as 0.95",
                    name);
        return false;
    }
    *out = value;
    return true;
}

bool api_day(struct request *q, const char *name, uint32_t *out)
{
    const char *text = request_query(q, name);
    uint32_t day;

    if (text == NULL)
        return true;
    if (!day_parse(&day, text) || day == 0) {
        api_problem(q, 400, "Not possible as asked",
                    "%s: a day is wanted, as 2026-11-16", name);
        return false;
    }
    *out = day;
    return true;
}

/* Of two entries of one task, the one that is meant if none is said. */
static bool admin_rather(const struct roster_entry *a,
                         const struct roster_entry *b)
{
    if (b == NULL || a->current != b->current)
        return b == NULL || a->current;
    return a->task.release > b->task.release;
}

struct roster *api_entry(struct collector *c, struct request *q,
                         const char *name, const struct roster_entry **e)
{
    const char *id = request_segment(q, 0);
    struct roster *roster;
    uint64_t release = 0;

    if (!api_count(q, name, UINT32_MAX, &release))
        return NULL;
    roster = engine_roster(c->engine);
    *e = NULL;
    for (size_t i = 0; roster != NULL && i < roster_count(roster); i++) {
        const struct roster_entry *at = roster_at(roster, i);

        if (strcmp(at->task.id, id) == 0 &&
            (release == 0 || at->task.release == release) &&
            admin_rather(at, *e))
            *e = at;
    }
    if (*e != NULL)
        return roster;
    roster_drop(roster);
    api_problem(q, 404, "No such task",
                "no task of this name%s has been asked here",
                release != 0 ? " and release" : "");
    return NULL;
}

struct roster *api_kept(struct collector *c, struct request *q,
                        const char *name, const struct roster_entry **e)
{
    struct roster *roster = api_entry(c, q, name, e);

    if (roster == NULL || !engine_is_retired(c->engine, (*e)->number))
        return roster;
    api_problem(q, 410, "Retired",
                "release %" PRIu32 " of this task is retired: its tally is "
                "deleted; its counts and its history stay",
                (*e)->task.release);
    roster_drop(roster);
    return NULL;
}

void api_about(struct collector *c, struct request *q, api_members *put)
{
    const struct roster_entry *e;
    struct roster *roster = api_entry(c, q, "release", &e);
    struct put p;

    if (roster == NULL)
        return;
    if (api_begin(q, &p)) {
        put(&p, c, q, e);
        api_answer(q, 200, &p);
    }
    roster_drop(roster);
}
