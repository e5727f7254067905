/*
 * device_now.c - hearsay device --now: a device of a rehearsal, and its clock.
 *
 * A device's days never go back, so a clock that was once set ahead by mistake
 * would end every task of a real person for good. So a device has one sort of
 * clock for its whole life: `init --now` leaves a mark in the new directory;
 * where the mark is every verb wants --now, and no other device takes it.
 */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include "host/base/day.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOW_MARK "rehearsal" /* the name of the file */

static hsy_status now_clock(void *ctx, uint64_t *seconds)
{
    *seconds = *(const uint64_t *)ctx;
    return HSY_OK;
}

bool device_now_parse(struct cli_parser *p, struct device_options *o)
{
    o->has_now = day_moment(&o->now, p->value);
    if (!o->has_now)
        cli_usage(p, "--now takes a day, as 2026-01-31 (its noon, UTC), a time "
                     "as 2026-01-31T08:30Z, or seconds since 1970");
    return o->has_now;
}

hsy_host_options device_host_options(const struct device_job *j)
{
    hsy_host_options o = {.size = sizeof o,
                          .wait_seconds = (uint32_t)j->how->wait,
                          .anchor = j->policy.anchor};

    if (j->how->has_now) {
        o.clock = now_clock;
        o.clock_ctx = (void *)&j->how->now;
    }
    return o;
}

int device_now(const struct device_job *j, uint64_t *seconds)
{
    struct timespec t;

    if (j->how->has_now) {
        *seconds = j->how->now;
        return 0;
    }
    if (clock_gettime(CLOCK_REALTIME, &t) == -1 || t.tv_sec < 0)
        return cli_fail("the clock stands before 1970; set it");
    *seconds = (uint64_t)t.tv_sec;
    return 0;
}

int device_now_mark(struct device_job *j)
{
    static const char text[] =
        "This device was made with --now: its clock is not the real one.\n";
    const char *path = device_file(j, NOW_MARK);

    if (path == NULL)
        return CLI_FAILED;
    if (j->how->has_now)
        return cli_write_file(path, (const uint8_t *)text, sizeof text - 1);
    if (unlink(path) == -1 && errno != ENOENT)
        return cli_fail("%s: %s", path, strerror(errno));
    return 0;
}

int device_now_fits(struct device_job *j)
{
    const char *path = device_file(j, NOW_MARK);
    bool marked;

    if (path == NULL)
        return CLI_FAILED;
    marked = access(path, F_OK) == 0 || errno != ENOENT;
    if (marked && !j->how->has_now)
        return cli_fail("%s: a device of a rehearsal, made with --now: say "
                        "--now TIME; the system's clock is not for it",
                        j->directory);
    if (!marked && j->how->has_now)
        return cli_fail("%s: --now is for devices of a rehearsal, made by "
                        "'hearsay device init --now'; this one has the "
                        "system's clock",
                        j->directory);
    return 0;
}
