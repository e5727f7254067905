/*
 * shuffled.c - shuffled tasks on a device: their keys, what the policy demands
 * of them, their statements, when they wait, sealing.
 *
 * Shufflers are named by whoever signs the document, and each says itself that
 * it shuffles a task and in batches of how many. The policy decides whose word
 * counts; nothing from outside lowers what it demands.   docs/device.md
 */
#include "lib/bits/bytes.h"
#include "lib/bits/u128.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"
#include "lib/scheme/scheme.h"

#include <string.h>

/* ---- Keys ---------------------------------------------------------------- */

size_t hsy_shuffled_key_bytes(const hsy_task *task)
{
    if (task->model != HSY_MODEL_SHUFFLED ||
        task->shufflers > HSY_SHUFFLERS_MAX)
        return 0;
    return ((size_t)task->shufflers + 1) * HSY_SEAL_KEY +
           (size_t)task->shufflers * HSY_SIGN_KEY;
}

hsy_status hsy_shuffled_keys(hsy_release *r, const hsy_task *task,
                             hsy_error *err)
{
    uint8_t *at = (uint8_t *)r + hsy_release_size(task);
    hsy_statement s;

    if (task->model != HSY_MODEL_SHUFFLED)
        return HSY_OK;
    if (task->shufflers < 1 || task->shufflers > HSY_SHUFFLERS_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_SHUFFLERS,
                               "from 1 to 8 shufflers", HSY_SHUFFLERS_MAX);
    r->keys = (uint8_t(*)[HSY_SEAL_KEY])(at - hsy_shuffled_key_bytes(task));
    memset(r->keys, 0, hsy_shuffled_key_bytes(task));
    for (uint32_t i = 0; i < task->shufflers; i++) {
        hsy_status st = hsy_statement_decode(
            &s, task->statements + (size_t)i * HSY_STATEMENT_WIRE, err);

        if (st != HSY_OK)
            return st;
        memcpy(r->keys[i], s.seal_key, HSY_SEAL_KEY);
        memcpy(r->keys[task->shufflers + 1 + i], s.sign_key, HSY_SIGN_KEY);
    }
    if (task->collector_key != NULL)
        memcpy(r->keys[task->shufflers], task->collector_key, HSY_SEAL_KEY);
    return HSY_OK;
}

/* ---- Policy -------------------------------------------------------------- */

/* Returns true if a key is one of n; all sorts of keys have 32 bytes. */
static bool shuffled_among(const uint8_t *keys, size_t n, const uint8_t *key)
{
    for (size_t k = 0; k < n; k++)
        if (memcmp(keys + k * HSY_SIGN_KEY, key, HSY_SIGN_KEY) == 0)
            return true;
    return false;
}

static bool shuffled_pins(const hsy_policy *policy, const hsy_release *r)
{
    const bool all = (policy->flags & HSY_POLICY_PIN_ALL) != 0;
    uint32_t known = 0;

    for (uint32_t i = 0; i < r->task.shufflers; i++)
        known += shuffled_among(policy->shuffler_keys, policy->nshuffler_keys,
                                r->keys[release_layers(r) + i]);
    return known >= (all ? r->task.shufflers : 1) && known >= 1;
}

uint64_t hsy_task_batch_reports(const hsy_task *task)
{
    const hsy_u128 of = (hsy_u128)task->sample.den * task->assume_honest.den;

    return of == 0 ? 0
                   : (uint64_t)((hsy_u128)task->sample.num *
                                task->assume_honest.num * task->min_batch / of);
}

/* What the policy demands of every task: a task that is not shuffled has no
 * shufflers and no batch. */
hsy_status hsy_shuffled_allows(const hsy_device *dev, const hsy_release *r,
                               hsy_error *err)
{
    const hsy_policy *policy = &dev->policy;

    if (r->keys != NULL && dev->world.seal == NULL)
        return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_SEAL,
                        "this program cannot seal, and the task is shuffled");
    if (r->task.shufflers < policy->min_shufflers)
        return hsy_fail_limit(err, HSY_E_POLICY, HSY_FIELD_MIN_SHUFFLERS,
                              "fewer shufflers than the policy demands",
                              policy->min_shufflers);
    if (hsy_task_batch_reports(&r->task) < policy->min_batch)
        return hsy_fail_limit(err, HSY_E_POLICY, HSY_FIELD_MIN_BATCH,
                              "fewer reports in the smallest batch "
                              "(assume_honest x sample x min_batch) than the "
                              "policy demands",
                              policy->min_batch);
    if (policy->nshuffler_keys != 0 && !shuffled_pins(policy, r))
        return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_SHUFFLER_KEYS,
                        "the shufflers are not those of the policy");
    return HSY_OK;
}

