/*
 * api_document.c - a signed document comes into force: at the start, by a
 * reload, or by PUT /v1/document.
 */
#include "server/collector/collector.h"

#include "host/base/host_fail.h"
#include "server/shuffle/hops.h"

#include <stdlib.h>
#include <string.h>

/* By the collector's key, or by the one that the document in force names for
 * later versions: as devices do. */
static bool document_signed(const struct collector *c, const uint8_t *bytes,
                            size_t len, const hsy_document *old)
{
    static const uint8_t none[HSY_SIGN_KEY];
    const size_t n = len - HSY_SIGNATURE;

    return hsy_sign_verify(c->sign_key, bytes + n, bytes, n) ||
           (old != NULL && memcmp(old->next_key, none, sizeof none) != 0 &&
            hsy_sign_verify(old->next_key, bytes + n, bytes, n));
}

static hsy_status document_check(const struct collector *c,
                                 const uint8_t *bytes, size_t len,
                                 const uint8_t *old, size_t old_len,
                                 hsy_error *err)
{
    hsy_document in_force, doc;
    const bool first =
        old == NULL || hsy_document_open(&in_force, old, old_len, NULL);
    hsy_status st = hsy_document_open(&doc, bytes, len, err);
    uint32_t task;

    if (st != HSY_OK)
        return st;
    if (!document_signed(c, bytes, len, first ? NULL : &in_force))
        return host_fail(err, HSY_E_SIGNATURE, HSY_FIELD_NONE,
                         "not signed by the public key of this collector");
    if (!hops_agree(&doc, &task))
        return host_fail_at(err, HSY_E_SIGNATURE, HSY_FIELD_STATEMENT,
                            "a shuffler's statement is not signed by it",
                            HSY_UNIT_TASK, task + 1);
    return HSY_OK;
}

/* The lock is held. */
static hsy_status document_offer(struct collector *c, const uint8_t *bytes,
                                 size_t len, hsy_error *err)
{
    size_t old_len = 0;
    uint8_t *old = engine_document_hold(c->engine, &old_len);
    const bool same =
        old != NULL && old_len == len && memcmp(old, bytes, len) == 0;
    hsy_status st = document_check(c, bytes, len, old, old_len, err);

    engine_document_drop(old);
    if (st != HSY_OK || same)
        return st;
    return c->counting->ops->document(c->counting, bytes, len, err);
}

hsy_status api_take_document(struct collector *c, const uint8_t *bytes,
                             size_t len, hsy_error *err)
{
    hsy_status st;

    pthread_mutex_lock(&c->documents);
    st = document_offer(c, bytes, len, err);
    pthread_mutex_unlock(&c->documents);
    return st;
}
