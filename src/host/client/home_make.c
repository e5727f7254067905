/* home_make.c - a new device, and new tasks for one. */
#define _DEFAULT_SOURCE
#include "host/client/internal.h"

#include "host/base/host_fail.h"
#include "host/base/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Room for so many releases at least, and for 4 times the tasks. */
#define MAKE_RELEASES 16u
#define MAKE_RELEASE_BYTES 256u
#define MAKE_DAY 86400u

hsy_status home_write(struct home *h, const char *name, const void *bytes,
                      size_t len, hsy_error *err)
{
    struct output *out = NULL;
    hsy_status st = home_file(h, name, err);

    if (st != HSY_OK)
        return st;
    errno = 0;
    st = output_open(&out, h->path);
    if (st == HSY_OK) {
        output_write(out, bytes, len); /* commit says whether it failed */
        st = output_commit(out);
    }
    if (st == HSY_E_NOMEM)
        return host_fail(err, st, HSY_FIELD_NONE, NULL);
    return st == HSY_OK ? HSY_OK : home_fail_errno(h, HOME_FILE, err);
}

/* ---- The policy ---------------------------------------------------------- */

hsy_status home_policy_from(struct home *h, const char *path, hsy_error *err)
{
    if ((size_t)snprintf(h->path, sizeof h->path, "%s", path) >= sizeof h->path)
        return home_fail(h, HOME_LONG, HSY_E_RANGE, err);
    return home_read_policy(h, &h->policy, err);
}

hsy_status home_policy_anchor(struct home *h, const char *path, hsy_error *err)
{
    char *here = path[0] == '/' ? strdup("") : realpath(".", NULL);
    size_t room;

    snprintf(h->path, sizeof h->path, "%s", path);
    if (here == NULL)
        return home_fail_errno(h, HOME_FILE, err);
    room = strlen(here) + strlen(path) + 2;
    h->policy.anchor = malloc(room);
    if (h->policy.anchor != NULL)
        snprintf(h->policy.anchor, room, "%s%s%s", here,
                 here[0] != '\0' ? "/" : "", path);
    free(here);
    return h->policy.anchor != NULL
               ? HSY_OK
               : host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, NULL);
}

hsy_status home_policy_sources(struct home *h, const struct task_file *d,
                               hsy_error *err)
{
    static const hsy_source caps = {.cap_answer = POLICY_ANSWER,
                                    .cap_day = POLICY_DAY,
                                    .cap_lifetime = POLICY_LIFETIME};
    hsy_status st = HSY_OK;

    h->trouble = HOME_SOURCE;
    for (size_t i = 0; st == HSY_OK && i < d->n; i++) {
        const char *source = d->all[i].source;

        snprintf(h->path, sizeof h->path, "%s", source);
        if (policy_find(&h->policy, source) == NULL)
            st = policy_add(&h->policy, source, strlen(source), &caps, err);
    }
    return st;
}

hsy_status home_policy_rooms(struct home *h, const struct task_file *d,
                             hsy_error *err)
{
    hsy_policy *p = &h->policy.policy;
    size_t most = MAKE_RELEASE_BYTES;

    for (size_t i = 0; i < d->n; i++) {
        hsy_release *r = NULL;
        hsy_release_info info;
        hsy_scheme_info scheme;
        size_t bytes;
        hsy_status st = task_release(&r, &d->all[i], err);

        if (st != HSY_OK) {
            h->trouble = HOME_TASK;
            snprintf(h->path, sizeof h->path, "%s", d->all[i].id);
            return st;
        }
        hsy_release_describe(r, &info);
        hsy_scheme_describe(info.scheme, &scheme);
        bytes = 2 * (size_t)info.task.sends * scheme.report_bytes;
        most = bytes > most ? bytes : most;
        free(r);
    }
    p->release_bytes = most;
    p->releases =
        4 * d->n > MAKE_RELEASES ? (uint32_t)(4 * d->n) : MAKE_RELEASES;
    return HSY_OK;
}

hsy_status home_policy_pins(struct home *h, const struct task_file *d,
                            hsy_error *err)
{
    h->trouble = HOME_PINS;
    return policy_pin(&h->policy, &d->doc, err);
}

/* Written and read again: a path may hold what YAML does not give back, and
 * the device would look for its anchor elsewhere. */
