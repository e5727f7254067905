/*
 * admit.c - documents and the tasks in them: who signed, what is allowed.
 *
 * Documents come from outside. What they ask is held against the policy, which
 * nothing from outside can change; a task that is admitted is written down, for
 * from that round on the device sends for it, answered or not.
 */
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"
#include "lib/scheme/scheme.h"

#include <string.h>

/* ---- Policy ---------------------------------------------------------------
 */

/* One comparison of a release with a limit of the policy. */
static hsy_status admit_within(uint64_t nano, uint64_t limit, uint32_t field,
                               const char *msg, hsy_error *err)
{
    return nano <= limit ? HSY_OK
                         : hsy_fail_kind(err, HSY_E_POLICY, field, msg,
                                         HSY_LIMIT_NANO, limit);
}

/* A release that no day can pay for would never be answered: better said at
 * once. */
hsy_status hsy_device_allows(const hsy_device *dev, const hsy_release *r,
                             hsy_error *err)
{
    const hsy_source *s = hsy_ledger_source(dev, r->task.source);
    hsy_status st;

    if (s == NULL)
        return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_SOURCE,
                        "not allowed by this device's policy");
    st = admit_within(r->nano_report, s->cap_answer, HSY_FIELD_EPSILON,
                      "one report costs more than the policy allows", err);
    if (st == HSY_OK)
        st = admit_within(r->nano_slot, s->cap_day, HSY_FIELD_CAP_DAY,
                          "a slot costs more than the source may spend a day",
                          err);
    if (st == HSY_OK)
        st = admit_within(r->nano_slot, s->cap_lifetime, HSY_FIELD_CAP_LIFETIME,
                          "a slot costs more than the source may ever spend",
                          err);
    if (st == HSY_OK)
        st = admit_within(r->nano_slot, dev->policy.cap_day, HSY_FIELD_CAP_DAY,
                          "a slot costs more than the device may spend a day",
                          err);
    if (st == HSY_OK)
        st = admit_within(
            r->nano_slot, dev->policy.cap_lifetime, HSY_FIELD_CAP_LIFETIME,
            "a slot costs more than the device may ever spend", err);
    return st == HSY_OK ? hsy_shuffled_allows(dev, r, err) : st;
}

/* ---- Documents ----------------------------------------------------------- */

/* The program is the root: if it comes with another key, that one is in force,
 * and whatever the old one led to is not. */
static void admit_root(struct device_head *h, const hsy_policy *policy)
{
    if (memcmp(h->root, policy->sign_key, HSY_SIGN_KEY) == 0)
        return;
    memcpy(h->root, policy->sign_key, HSY_SIGN_KEY);
    memcpy(h->sign_key, policy->sign_key, HSY_SIGN_KEY);
    memset(h->next_key, 0, HSY_SIGN_KEY);
}

/* Who signed: the key in force, or (*next) the one that it named next. */
static hsy_status admit_signer(const hsy_device *dev, const hsy_document *doc,
                               bool *next, hsy_error *err)
{
    const struct device_head *h = &dev->head;
    const size_t len = doc->len - HSY_SIGNATURE;
    const uint8_t *keys[2] = {h->sign_key, h->next_key};

    for (size_t i = 0; i < 2; i++)
        if (!bytes_zero(keys[i], HSY_SIGN_KEY) &&
            dev->world.verify(dev->world.ctx, keys[i], doc->bytes + len,
                              doc->bytes, len)) {
            *next = i == 1;
            return HSY_OK;
        }
    return hsy_fail(err, HSY_E_SIGNATURE, HSY_FIELD_SIGNATURE,
                    "not signed by the key in force, or by its announced "
                    "successor");
}

static hsy_status admit_recent(const hsy_device *dev, const hsy_document *doc,
                               const uint8_t digest[HSY_DIGEST], uint32_t day,
                               hsy_error *err)
{
    const struct device_head *h = &dev->head;

    if (doc->version < h->version)
        return hsy_fail_kind(err, HSY_E_OLD, HSY_FIELD_VERSION,
                             "a newer document was accepted before",
                             HSY_LIMIT_VERSION, h->version);
    if (doc->version == h->version &&
        memcmp(digest, h->digest, HSY_DIGEST) == 0)
        return HSY_OK; /* taken before, and in time */
    if (doc->version == h->version)
        return hsy_fail_kind(err, HSY_E_OLD, HSY_FIELD_VERSION,
                             "another document of the same version was "
                             "accepted before",
                             HSY_LIMIT_VERSION, h->version);
    if (doc->expires <= day)
        return hsy_fail_kind(err, HSY_E_OLD, HSY_FIELD_EXPIRES,
                             "the document has expired", HSY_LIMIT_END,
                             doc->expires);
    if (doc->issued > (uint64_t)day + 1) /* clocks differ by a little */
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_ISSUED,
                             "the document was issued after today: set the "
                             "clock",
                             HSY_LIMIT_DAY, day);
    return HSY_OK;
}