/* ---- Admission ----------------------------------------------------------- */

/* Each shuffler says itself, and today, that it shuffles this task. What the
 * statements say was held against the task when the document was opened. */
static hsy_status shuffled_statements(const hsy_device *dev,
                                      const hsy_task *task, uint32_t day,
                                      hsy_error *err)
{
    hsy_statement s;

    for (uint32_t i = 0; i < task->shufflers; i++) {
        const uint8_t *wire = task->statements + (size_t)i * HSY_STATEMENT_WIRE;
        hsy_status st = hsy_statement_decode(&s, wire, err);

        if (st != HSY_OK)
            return st;
        if (!dev->world.verify(dev->world.ctx, s.sign_key, s.signature, wire,
                               HSY_STATEMENT_SIGNED))
            return hsy_fail(err, HSY_E_SIGNATURE, HSY_FIELD_STATEMENT,
                            "not signed by the shuffler that it is about");
        if (day < s.from || day >= s.until)
            return hsy_fail_kind(err, HSY_E_OLD, HSY_FIELD_STATEMENT,
                                 "a shuffler's statement is not for today",
                                 HSY_LIMIT_END, s.until);
    }
    return HSY_OK;
}

/* Returns true if all gateway keys of the document are the policy's, else of
 * the first shuffler's statement. Where that names none, the document's word
 * counts unless the policy pins shufflers. */
static bool shuffled_gateway(const hsy_policy *policy, const hsy_task *task,
                             const hsy_parties *p)
{
    const uint8_t *keys = policy->gateway_keys;
    size_t n = policy->ngateway_keys;
    hsy_statement first = {.gateway_keys = 0};

    if (n == 0) {
        if (task->shufflers != 0 &&
            hsy_statement_decode(&first, task->statements, NULL) != HSY_OK)
            return false;
        keys = first.gateway[0];
        n = first.gateway_keys;
    }
    if (n == 0 && policy->nshuffler_keys == 0)
        return true;
    for (uint32_t i = 0; i < p->gateway_keys; i++)
        if (!shuffled_among(keys, n, p->gateway[i].key))
            return false;
    return true;
}

/* Whether what the task needs on the way to its collector is there. */
static hsy_status shuffled_way(const hsy_device *dev, hsy_release *r,
                               const hsy_document *doc, const hsy_task *task,
                               hsy_error *err)
{
    const hsy_policy *policy = &dev->policy;
    const bool demanded = (policy->flags & HSY_POLICY_RELAY) != 0;
    const bool relayed = demanded || (r->task.flags & HSY_TASK_RELAY) != 0;
    hsy_parties parties;

    hsy_document_parties(doc, &parties);
    r->relayed = relayed;
    r->relay_named = (policy->flags & HSY_POLICY_RELAY_NAMED) != 0 ||
                     (policy->nrelays == 0 && !demanded && parties.relay_len);
    if (!shuffled_gateway(policy, task, &parties))
        return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_GATEWAY_KEYS,
                        policy->ngateway_keys != 0
                            ? "the document's gateway keys are not those of "
                              "the policy"
                            : "the first shuffler's statement does not name "
                              "the document's gateway keys");
    if (relayed && parties.gateway_keys == 0)
        return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_GATEWAY_KEYS,
                        "the relay is demanded, and the document has no key "
                        "of a gateway");
    if (relayed && HSY_UPLOAD_WIRE + hsy_release_payload(r) + HSY_REQUEST_ROOM >
                       parties.request_bytes)
        return hsy_fail_limit(err, HSY_E_POLICY, HSY_FIELD_REQUEST_BYTES,
                              "an upload does not fit in a request of the "
                              "document's length",
                              parties.request_bytes);
    return HSY_OK;
}

/* ---- Bars ---------------------------------------------------------------- */

/* Stages of a search share a record, and wait for nothing. */
static bool shuffled_layered(const hsy_release *r)
{
    return release_layers(r) != 0 && release_stage(r) == 0;
}

