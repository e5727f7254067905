/* home_log.c - what a device did, from its log; and what it sends. */
#define _DEFAULT_SOURCE
#include "host/client/internal.h"

#include "host/base/files.h"
#include "host/base/grow.h"
#include "host/base/owned.h"
#include "host/client/client.h"
#include "host/client/send.h"

#include <stdlib.h>
#include <string.h>

#define LOG_MAX (64u << 20)

/* ---- The log ------------------------------------------------------------- */

static hsy_status log_split(struct home_log *log, const char *text, size_t len)
{
    while (len != 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end != NULL ? (size_t)(end - text) : len;

        if (!grow_room(&log->lines, &log->room, log->n + 1, sizeof *log->lines))
            return HSY_E_NOMEM;
        if (n != 0)
            log->lines[log->n++] = (struct home_line){text, n};
        n += end != NULL;
        text += n;
        len -= n;
    }
    return HSY_OK;
}

/* No file, no lines. */
static hsy_status log_file(struct home_log *log, uint8_t **bytes,
                           struct home *h, const char *name, hsy_error *err)
{
    hsy_status st = home_file(h, name, err);
    size_t len = 0;

    if (st != HSY_OK || !home_there(h->path))
        return st;
    st = file_whole(bytes, &len, h->path, LOG_MAX, err);
    if (st == HSY_OK)
        st = log_split(log, (const char *)*bytes, len);
    if (st == HSY_E_IO)
        return home_fail_errno(h, HOME_FILE, err);
    if (st == HSY_E_RANGE) {
        h->trouble = HOME_TOO_LONG;
        return host_fail_limit(err, st, HSY_FIELD_NONE, NULL, LOG_MAX);
    }
    return st == HSY_OK ? st : host_fail(err, st, HSY_FIELD_NONE, NULL);
}

hsy_status home_log_read(struct home_log *log, struct home *h, hsy_error *err)
{
    hsy_status st = log_file(log, &log->older, h, "log.1", err);

    return st == HSY_OK ? log_file(log, &log->newer, h, "log", err) : st;
}

void home_log_clear(struct home_log *log)
{
    free(log->lines);
    free(log->older);
    free(log->newer);
    *log = (struct home_log){.lines = NULL};
}

struct home_line home_log_value(const struct home_line *line, const char *key)
{
    const char *at = line->text, *end = line->text + line->len;
    const size_t len = strlen(key);

    while ((at = memchr(at, ' ', (size_t)(end - at))) != NULL) {
        const char *value = ++at + len + 1, *space;

        if ((size_t)(end - at) <= len || memcmp(at, key, len) != 0 ||
            at[len] != '=')
            continue;
        space = memchr(value, ' ', (size_t)(end - value));
        return (struct home_line){
            value, (size_t)((space != NULL ? space : end) - value)};
    }
    return (struct home_line){NULL, 0};
}

/* ---- Sending ------------------------------------------------------------- */

struct log_sending {
    struct home *home;
    struct home_sent *sent;
    hsy_error why; /* of what failed inside */
};

/* The device was open for a moment. */
static hsy_status sending_close(struct log_sending *s, hsy_status st,
                                const hsy_error *err)
{
    if (st != HSY_OK) {
        s->sent->inside = true;
        s->why = *err;
        return HSY_E_REFUSED; /* whose status is the home's, not the network's
                               */
    }
    home_close(s->home);
    return HSY_OK;
}

static hsy_status sending_gather(void *ctx, struct send_list *list,
                                 hsy_error *err)
{
    struct log_sending *s = ctx;
    struct home *h = s->home;
    hsy_error own = {0};
    hsy_status st = home_open(h, &own);

    (void)err;
    if (st == HSY_OK) {
        s->sent->may = hsy_device_consent(hsy_client_device(h->client)) ==
                       HSY_CONSENT_SEND;
        st = hsy_send_gather(h->client, CLIENT_ALL, list, &own);
    }
    return sending_close(s, st, &own);
}

static hsy_status sending_settle(void *ctx, const struct send_list *list,
                                 hsy_error *err)
{
    struct log_sending *s = ctx;
    hsy_error own = {0};
    hsy_status st = home_open(s->home, &own);

    (void)err;
    if (st == HSY_OK)
        st = hsy_send_mark(s->home->client, list, &own);
    return sending_close(s, st, &own);
}

hsy_status home_send(struct home *h, struct home_sent *sent, const char *url,
                     const hsy_send_options *options, hsy_error *err)
{
    struct log_sending s = {.home = h, .sent = sent};
    const struct send_hooks hooks = {sending_gather, sending_settle, &s, NULL};
    hsy_status st;

    *sent = (struct home_sent){.may = false};
    h->collector = url;
    st = hsy_send_all(&hooks, url, options, &sent->result, err);
    if (!sent->inside)
        return st;
    *err = s.why;
    return s.why.status;
}

/* ---- Fetching ------------------------------------------------------------ */

struct log_fetching {
    struct home *home;
    struct home_fetched *fetched;
};

static hsy_status fetching_plan(void *ctx, const hsy_send_options *options,
                                struct send_fetch *f, hsy_error *err)
{
    struct log_fetching *s = ctx;
    hsy_status st = home_open(s->home, err);

    s->fetched->inside = st != HSY_OK;
    if (st != HSY_OK)
        return st;
    st = hsy_fetch_plan(s->home->client, options, f, err);
    home_close(s->home);
    return st;
}

hsy_status home_fetch(struct home *h, struct home_fetched *fetched,
                      const char *url, const hsy_send_options *options,
                      bool sends, hsy_error *err)
{
    struct log_fetching s = {.home = h, .fetched = fetched};
    const struct send_fetch_hooks hooks = {fetching_plan, &s, sends};

    *fetched = (struct home_fetched){.bytes = NULL};
    h->collector = url;
    return hsy_fetch_all(&hooks, &fetched->bytes, &fetched->len, url, options,
                         err);
}