/* A signer that was named next is in force from now on. What a document says
 * moves no day: whoever signs could renew the day's caps at will. */
static hsy_status admit_keep(hsy_device *dev, const hsy_document *doc,
                             const uint8_t digest[HSY_DIGEST], bool next,
                             uint32_t day, hsy_error *err)
{
    struct device_head *h = &dev->head;
    hsy_log_entry entry;

    h->version = doc->version;
    memcpy(h->digest, digest, HSY_DIGEST);
    if (next)
        memcpy(h->sign_key, h->next_key, HSY_SIGN_KEY);
    memcpy(h->next_key, doc->next_key, HSY_SIGN_KEY);
    entry = hsy_device_entry(HSY_LOG_TASKS, NULL, day);
    entry.u.version = doc->version;
    hsy_device_note(dev, &entry);
    hsy_state_head(dev);
    return hsy_state_commit(dev, err);
}

hsy_status hsy_device_accept_document(hsy_device *dev, hsy_document *doc,
                                      const uint8_t *bytes, size_t len,
                                      hsy_error *err)
{
    uint8_t digest[HSY_DIGEST];
    bool next = false;
    hsy_document read;
    uint32_t day;
    hsy_status st = hsy_device_ready(dev, err);

    if (st == HSY_OK)
        st = hsy_document_open(&read, bytes, len, err);
    if (st == HSY_OK)
        admit_root(&dev->head, &dev->policy);
    if (st == HSY_OK)
        st = admit_signer(dev, &read, &next, err);
    if (st == HSY_OK)
        st = hsy_device_today(dev, &day, NULL, err);
    if (st != HSY_OK)
        return st;
    hsy_blake2b(digest, sizeof digest, bytes, len, NULL, 0);
    st = admit_recent(dev, &read, digest, day, err);
    if (st == HSY_OK && read.version > dev->head.version)
        st = hsy_state_current(dev, err);
    if (st == HSY_OK && read.version > dev->head.version)
        st = admit_keep(dev, &read, digest, next, day, err);
    if (st != HSY_OK)
        return st;
    dev->taken = bytes;
    dev->taken_len = len;
    for (uint32_t i = 0; i < dev->nrecords; i++)
        dev->records[i].admitted = dev->records[i].layered = false;
    dev->barred[0] = '\0';
    dev->barred_all = false;
    *doc = read;
    return HSY_OK;
}

/* ---- Admission ----------------------------------------------------------- */

uint32_t hsy_device_find(const hsy_device *dev, const hsy_release *r)
{
    uint32_t i = r->record;

    for (uint32_t n = 0; n < dev->nrecords; n++, i++) {
        if (i >= dev->nrecords)
            i = 0;
        if (memcmp(dev->records[i].digest, r->digest, HSY_DIGEST) == 0 &&
            hsy_device_same(dev->sources[dev->records[i].source].name,
                            r->task.source))
            return i;
    }
    return dev->nrecords;
}

/* As many rounds as there is room for, so that an upload may wait. */
static uint32_t admit_window(const hsy_device *dev, const hsy_release *r)
{
    const size_t round = (size_t)r->task.sends * r->scheme->report_bytes;
    const size_t fit = dev->policy.release_bytes / round;

    return fit < DEVICE_WINDOW ? (uint32_t)fit : DEVICE_WINDOW;
}

/* Before any date is looked at: a task that is over has used up caps. */
static hsy_status admit_room(hsy_device *dev, const hsy_release *r,
                             hsy_error *err)
{
    if (r->record < dev->nrecords || dev->nrecords < dev->policy.releases)
        return HSY_OK;
    return hsy_shuffled_bar(
        dev, r->task.source,
        hsy_fail_limit(err, HSY_E_POLICY, HSY_FIELD_RELEASES,
                       "there is no room for another release",
                       dev->policy.releases),
        err);
}