/*
 * Terms (document.c) say which tasks share a source, but not which of them a
 * device admits: that depends on the document's parties, and on the room that
 * tasks on other sources leave. In a document for one device these could have a
 * task refused there that uses up everybody else's cap, and the answer of that
 * device would stand alone among null uploads. So no shuffled task on the
 * source is answered under this document, and nothing is sent for it: else
 * devices without room would fill a batch with null uploads. What refuses for
 * good is looked at before dates are: who is refused after the last day was
 * refused before.
 */
static bool shuffled_is_barred(const hsy_device *dev, const char *source)
{
    return dev->barred_all ||
           memcmp(dev->barred, source, strlen(source) + 1) == 0;
}

static bool shuffled_bars(const hsy_device *dev, const hsy_release *r)
{
    return release_layers(r) != 0 && shuffled_is_barred(dev, r->task.source);
}

hsy_status hsy_shuffled_answers(const hsy_device *dev, const hsy_release *r,
                                hsy_error *err)
{
    return shuffled_bars(dev, r)
               ? hsy_fail(err, HSY_E_POLICY, HSY_FIELD_SOURCE,
                          "this document has another task on the source "
                          "refused here, whose answers share its caps")
               : HSY_OK;
}

/* Whether a bar is news for this record. */
static bool shuffled_moves(const hsy_device *dev,
                           const struct device_record *rec)
{
    return rec->layered && rec->resume != DEVICE_BARRED &&
           shuffled_is_barred(dev, dev->sources[rec->source].name);
}

/* With a second source all are barred: only one name is kept. */
hsy_status hsy_shuffled_bar(hsy_device *dev, const char *source,
                            hsy_status refused, hsy_error *err)
{
    hsy_status st = HSY_OK;
    bool some = false;

    if (dev->barred[0] == '\0')
        memcpy(dev->barred, source, strlen(source) + 1);
    dev->barred_all |= !shuffled_is_barred(dev, source);
    for (uint32_t i = 0; i < dev->nrecords; i++)
        some |= shuffled_moves(dev, &dev->records[i]);
    if (some)
        st = hsy_state_current(dev, err);
    for (uint32_t i = 0; st == HSY_OK && i < dev->nrecords; i++)
        if (shuffled_moves(dev, &dev->records[i])) {
            dev->records[i].resume = DEVICE_BARRED;
            hsy_state_record(dev, i);
        }
    if (st == HSY_OK && some)
        st = hsy_state_commit(dev, err);
    return st == HSY_OK ? refused : st;
}

/* ---- Waiting for a slot -------------------------------------------------- */

/* Returns true if an answer to a release that the device knows is an answer to
 * this shuffled one, too (hsy_release_lowers). A device that has answered there
 * could only send null uploads here in this slot, because those answers were
 * given under other terms. As in hsy_shuffled_again, the device sends nothing
 * instead, whether it has answered or not. */
static bool shuffled_lowers(const hsy_device *dev, const hsy_release *r,
                            uint32_t source)
{
    bool lowers = false;

    for (uint32_t i = 0; i < dev->nrecords && release_layers(r) != 0; i++)
        lowers |= dev->records[i].source == source &&
                  hsy_release_lowers(r, &dev->records[i]);
    return lowers;
}

/* The first round of the next slot; of a task that has not begun, of all. */
static uint64_t shuffled_next_slot(const hsy_release *r, uint32_t day)
{
    return day < r->task.start ? 0 : (hsy_release_slot(r, day) + 1) * r->rounds;
}

/* Whether it waits for its next slot, or for a bar to end. */
void hsy_shuffled_enter(const hsy_device *dev, struct device_record *rec,
                        const hsy_release *r, uint32_t day)
{
    rec->layered = shuffled_layered(r);
    if (shuffled_bars(dev, r))
        rec->resume = DEVICE_BARRED;
    else if (shuffled_lowers(dev, r, rec->source))
        rec->resume = shuffled_next_slot(r, day);
}

/*
 * A release that was admitted before. If a shuffled task has other terms than
 * before, or was local before, or its source was barred before (above), the
 * device sends nothing for it until the next slot, or until the person has
 * consented, whether there was an answer or not. Answers that were given under
 * the old terms must not leave, and if null uploads left in their place, a
 * collector could make them on any day by a new release: the report of a device
 * that joins on that day would stand alone among them, in a batch that counts
 * as large. Stages of a search share a record; two tasks may be one release
 * under two names, of which the first counts.
 */
