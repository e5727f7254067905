/* client.c - a device with its document and all tasks that it allows. */
#define _GNU_SOURCE /* explicit_bzero, O_CLOEXEC */

#include "host/client/client.h"

#include "host/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The document in a file ---------------------------------------------- */

static hsy_status client_read_fd(hsy_client *c, int fd, size_t *len,
                                 hsy_error *err)
{
    struct stat s;

    if (fstat(fd, &s) == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_DOCUMENT,
                         hsy_world_why(errno));
    if (!S_ISREG(s.st_mode))
        return host_fail(err, HSY_E_IO, HSY_FIELD_DOCUMENT, "not a plain file");
    switch (file_whole_fd(&c->bytes, len, fd, HSY_DOCUMENT_MAX, NULL)) {
    case HSY_OK:
        return HSY_OK;
    case HSY_E_RANGE:
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_DOCUMENT,
                         "longer than any document may be");
    case HSY_E_IO:
        return host_fail(err, HSY_E_IO, HSY_FIELD_DOCUMENT,
                         hsy_world_why(errno));
    default:
        return host_nomem(err);
    }
}

static hsy_status client_read(hsy_client *c, const char *path, size_t *len,
                              hsy_error *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    hsy_status st;

    if (fd == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_DOCUMENT,
                         hsy_world_why(errno));
    st = client_read_fd(c, fd, len, err);
    close(fd);
    return st;
}

/* ---- The policy: a copy, so that the caller need not keep it ------------- */

static char *client_copy_text(hsy_client *c, const char *text)
{
    const size_t len = strlen(text) + 1;
    char *copy = owned_array(&c->owned, 1, len);

    return copy != NULL ? memcpy(copy, text, len) : NULL;
}

static const uint8_t *client_copy_keys(hsy_client *c, const uint8_t *keys,
                                       size_t n)
{
    uint8_t *copy = owned_array(&c->owned, n, HSY_SIGN_KEY);

    if (copy != NULL && n != 0)
        memcpy(copy, keys, n * HSY_SIGN_KEY);
    return copy;
}

static void client_copy_way(hsy_client *c)
{
    hsy_policy *p = &c->policy;
    const char **relays = owned_array(&c->owned, p->nrelays, sizeof *relays);

    for (size_t i = 0; relays != NULL && i < p->nrelays; i++)
        relays[i] = client_copy_text(c, p->relays[i]);
    p->relays = relays;
    p->shuffler_keys = client_copy_keys(c, p->shuffler_keys, p->nshuffler_keys);
    p->gateway_keys = client_copy_keys(c, p->gateway_keys, p->ngateway_keys);
}

static hsy_status client_copy_policy(hsy_client *c, const hsy_policy *policy,
                                     hsy_error *err)
{
    hsy_source *sources;

    if (policy->size != sizeof *policy && /* or as it once was */
        policy->size != offsetof(hsy_policy, relays) &&
        policy->size != offsetof(hsy_policy, min_batch))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_POLICY,
                         "set size to sizeof(hsy_policy)");
    if (policy->nsources > HSY_TASKS_MAX)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_POLICY,
                         "too many sources");
    memcpy(&c->policy, policy, policy->size);
    c->policy.size = sizeof c->policy;
    sources = owned_array(&c->owned, policy->nsources, sizeof *sources);
    c->policy.sources = sources;
    for (size_t i = 0; sources != NULL && i < policy->nsources; i++) {
        sources[i] = policy->sources[i];
        sources[i].name = client_copy_text(c, policy->sources[i].name);
    }
    client_copy_way(c);
    return owned_all(&c->owned, err);
}

/* ---- Opening ------------------------------------------------------------- */

static hsy_status client_open_device(hsy_client *c, bool create, hsy_error *err)
{
    const hsy_world *world = hsy_host_world(c->host);
    hsy_status st;

    c->device = owned_array(&c->owned, 1, hsy_device_size(&c->policy));
    if (c->device == NULL)
        return host_nomem(err);
    st = hsy_device_open(c->device, &c->policy, world, err);
    if (st == HSY_E_EMPTY && create)
        st = hsy_device_create(c->device, &c->policy, world, err);
    return st;
}

/* A task that is not allowed is remembered; what has to do with this machine
 * instead of the task is a failure. */
