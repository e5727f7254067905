/* serve_hop.c - a collector's part of a chain of shufflers, or a shuffler's. */
#define _GNU_SOURCE
#include "server/collector/serve.h"

#include "server/store/rehearsal.h"

#include <time.h>
#include <unistd.h>

#define SERVE_MIX 1000u /* milliseconds between looks at batches */
#define SERVE_MIX_REHEARSAL 20u

/* A clock file that cannot be read, while somebody writes it, stands still:
 * the real time is never taken for a rehearsal's. */
uint64_t serve_time(const struct collector *c, uint64_t *rehearsed)
{
    const time_t now = time(NULL);
    uint64_t read;

    if (c->config.rehearsal == NULL)
        return now > 0 ? (uint64_t)now : 0;
    if (rehearsal_read(&read, c->config.rehearsal, NULL) == HSY_OK)
        *rehearsed = read;
    return *rehearsed;
}

static uint64_t serve_hop_now(void *ctx)
{
    struct collector *c = ctx;

    return serve_time(c, &c->rehearsed[1]);
}

void serve_failed(void *ctx, const hsy_error *err)
{
    struct collector *c = ctx;

    log_failure(c->log, "store-failed", err);
    _exit(1);
}

struct hop_files serve_hop_files(const struct config *f)
{
    return (struct hop_files){f->sign_key, f->seal_keys, f->receipt_key};
}

hsy_status serve_open_hop(struct collector *c, struct serve_trouble *t)
{
    const struct config *f = &c->config;
    const struct hop_options o = {
        .size = sizeof o,
        .files = serve_hop_files(f),
        .next = f->next,
        .next_ca = f->next_ca,
        .directory = f->data,
        .store = counting_store(c->counting),
        .counting = c->counting,
        .log = c->log,
        .now = serve_hop_now,
        .look_millis = f->rehearsal != NULL ? SERVE_MIX_REHEARSAL : SERVE_MIX,
        .failed = serve_failed,
        .ctx = c};
    const char *about = NULL;
    hsy_status st;

    if (f->sign_key == NULL)
        return HSY_OK;
    st = hop_open(&c->hop, &o, &about, &t->err);
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, about);
}
