/*
 * shuffled_small.c - what a small client has in the place of shuffled.c,
 * parties.c and statement.c: it takes documents in which there are shuffled
 * tasks, and admits none of these, nor one that demands a relay.
 */
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"

#define SHUFFLED_SMALL_MORE 96u /* of a task's block, at least */
#define SHUFFLED_SMALL_HEAD 32u /* of the parties' */

/* ---- Documents: only what there is of them ------------------------------- */

const char *hsy_more_check(const hsy_task *t, uint32_t *field)
{
    (void)t;
    (void)field;
    return NULL;
}

size_t hsy_more_bytes(const hsy_task *t)
{
    return t->model != HSY_MODEL_LOCAL || t->flags != 0 ? SHUFFLED_SMALL_MORE
                                                        : 0;
}

bool hsy_more_get(hsy_task *t, const uint8_t *from, size_t len)
{
    if (len == 0)
        return t->model == HSY_MODEL_LOCAL;
    if (len < SHUFFLED_SMALL_MORE)
        return false;
    t->flags = bytes_get32(from);
    return true;
}

hsy_status hsy_parties_open(const uint8_t *from, size_t left, bool more,
                            hsy_error *err)
{
    (void)more;
    return left >= SHUFFLED_SMALL_HEAD && bytes_get32(from) == left
               ? HSY_OK
               : hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH, "cut short");
}

/* ---- Devices ------------------------------------------------------------- */

size_t hsy_shuffled_key_bytes(const hsy_task *task)
{
    (void)task;
    return 0;
}

hsy_status hsy_shuffled_keys(hsy_release *r, const hsy_task *task,
                             hsy_error *err)
{
    (void)r;
    if (task->model == HSY_MODEL_LOCAL && task->flags == 0)
        return HSY_OK;
    return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_MODEL, "cannot seal");
}

hsy_status hsy_shuffled_allows(const hsy_device *dev, const hsy_release *r,
                               hsy_error *err)
{
    const hsy_policy *policy = &dev->policy;

    (void)r;
    if (policy->min_shufflers == 0 && policy->min_batch == 0 &&
        policy->flags == 0 && policy->nshuffler_keys == 0)
        return HSY_OK;
    return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_POLICY, "cannot seal");
}

hsy_status hsy_shuffled_admit(hsy_device *dev, hsy_release *r,
                              const hsy_document *doc, uint32_t i, uint32_t day,
                              hsy_error *err)
{
    (void)dev;
    (void)r;
    (void)doc;
    (void)i;
    (void)day;
    (void)err;
    return HSY_OK; /* none comes so far that would need more */
}

hsy_status hsy_shuffled_bar(hsy_device *dev, const char *source,
                            hsy_status refused, hsy_error *err)
{
    (void)dev;
    (void)source;
    (void)err;
    return refused;
}

hsy_status hsy_shuffled_answers(const hsy_device *dev, const hsy_release *r,
                                hsy_error *err)
{
    (void)dev;
    (void)r;
    (void)err;
    return HSY_OK;
}

void hsy_shuffled_enter(const hsy_device *dev, struct device_record *rec,
                        const hsy_release *r, uint32_t day)
{
    (void)dev;
    (void)rec;
    (void)r;
    (void)day;
}

hsy_status hsy_shuffled_again(hsy_device *dev, const hsy_release *r,
                              uint32_t record, uint32_t day, hsy_error *err)
{
    (void)r;
    (void)day;
    (void)err;
    dev->records[record].now = DEVICE_PROMISE_LOCAL;
    dev->records[record].admitted = true;
    return HSY_OK;
}

uint64_t hsy_shuffled_promise(const hsy_device *dev, const hsy_release *r)
{
    (void)dev;
    (void)r;
    return DEVICE_PROMISE_LOCAL;
}

hsy_status hsy_shuffled_seal(const hsy_device *dev, uint8_t *out, size_t len,
                             const hsy_release *r, uint32_t epoch,
                             const uint8_t id[16], uint32_t kind,
                             const uint8_t *report, hsy_error *err)
{
    (void)dev;
    (void)out;
    (void)len;
    (void)r;
    (void)epoch;
    (void)id;
    (void)kind;
    (void)report;
    return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_SEAL, "cannot seal");
}
