/* home.c - a device's directory, opened and closed. */
#define _DEFAULT_SOURCE
#include "host/client/internal.h"

#include "host/base/host_fail.h"
#include "host/client/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOME_MARK "rehearsal" /* the name of the file */

hsy_status home_fail(struct home *h, enum home_trouble trouble,
                     hsy_status status, hsy_error *err)
{
    h->trouble = trouble;
    return host_fail(err, status, HSY_FIELD_NONE, NULL);
}

hsy_status home_fail_errno(struct home *h, enum home_trouble trouble,
                           hsy_error *err)
{
    h->reason = errno;
    return home_fail(h, trouble, HSY_E_IO, err);
}

hsy_status home_file(struct home *h, const char *name, hsy_error *err)
{
    int n = snprintf(h->path, sizeof h->path, "%s/%s", h->directory, name);

    return n > 0 && (size_t)n < sizeof h->path
               ? HSY_OK
               : home_fail(h, HOME_LONG, HSY_E_RANGE, err);
}

/* Whether the file at path is there; what cannot be looked at is. */
bool home_there(const char *path)
{
    return access(path, F_OK) == 0 || errno != ENOENT;
}

/* ---- The policy ---------------------------------------------------------- */

hsy_status home_read_policy(struct home *h, struct policy *p, hsy_error *err)
{
    hsy_status st;

    free(h->problems);
    h->problems = NULL;
    p->collector = h->collector;
    st = policy_read(p, h->path, &h->problems, &h->nproblems, err);
    if (st != HSY_OK) {
        h->reason = errno;
        h->trouble = st == HSY_E_IO ? HOME_FILE : HOME_POLICY;
    }
    return st;
}

hsy_status home_policy(struct home *h, hsy_error *err)
{
    hsy_status st = home_file(h, "policy.yaml", err);

    if (st != HSY_OK)
        return st;
    if (home_there(h->path))
        return home_read_policy(h, &h->policy, err);
    st = home_file(h, "key", err);
    if (st != HSY_OK)
        return st;
    return home_fail(h,
                     access(h->path, F_OK) == 0 ? HOME_LOST_POLICY : HOME_NONE,
                     HSY_E_IO, err);
}

/* ---- The clock ----------------------------------------------------------- */

static hsy_status home_clock(void *ctx, uint64_t *seconds)
{
    *seconds = *(const uint64_t *)ctx;
    return HSY_OK;
}

hsy_host_options home_options(const struct home *h)
{
    hsy_host_options o = {
        .size = sizeof o, .wait_seconds = h->wait, .anchor = h->policy.anchor};

    if (h->now != NULL) {
        o.clock = home_clock;
        o.clock_ctx = (void *)(uintptr_t)h->now;
    }
    return o;
}

/* Mark a directory in the making as a rehearsal's, or take the mark away. */
hsy_status home_mark(struct home *h, hsy_error *err)
{
    static const char text[] =
        "This device was made with --now: its clock is not the real one.\n";
    hsy_status st = home_file(h, HOME_MARK, err);

    if (st != HSY_OK)
        return st;
    if (h->now != NULL)
        return home_write(h, HOME_MARK, text, sizeof text - 1, err);
    return unlink(h->path) == 0 || errno == ENOENT
               ? HSY_OK
               : home_fail_errno(h, HOME_FILE, err);
}

/* Whether the device is of the sort that the clock is for. */
static hsy_status home_fits(struct home *h, hsy_error *err)
{
    hsy_status st = home_file(h, HOME_MARK, err);
    bool marked;

    if (st != HSY_OK)
        return st;
    marked = home_there(h->path);
    if (marked == (h->now != NULL))
        return HSY_OK;
    return home_fail(h, marked ? HOME_REHEARSAL : HOME_REAL, HSY_E_REFUSED,
                     err);
}

/* ---- The device ---------------------------------------------------------- */

bool home_roll_forward(struct home *h)
{
    char from[HOME_PATH];

    if (home_file(h, HOME_DRAFT, NULL) != HSY_OK)
        return false;
    memcpy(from, h->path, sizeof from);
    return home_file(h, "document", NULL) == HSY_OK &&
           rename(from, h->path) == 0;
}

hsy_status home_open(struct home *h, hsy_error *err)
{
    hsy_host_options options;
    hsy_status st = home_policy(h, err);

    if (st == HSY_OK)
        st = home_fits(h, err);
    if (st != HSY_OK)
        return st;
    options = home_options(h);
    do {
        st = home_file(h, "document", err);
        if (st != HSY_OK)
            return st;
        h->trouble = HOME_DEVICE;
        st = hsy_client_open(&h->client, h->directory, &h->policy.policy,
                             h->path, &options, err);
    } while (st == HSY_E_OLD && home_roll_forward(h));
    return st;
}

hsy_status home_open_bare(struct home *h, hsy_error *err)
{
    hsy_host_options options;
    hsy_status st = home_policy(h, err);

    if (st == HSY_OK)
        st = home_fits(h, err);
    if (st != HSY_OK)
        return st;
    h->trouble = HOME_DEVICE;
    options = home_options(h);
    h->bare = calloc(1, hsy_device_size(&h->policy.policy) + 1);
    if (h->bare == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, NULL);
    st = hsy_host_open(&h->host, h->directory, &options, err);
    if (st != HSY_OK)
        return st;
    st = hsy_device_open(h->bare, &h->policy.policy, hsy_host_world(h->host),
                         err);
    if (st != HSY_OK)
        hsy_world_explain(h->host, err);
    return st;
}

void home_explain(const struct home *h, hsy_error *err)
{
    hsy_world_explain(h->host, err);
}

void home_close(struct home *h)
{
    const hsy_host *host =
        h->client != NULL ? hsy_client_host(h->client) : h->host;

    if (host != NULL && !hsy_host_logged(host))
        h->unlogged = true;
    h->withheld |= host != NULL && host->withheld;
    hsy_client_close(h->client);
    if (h->bare != NULL && h->host != NULL)
        hsy_device_close(h->bare);
    free(h->bare);
    hsy_host_close(h->host);
    policy_clear(&h->policy);
    free(h->problems);
    h->client = NULL;
    h->bare = NULL;
    h->host = NULL;
    h->problems = NULL;
}
