/*
 * test_watch_moving.c - that nothing is folded is said when it is so, by who
 * looks once a second, whatever else takes its time.
 */
#include "server/collector/watch/internal.h"
#include "server/process/config.h"
#include "tap.h"

/* Look once a second for so long; whether it was ever said. */
static bool looks(struct watch *w, uint64_t *now, uint64_t seconds,
                  const struct engine_status *s)
{
    bool stuck = false;

    for (uint64_t i = 0; i < seconds; i++) {
        watch_sample(w, s, ++*now);
        stuck |= w->stuck;
    }
    return stuck;
}

int main(void)
{
    static char here[] = ".";
    const struct config f = {.data = here};
    struct engine_status s = {.seq = 7, .folded = 7};
    struct watch *w = NULL;
    uint64_t now = 1000;

    if (watch_open(&w, &f, NULL) != HSY_OK)
        return 1;
    ok(!looks(w, &now, 1000, &s), "all is folded, for a long time");
    s.seq = 9;
    ok(!looks(w, &now, 120, &s), "two commits wait for two minutes");
    ok(looks(w, &now, 2, &s), "and a moment longer: it is said");
    s.folded = 8;
    ok(!looks(w, &now, 120, &s), "one is folded: it goes on");
    ok(looks(w, &now, 2, &s) && w->stuck, "the other waits as long");
    s.folded = 9;
    ok(!looks(w, &now, 1000, &s), "until it is folded");
    watch_close(w);
    return tap_done();
}