static hsy_status admit_fits(const hsy_device *dev, const hsy_release *r,
                             uint32_t day, hsy_error *err)
{
    if (day >= r->task.end)
        return hsy_fail_kind(err, HSY_E_OLD, HSY_FIELD_END, "the task is over",
                             HSY_LIMIT_END, r->task.end);
    if (admit_window(dev, r) < 2)
        return hsy_fail_limit(err, HSY_E_POLICY, HSY_FIELD_RELEASE_BYTES,
                              "the reports of two rounds do not fit",
                              dev->policy.release_bytes);
    if (hsy_release_payload(r) > HSY_UPLOAD_MAX)
        return hsy_fail_limit(err, HSY_E_POLICY, HSY_FIELD_SCHEME,
                              "a report does not fit in an upload",
                              HSY_UPLOAD_MAX);
    return HSY_OK;
}

/* From this round on it sends, answered or not. */
static hsy_status admit_enter(hsy_device *dev, const hsy_release *r,
                              uint32_t day, hsy_error *err)
{
    struct device_record *rec = &dev->records[dev->nrecords];
    const uint32_t source = hsy_ledger_find(dev, r->task.source);

    if (source == dev->nsources) {
        struct device_source *s = &dev->sources[source];

        memset(s, 0, sizeof *s);
        memcpy(s->name, r->task.source, sizeof s->name);
        hsy_state_add_source(dev);
    }
    *rec = (struct device_record){
        .source = source,
        .report_bytes = (uint32_t)r->scheme->report_bytes,
        .sends = r->task.sends,
        .window = admit_window(dev, r),
        .changes = r->task.max_changes,
        .answers = r->task.answers,
        .round_days = r->task.round_days,
        .nano_permanent = r->nano_permanent,
        .first = day < r->task.start ? 0 : hsy_release_round(r, day),
    };
    memcpy(rec->digest, r->digest, HSY_DIGEST);
    memcpy(rec->base, r->base, DEVICE_BASE);
    rec->terms = rec->now = hsy_shuffled_promise(dev, r);
    rec->admitted = true;
    hsy_shuffled_enter(dev, rec, r, day);
    hsy_state_add_record(dev);
    hsy_state_head(dev);
    return hsy_state_commit(dev, err);
}

uint64_t hsy_device_resumes(const struct device_record *rec,
                            const hsy_release *r)
{
    if (release_layers(r) == 0 || release_stage(r) != 0)
        return 0;
    return rec->resume != DEVICE_BARRED
               ? rec->resume
               : hsy_release_round(r, r->task.end - 1) + 1;
}

hsy_status hsy_device_admit(hsy_device *dev, hsy_release *r,
                            const hsy_document *doc, uint32_t i, hsy_error *err)
{
    hsy_task task;
    uint32_t day, record;
    hsy_status st = hsy_device_ready(dev, err);

    if (st != HSY_OK)
        return st;
    if (dev->taken == NULL || doc->bytes != dev->taken ||
        doc->len != dev->taken_len)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_DOCUMENT,
                        "not the document that was taken last");
    if (i >= doc->tasks)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TASK,
                              "the document has no such task", doc->tasks);
    hsy_document_task(doc, &task, i);
    st = hsy_release_init(r, &task, err);
    if (st == HSY_OK)
        st = hsy_device_allows(dev, r, err);
    if (st == HSY_OK)
        st = hsy_device_today(dev, &day, NULL, err);
    if (st != HSY_OK)
        return st;
    record = r->record = hsy_device_find(dev, r);
    st = admit_room(dev, r, err);
    if (st == HSY_OK)
        st = hsy_shuffled_admit(dev, r, doc, i, day, err);
    if (st == HSY_OK && dev->world.central != NULL)
        hsy_release_proved(r);
    if (st != HSY_OK)
        return st;
    if (record < dev->nrecords)
        return dev->records[record].admitted
                   ? HSY_OK
                   : hsy_shuffled_again(dev, r, record, day, err);
    st = admit_fits(dev, r, day, err);
    if (st == HSY_OK)
        st = hsy_state_current(dev, err);
    return st == HSY_OK ? admit_enter(dev, r, day, err) : st;
}