hsy_status hsy_shuffled_again(hsy_device *dev, const hsy_release *r,
                              uint32_t record, uint32_t day, hsy_error *err)
{
    struct device_record *rec = &dev->records[record];
    const uint64_t now = hsy_shuffled_promise(dev, r);
    hsy_log_entry entry = hsy_device_entry(HSY_LOG_WITHHELD, r, day);
    const bool other = release_stage(r) == 0 && rec->terms != now;
    const bool layered = shuffled_layered(r), barred = shuffled_bars(dev, r);
    const bool stops =
        other || (layered && barred != (rec->resume == DEVICE_BARRED));
    hsy_status st = HSY_OK;

    if (stops)
        st = hsy_state_current(dev, err);
    if (st != HSY_OK)
        return st;
    rec->now = now;
    rec->admitted = true;
    rec->layered = layered;
    if (!stops)
        return HSY_OK;
    if (layered)
        rec->resume = barred ? DEVICE_BARRED : shuffled_next_slot(r, day);
    if (layered && day >= r->task.start) {
        const uint64_t round = hsy_release_round(r, day);

        rec->first = round > rec->first ? round : rec->first;
        if ((other || barred) && rec->slot_state != DEVICE_SLOT_NONE)
            hsy_device_note(dev, &entry);
    }
    rec->terms = now;
    hsy_state_record(dev, record);
    return hsy_state_commit(dev, err);
}

/* ---- A task of a document ----------------------------------------------- */

hsy_status hsy_shuffled_admit(hsy_device *dev, hsy_release *r,
                              const hsy_document *doc, uint32_t i, uint32_t day,
                              hsy_error *err)
{
    hsy_task task;
    hsy_status st;

    hsy_document_task(doc, &task, i);
    st = shuffled_way(dev, r, doc, &task, err);
    if (st != HSY_OK && r->record < dev->nrecords)
        dev->records[r->record].layered |= shuffled_layered(r);
    if (st != HSY_OK)
        return hsy_shuffled_bar(dev, task.source, st, err);
    st = shuffled_statements(dev, &task, day, err);
    if (st == HSY_OK && r->keys != NULL && dev->world.central != NULL &&
        !dev->world.central(dev->world.ctx, r))
        st = hsy_fail(err, HSY_E_POLICY, HSY_FIELD_EPSILON_CENTRAL,
                      "the central epsilon is below what the task's batches "
                      "are proved to give");
    if (st == HSY_OK) {
        hsy_document_terms(doc, r->terms, i);
        memcpy(r->document, dev->head.digest, HSY_DIGEST);
    }
    return st;
}

/* ---- Promises ------------------------------------------------------------ */

/* A hash is made odd, so it is neither LOCAL nor RELAYED. */
uint64_t hsy_shuffled_promise(const hsy_device *dev, const hsy_release *r)
{
    uint8_t hash[8];

    if (r->keys == NULL)
        return (r->task.flags & HSY_TASK_RELAY) != 0 ? DEVICE_PROMISE_RELAYED
                                                     : DEVICE_PROMISE_LOCAL;
    hsy_blake2b(hash, sizeof hash, r->terms, HSY_DIGEST, dev->keys.promise,
                HSY_KEY);
    return bytes_get64(hash) >> 1 | 1;
}

/* ---- Sealing ------------------------------------------------------------- */

hsy_status hsy_shuffled_seal(const hsy_device *dev, uint8_t *out, size_t len,
                             const hsy_release *r, uint32_t epoch,
                             const uint8_t id[16], uint32_t kind,
                             const uint8_t *report, hsy_error *err)
{
    uint8_t seed[64];
    const hsy_envelope envelope = {
        .task = r->task.id,
        .release = r->task.release,
        .digest = r->scheme->digest,
        .terms = r->terms,
        .epoch = epoch,
        .id = id,
        .keys = r->keys[0],
        .layers = release_layers(r),
        .seed = seed,
        .kind = (uint8_t)kind,
        .report = report,
        .report_len = hsy_packed_size(r->scheme, 1),
    };
    hsy_status st = HSY_E_POLICY;

    hsy_blake2b(seed, sizeof seed, id, 16, dev->keys.envelope, HSY_KEY);
    if (dev->world.seal != NULL &&
        !bytes_zero(r->keys[r->task.shufflers], HSY_SEAL_KEY))
        st = dev->world.seal(dev->world.ctx, out, len, &envelope);
    bytes_wipe(seed, sizeof seed);
    return st == HSY_OK ? HSY_OK
                        : hsy_fail(err, st, HSY_FIELD_SEAL,
                                   "the upload cannot be sealed");
}