static hsy_status client_admit(hsy_client *c, uint32_t i, hsy_error *err)
{
    struct client_refusal *refusal = &c->refusals[c->nrefusals];
    hsy_release *r;
    hsy_status st;

    hsy_document_task(&c->document, &refusal->task, i);
    refusal->why = (hsy_error){0};
    r = malloc(hsy_release_size(&refusal->task) + 1);
    if (r == NULL)
        return host_nomem(err);
    st = hsy_device_admit(c->device, r, &c->document, i, &refusal->why);
    if (st == HSY_OK) {
        c->places[c->nreleases] = i;
        c->releases[c->nreleases++] = r;
        return HSY_OK;
    }
    free(r);
    if (st == HSY_E_IO || st == HSY_E_BUSY || st == HSY_E_DAMAGED) {
        if (err != NULL)
            *err = refusal->why;
        return st;
    }
    c->nrefusals++;
    return HSY_OK;
}

bool hsy_client_demands(const hsy_client *c, size_t i)
{
    hsy_release_info is, other;

    if ((c->policy.flags & HSY_POLICY_RELAY) != 0 || i >= c->nreleases)
        return true;
    hsy_release_describe(c->releases[i], &is);
    for (size_t k = 0; k < c->nreleases; k++) {
        hsy_release_describe(c->releases[k], &other);
        if ((other.task.flags & HSY_TASK_RELAY) != 0 &&
            memcmp(other.digest, is.digest, HSY_DIGEST) == 0 &&
            strcmp(other.task.source, is.task.source) == 0)
            return true;
    }
    return false;
}

static hsy_status client_take(hsy_client *c, size_t len, hsy_error *err)
{
    hsy_status st =
        hsy_device_accept_document(c->device, &c->document, c->bytes, len, err);
    size_t n = c->document.tasks;

    if (st != HSY_OK)
        return st;
    c->releases = owned_array(&c->owned, n, sizeof *c->releases);
    c->direct = owned_array(&c->owned, n, sizeof *c->direct);
    c->places = owned_array(&c->owned, n, sizeof *c->places);
    c->refusals = owned_array(&c->owned, n + 1, sizeof *c->refusals);
    if (c->owned.failed)
        return host_nomem(err);
    for (uint32_t i = 0; st == HSY_OK && i < n; i++)
        st = client_admit(c, i, err);
    for (size_t i = 0; i < c->nreleases; i++)
        if (!hsy_client_demands(c, i))
            c->direct[c->ndirect++] = c->releases[i];
    return st;
}

static hsy_status client_open(hsy_client *c, const char *directory,
                              const char *document,
                              const hsy_host_options *options, hsy_error *err)
{
    size_t len = 0;
    hsy_status st = client_read(c, document, &len, err);

    if (st == HSY_OK)
        st = hsy_host_open(&c->host, directory, options, err);
    if (st != HSY_OK)
        return st;
    st = client_open_device(c, options == NULL || options->create, err);
    if (st == HSY_OK)
        st = client_take(c, len, err);
    if (st != HSY_OK)
        hsy_world_explain(c->host, err);
    return st;
}

hsy_status hsy_client_open(hsy_client **client, const char *directory,
                           const hsy_policy *policy, const char *document,
                           const hsy_host_options *options, hsy_error *err)
{
    hsy_client *c = calloc(1, sizeof *c);
    hsy_status st;

    if (c == NULL)
        return host_nomem(err);
    st = client_copy_policy(c, policy, err);
    if (st == HSY_OK)
        st = client_open(c, directory, document, options, err);
    if (st != HSY_OK) {
        hsy_client_close(c);
        return st;
    }
    *client = c;
    return HSY_OK;
}

void hsy_client_close(hsy_client *client)
{
    hsy_client *c = client;

    if (c == NULL)
        return;
    if (c->device != NULL)
        hsy_device_close(c->device);
    for (size_t i = 0; i < c->nreleases; i++)
        free(c->releases[i]);
    free(c->bytes);
    owned_free(&c->owned);
    hsy_host_close(c->host);
    free(c);
}

/* ---- What is in it ------------------------------------------------------- */

hsy_host *hsy_client_host(hsy_client *client)
{
    return client->host;
}

hsy_device *hsy_client_device(hsy_client *client)
{
    return client->device;
}

size_t hsy_client_find(const hsy_client *c, const char *task)
{
    hsy_release_info info;

    for (size_t i = 0; i < c->nreleases; i++) {
        hsy_release_describe(c->releases[i], &info);
        if (strcmp(info.task.id, task) == 0)
            return i;
    }
    return c->nreleases;
}

