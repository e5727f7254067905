/*
 * due.c - all uploads that are due at once, for a file that is carried
 * by hand.
 *
 * A device hands out its next upload once the one before has arrived. What will
 * come after all of them is found out on a copy in memory: a second device
 * under the same key, which reads this one's files and keeps to itself what it
 * would write. Its uploads are the same bytes, for they follow from the key and
 * the state alone. The device itself hands out the first before the copy is
 * made: what it writes down before it shows anything (outbox.c) holds for the
 * others, too.
 */
#include "host/client/client.h"

#include "host/base/host_fail.h"

#include <stdlib.h>

struct due_copy {
    const hsy_world *real;
    const hsy_release *const *releases;
    size_t nreleases;
    uint64_t seconds, anchor;
    bool told; /* of the first upload, which the device itself has logged */
    hsy_world world;
    hsy_device *device; /* owned */
};

/* ---- A world that is only read ------------------------------------------- */

static hsy_status due_load(void *ctx, hsy_file file, uint8_t *buf, size_t room,
                           size_t *len)
{
    const hsy_world *real = ((const struct due_copy *)ctx)->real;

    return real->load(real->ctx, file, buf, room, len);
}

/* The state is in the device itself; what it stores is never read again. */
static hsy_status due_store(void *ctx, hsy_file file, const uint8_t *buf,
                            size_t len)
{
    (void)ctx;
    (void)file;
    (void)buf;
    (void)len;
    return HSY_OK;
}

static hsy_status due_now(void *ctx, uint64_t *seconds)
{
    *seconds = ((const struct due_copy *)ctx)->seconds;
    return HSY_OK;
}

static hsy_status due_no_entropy(void *ctx, void *buf, size_t len)
{
    (void)ctx;
    (void)buf;
    (void)len;
    return HSY_E_ENTROPY;
}

static bool due_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                       const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                       size_t len)
{
    const hsy_world *real = ((const struct due_copy *)ctx)->real;

    return real->verify(real->ctx, key, sig, bytes, len);
}

static hsy_status due_anchor_read(void *ctx, uint64_t *number)
{
    *number = ((const struct due_copy *)ctx)->anchor;
    return HSY_OK;
}

static hsy_status due_anchor_raise(void *ctx, uint64_t number)
{
    ((struct due_copy *)ctx)->anchor = number;
    return HSY_OK;
}

/* What is handed out leaves the device: the person may read that. */
static void due_log(void *ctx, const hsy_log_entry *entry)
{
    struct due_copy *copy = ctx;
    const hsy_world *real = copy->real;

    if (entry->kind != HSY_LOG_UPLOAD && entry->kind != HSY_LOG_WITHHELD)
        return;
    if (real->log != NULL && copy->told)
        real->log(real->ctx, entry);
    copy->told |= entry->kind == HSY_LOG_UPLOAD;
}

/* ---- Copying ------------------------------------------------------------- */

static hsy_status due_copy(struct due_copy *copy)
{
    hsy_status st = HSY_OK;

    if (copy->real->anchor_read != NULL)
        st = copy->real->anchor_read(copy->real->ctx, &copy->anchor);
    copy->world = (hsy_world){.size = sizeof copy->world,
                              .ctx = copy,
                              .load = due_load,
                              .store = due_store,
                              .now = due_now,
                              .entropy = {due_no_entropy, NULL},
                              .verify = due_verify,
                              .log = due_log,
                              .seal = hsy_world_seal};
    if (copy->real->anchor_read != NULL) {
        copy->world.anchor_read = due_anchor_read;
        copy->world.anchor_raise = due_anchor_raise;
    }
    return st;
}

static void due_clear(struct due_copy *copy)
{
    if (copy->device != NULL)
        hsy_device_close(copy->device);
    free(copy->device);
}

/* ---- Handing out --------------------------------------------------------- */

static size_t due_room(const hsy_client *c)
{
    hsy_release_info info;
    size_t room = HSY_UPLOAD_WIRE;

    for (size_t i = 0; i < c->nreleases; i++) {
        hsy_release_describe(c->releases[i], &info);
        if (info.upload_bytes > room)
            room = info.upload_bytes;
    }
    return room;
}

static hsy_status due_all(struct due_copy *copy, uint8_t *upload, size_t room,
                          client_each *each, void *ctx, hsy_error *err)
{
    size_t len = 0;
    hsy_status st = HSY_OK;

    while (st == HSY_OK) {
        st = hsy_device_next(copy->device, upload, room, &len, copy->releases,
                             copy->nreleases, err);
        if (st == HSY_OK)
            st = each(ctx, upload, len);
        if (st == HSY_OK)
            st = hsy_device_sent(copy->device, copy->releases, copy->nreleases,
                                 upload, len, err);
    }
    return st;
}

/* The first upload, from the device itself. Its clock is read after the copy's,
 * so that what has ended for the copy has ended for it. */
static hsy_status due_first(struct due_copy *copy, hsy_client *c,
                            uint8_t *upload, size_t room, hsy_error *err)
{
    const hsy_world *real = copy->real;
    size_t len;
    hsy_status st = real->now(real->ctx, &copy->seconds);

    if (st != HSY_OK)
        return st;
    return hsy_device_next(c->device, upload, room, &len, copy->releases,
                           copy->nreleases, err);
}

static hsy_status due_open(struct due_copy *copy, const hsy_client *c,
                           hsy_error *err)
{
    hsy_document document;
    hsy_status st = due_copy(copy);

    copy->device = calloc(1, hsy_device_size(&c->policy) + 1);
    if (copy->device == NULL)
        return HSY_E_NOMEM;
    if (st == HSY_OK)
        st = hsy_device_open(copy->device, &c->policy, &copy->world, err);
    if (st == HSY_OK)
        st = hsy_device_accept_document(
            copy->device, &document, c->document.bytes, c->document.len, err);
    return st;
}

hsy_status hsy_client_due(hsy_client *c, enum client_which which,
                          client_each *each, void *ctx, hsy_error *err)
{
    const bool all = which == CLIENT_ALL;
    struct due_copy copy = {
        .real = hsy_host_world(c->host),
        .releases = (const hsy_release *const *)(all ? c->releases : c->direct),
        .nreleases = all ? c->nreleases : c->ndirect};
    size_t room = due_room(c);
    uint8_t *upload = malloc(room);
    hsy_status st = HSY_E_NOMEM;

    if (err != NULL)
        *err = (hsy_error){.status = HSY_OK};
    if (upload != NULL)
        st = due_first(&copy, c, upload, room, err);
    if (st == HSY_OK)
        st = due_open(&copy, c, err);
    if (st == HSY_OK)
        st = due_all(&copy, upload, room, each, ctx, err);
    if (st == HSY_E_END)
        st = HSY_OK;
    if (st != HSY_OK && err != NULL && err->status == HSY_OK)
        *err = (hsy_error){.status = st};
    due_clear(&copy);
    free(upload);
    return st;
}
