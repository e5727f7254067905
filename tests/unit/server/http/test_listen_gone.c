/*
 * test_listen_gone.c - peers that leave before their answer is there: nothing
 * of it stays, and who only sends no more still gets it. Built with
 * LeakSanitizer what stays is also found by that.
 */
#define _GNU_SOURCE
#include "rig/gone_peers.h"
#include "server/http/http.h"
#include "tap.h"

#include <pthread.h>

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *kept[GONE_PEERS];
static unsigned kept_count;

static void serve_kept(struct request *q, void *ctx)
{
    (void)ctx;
    pthread_mutex_lock(&kept_lock);
    kept[kept_count++] = q;
    pthread_mutex_unlock(&kept_lock);
    gone_taken++;
}

/* A request that was handed in is ours until it is answered, its peer gone or
 * not. */
static void answer_kept(void)
{
    for (unsigned i = 0; i < GONE_PEERS; i++) {
        request_set(kept[i], "X-Of-Ours", "yes");
        request_answer(kept[i], 200, "text/plain", gone_body(), GONE_BODY,
                       gone_free);
    }
    kept_count = 0;
}

static const struct route routes[] = {
    {"GET", "/kept", LISTEN_ANYONE, 0, serve_kept, NULL}};

static struct listener *serve(void)
{
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .routes = routes,
                                     .nroutes = 1,
                                     .loops = 2,
                                     .connections = 300,
                                     .head_seconds = 60,
                                     .body_seconds = 60,
                                     .idle_seconds = 60,
                                     .inflight_bytes = 1 << 20};
    struct listener *l;

    if (listen_open(&l, &o, NULL) != HSY_OK || listen_start(l, NULL) != HSY_OK)
        abort();
    return l;
}

int main(void)
{
    struct listener *l = serve();
    const struct gone_server s = {listen_port(l), answer_kept};
    struct listen_status now;

    for (int how = 0; how < GONE_HOWS; how++) {
        const unsigned before = gone_made - gone_freed;
        const unsigned heard = gone_try(&s, (enum gone_how)how);
        const bool reads = how == GONE_STAYS || how == GONE_HALF;

        do {
            gone_pause();
            listen_status(l, &now);
        } while (now.connections != 0);
        ok(eq_u64(gone_made - gone_freed, before) &&
               eq_u64(now.inflight_bytes, 0),
           "no answer stays of peers that %s", gone_names[how]);
        if (reads)
            is_u64(heard, GONE_PEERS, "all that %s are answered: %u of %u",
                   gone_names[how], heard, GONE_PEERS);
    }
    listen_close(l);
    ok(eq_u64(gone_made, gone_freed) &&
           eq_u64(gone_made, GONE_HOWS * GONE_PEERS),
       "%u answers were made and as many freed", gone_made);
    return tap_done();
}