const hsy_release *const *hsy_client_releases(hsy_client *client, size_t *n)
{
    *n = client->nreleases;
    return (const hsy_release *const *)client->releases;
}

bool hsy_client_task(hsy_client *client, hsy_task *task, size_t i)
{
    if (i >= client->nreleases)
        return false;
    hsy_document_task(&client->document, task, client->places[i]);
    return true;
}

bool hsy_client_refused(hsy_client *client, hsy_task *task, hsy_error *why,
                        size_t i)
{
    if (i >= client->nrefusals)
        return false;
    *task = client->refusals[i].task;
    if (why != NULL)
        *why = client->refusals[i].why;
    return true;
}

/* ---- What it does -------------------------------------------------------- */

/* Why there is no such task here: the policy's word, if it was refused. */
static hsy_status client_unknown(const hsy_client *c, const char *task,
                                 hsy_error *err)
{
    for (size_t i = 0; i < c->nrefusals; i++) {
        if (strcmp(c->refusals[i].task.id, task) != 0)
            continue;
        if (err != NULL)
            *err = c->refusals[i].why;
        return c->refusals[i].why.status;
    }
    return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_TASK,
                     "the document has no task of this name");
}

/* Whether it is this process's to use. */
static bool client_mine(const hsy_client *c, hsy_error *err)
{
    if (hsy_world_mine(c->host))
        return true;
    host_fail(err, HSY_E_REFUSED, HSY_FIELD_CLIENT, hsy_world_why(ECHILD));
    return false;
}

static hsy_status client_said(const hsy_client *c, hsy_status st,
                              hsy_error *err)
{
    if (st != HSY_OK)
        hsy_world_explain(c->host, err);
    return st;
}

hsy_status hsy_client_answer(hsy_client *client, hsy_answer_state *state,
                             const char *task, const hsy_truth *truth,
                             hsy_error *err)
{
    size_t i = hsy_client_find(client, task);

    if (!client_mine(client, err))
        return HSY_E_REFUSED;
    if (i == client->nreleases)
        return client_unknown(client, task, err);
    return client_said(client,
                       hsy_device_answer(client->device, state,
                                         client->releases[i], truth, err),
                       err);
}

hsy_status hsy_client_answer_text(hsy_client *client, hsy_answer_state *state,
                                  const char *task, const char *text,
                                  size_t len, hsy_error *err)
{
    size_t i = hsy_client_find(client, task);
    struct client_truth truth;
    hsy_task described;
    hsy_status st;

    if (!client_mine(client, err))
        return HSY_E_REFUSED;
    if (i == client->nreleases)
        return client_unknown(client, task, err);
    hsy_document_task(&client->document, &described, client->places[i]);
    st = hsy_client_parse(&truth, client->releases[i], &described, text, len,
                          err);
    if (st == HSY_OK)
        st = client_said(client,
                         hsy_device_answer(client->device, state,
                                           client->releases[i], &truth.truth,
                                           err),
                         err);
    explicit_bzero(&truth, sizeof truth);
    return st;
}

bool hsy_client_relayed(const hsy_client *c, const uint8_t *upload)
{
    hsy_upload header;

    return hsy_upload_decode(&header, upload, NULL) != HSY_OK ||
           hsy_client_demands(c, hsy_client_find(c, header.task));
}

/* What a program is handed it sends by itself: nothing that demands the relay.
 */
hsy_status hsy_client_next(hsy_client *client, uint8_t *upload, size_t room,
                           size_t *len, hsy_error *err)
{
    const hsy_release *const *direct =
        (const hsy_release *const *)client->direct;
    hsy_status st;

    if (!client_mine(client, err))
        return HSY_E_REFUSED;
    st = hsy_device_next(client->device, upload, room, len, direct,
                         client->ndirect, err);
    if (st == HSY_E_END && client->ndirect != client->nreleases)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_RELAY,
                         "what else there may be leaves through a relay only: "
                         "hsy_device_upload");
    return client_said(client, st, err);
}

hsy_status hsy_client_sent(hsy_client *client, const uint8_t *upload,
                           size_t len, hsy_error *err)
{
    size_t n;
    const hsy_release *const *releases = hsy_client_releases(client, &n);

    if (!client_mine(client, err))
        return HSY_E_REFUSED;
    return client_said(
        client, hsy_device_sent(client->device, releases, n, upload, len, err),
        err);
}