static hsy_status make_policy(struct home *h, hsy_error *err)
{
    const char *anchor = h->policy.anchor;
    struct policy again = {.sources = NULL};
    hsy_status st = home_file(h, "policy.yaml", err);

    if (st != HSY_OK)
        return st;
    errno = 0;
    st = policy_write(&h->policy, h->path, err);
    if (st != HSY_OK)
        return st == HSY_E_NOMEM ? host_fail(err, st, HSY_FIELD_NONE, NULL)
                                 : home_fail_errno(h, HOME_FILE, err);
    st = home_read_policy(h, &again, err);
    if (st == HSY_OK && anchor != NULL && strcmp(anchor, again.anchor) != 0)
        st = home_fail(h, HOME_ANCHOR, HSY_E_RANGE, err);
    policy_clear(&again);
    return st;
}

/* ---- The document -------------------------------------------------------- */

static hsy_status make_now(struct home *h, uint64_t *seconds, hsy_error *err)
{
    struct timespec t = {.tv_sec = 0};

    if (h->now == NULL &&
        (clock_gettime(CLOCK_REALTIME, &t) == -1 || t.tv_sec < 0))
        return home_fail(h, HOME_CLOCK, HSY_E_IO, err);
    *seconds = h->now != NULL ? *h->now : (uint64_t)t.tv_sec;
    return HSY_OK;
}

/* What the device would refuse, before there is one. */
static hsy_status make_check(struct home *h, const struct task_file *d,
                             hsy_error *err)
{
    const size_t len = d->doc.len - HSY_SIGNATURE; /* none is shorter */
    uint64_t today = 0;
    hsy_status st;

    if (!hsy_sign_verify(h->policy.policy.sign_key, d->bytes + len, d->bytes,
                         len))
        return home_fail(h, HOME_UNSIGNED, HSY_E_SIGNATURE, err);
    st = make_now(h, &today, err);
    if (st != HSY_OK)
        return st;
    today /= MAKE_DAY;
    if (d->doc.issued > today + 1) /* clocks differ by a little */
        return home_fail(h, HOME_EARLY, HSY_E_REFUSED, err);
    return d->doc.expires > today ? HSY_OK
                                  : home_fail(h, HOME_LATE, HSY_E_OLD, err);
}

/* ---- A new device -------------------------------------------------------- */

/* The directory, with policy and document in it but no key. */
static hsy_status make_directory(struct home *h, const struct task_file *d,
                                 hsy_error *err)
{
    const hsy_host_options options = {
        .size = sizeof options, .wait_seconds = h->wait, .create = true};
    hsy_host *host = NULL;
    hsy_status st = hsy_host_open(&host, h->directory, &options, err);

    h->trouble = HOME_DEVICE;
    if (st != HSY_OK)
        return st;
    st = home_file(h, "key", err);
    if (st == HSY_OK && home_there(h->path))
        st = home_fail(h, HOME_THERE, HSY_E_REFUSED, err);
    if (st == HSY_OK)
        st = make_policy(h, err);
    if (st == HSY_OK)
        st = home_write(h, "document", d->bytes, d->doc.len, err);
    if (st == HSY_OK)
        st = home_mark(h, err);
    hsy_host_close(host);
    return st;
}

hsy_status home_make(struct home *h, const struct task_file *d, hsy_error *err)
{
    hsy_host_options options;
    hsy_status st = make_check(h, d, err);

    if (st == HSY_OK)
        st = make_directory(h, d, err);
    if (st == HSY_OK)
        st = home_file(h, "document", err);
    if (st != HSY_OK)
        return st;
    h->trouble = HOME_DEVICE;
    options = home_options(h);
    options.create = true;
    return hsy_client_open(&h->client, h->directory, &h->policy.policy, h->path,
                           &options, err);
}

/* ---- New tasks ----------------------------------------------------------- */

/* A store that failed may have reached one copy of the state, and then stands:
 * only a document that was refused is taken away again. */
hsy_status home_take(struct home *h, const struct task_file *d, hsy_error *err)
{
    hsy_document taken;
    hsy_status st = home_write(h, HOME_DRAFT, d->bytes, d->doc.len, err);

    if (st != HSY_OK)
        return st;
    st = hsy_device_accept_document(h->bare, &taken, d->bytes, d->doc.len, err);
    if (st == HSY_OK)
        return home_roll_forward(h) ? HSY_OK
                                    : home_fail_errno(h, HOME_PLACE, err);
    if (home_file(h, HOME_DRAFT, NULL) == HSY_OK && st != HSY_E_IO &&
        st != HSY_E_DAMAGED)
        unlink(h->path);
    h->trouble = HOME_DOCUMENT;
    home_explain(h, err);
    return st;
}
