/* hops.c - statements of a chain become tasks of mixers and inboxes. */
#include "server/shuffle/hops.h"

#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define HOPS_DAY 86400u

/* ---- Chains -------------------------------------------------------------- */

bool hops_statement(const hsy_task *t, uint32_t place, hsy_statement *out)
{
    return t->model == HSY_MODEL_SHUFFLED && place >= 1 &&
           place <= t->shufflers &&
           hsy_statement_decode(
               out, t->statements + (size_t)(place - 1) * HSY_STATEMENT_WIRE,
               NULL) == HSY_OK;
}

/* Whether a statement is its shuffler's own word. */
static bool hops_signed(const hsy_task *t, uint32_t place,
                        const hsy_statement *s)
{
    return hsy_sign_verify(s->sign_key, s->signature,
                           t->statements +
                               (size_t)(place - 1) * HSY_STATEMENT_WIRE,
                           HSY_STATEMENT_SIGNED);
}

/* The place of a shuffler in the chain of a task; 0: it has none, or its
 * statement is not signed by it. *own is its statement then. */
static uint32_t hops_place(const struct roster_entry *e,
                           const uint8_t *sign_key, hsy_statement *own)
{
    for (uint32_t place = 1; hops_statement(&e->task, place, own); place++)
        if (memcmp(own->sign_key, sign_key, HSY_SIGN_KEY) == 0)
            return hops_signed(&e->task, place, own) ? place : 0;
    return 0;
}

bool hops_agree(const hsy_document *doc, uint32_t *task)
{
    for (*task = 0; *task < doc->tasks; ++*task) {
        hsy_statement s;
        hsy_task t;

        hsy_document_task(doc, &t, *task);
        for (uint32_t place = 1; place <= t.shufflers; place++)
            if (!hops_statement(&t, place, &s) || !hops_signed(&t, place, &s))
                return false;
    }
    return true;
}

bool hops_in_time(const hsy_document *doc, uint64_t grace_days, uint32_t *task)
{
    for (*task = 0; *task < doc->tasks; ++*task) {
        hsy_task t;

        hsy_document_task(doc, &t, *task);
        if (t.model == HSY_MODEL_SHUFFLED &&
            grace_days + (uint64_t)t.shufflers * t.max_wait +
                    (t.close_after_seconds + HOPS_DAY - 1) / HOPS_DAY >=
                SEAL_PERIOD_DAYS)
            return false;
    }
    return true;
}

/* Bytes of an envelope as it comes to a place, after those before. */
static uint32_t hops_length(const struct roster_entry *e, uint32_t place)
{
    return (uint32_t)(e->sealed_bytes - (place - 1) * (size_t)BATCH_LAYER);
}

/* Whether what is sealed for this key can be opened. Without it a batch would
 * be one of envelopes that do not open, taken and lost for good. */
static bool hops_opens(const struct hops_keys *keys,
                       const uint8_t pub[SEAL_KEY])
{
    for (size_t i = 0; i < keys->nseal; i++)
        if (memcmp(keys->seal[i].pub, pub, SEAL_KEY) == 0)
            return true;
    return false;
}

/* ---- Mixing -------------------------------------------------------------- */

/* What a batch must have to be taken by all hops from a place on: a smaller one
 * would be refused for ever, and neither be counted nor erased. */
static uint32_t hops_least(const struct roster_entry *e, uint32_t place)
{
    uint32_t least = 0;

    for (hsy_statement s; hops_statement(&e->task, place, &s); place++)
        if (s.min_batch > least)
            least = s.min_batch;
    return least;
}

static struct mixer_task hops_mixer_task(const struct roster_entry *e,
                                         uint32_t place,
                                         const hsy_statement *own,
                                         const struct hops_keys *keys)
{
    struct mixer_task t = {.entry = e->number,
                           .release = e->task.release,
                           .place = place,
                           .of = e->task.shufflers,
                           .first = e->first,
                           .last = e->last,
                           .min_batch = hops_least(e, place),
                           .max_wait = own->max_wait,
                           .close_after = own->close_after_seconds,
                           .length = hops_length(e, place),
                           .shut = !hops_opens(keys, own->seal_key)};
    hsy_statement other;

    memcpy(t.task, e->task.id, sizeof t.task);
    memcpy(t.scheme, e->digest, sizeof t.scheme);
    memcpy(t.terms, e->terms, sizeof t.terms);
    if (hops_statement(&e->task, place - 1, &other))
        memcpy(t.before, other.sign_key, sizeof t.before);
    memcpy(t.next,
           hops_statement(&e->task, place + 1, &other) ? other.sign_key
                                                       : keys->collector,
           sizeof t.next);
    return t;
}

size_t hops_mixer_tasks(struct mixer_task *out, const struct roster *roster,
                        const struct hops_keys *keys)
{
    size_t n = 0;

    for (size_t i = 0; i < roster_count(roster); i++) {
        const struct roster_entry *e = roster_at(roster, i);
        hsy_statement own;
        const uint32_t place = hops_place(e, keys->sign, &own);

        if (place != 0)
            out[n++] = hops_mixer_task(e, place, &own, keys);
    }
    return n;
}

/* By the key that it was sealed for. Beyond the outermost layer at->epoch is
 * today. */
static hsy_status hops_peel_by(const struct hops_keys *keys, uint8_t *out,
                               bool *late, size_t layer, size_t layers,
                               const struct seal_place *at,
                               const uint8_t *envelope, size_t len)
{
    hsy_status st = HSY_E_UNKNOWN;

    *late = false;
    for (size_t i = 0; st == HSY_E_UNKNOWN && i < keys->nseal; i++) {
        const struct hops_seal *k = &keys->seal[i];

        st = layer == 0 ? seal_peel(out, k->secret, k->pub, layer, layers, at,
                                    envelope, len)
                        : seal_peel_recent(out, late, k->secret, k->pub, layer,
                                           layers, at, envelope, len);
    }
    return st;
}

hsy_status hops_peel(const struct hops_keys *keys, uint8_t *out, bool *late,
                     const struct mixer_task *task, uint32_t epoch,
                     const uint8_t *id, const uint8_t *envelope)
{
    const struct seal_place at = {.task = task->task,
                                  .release = task->release,
                                  .digest = task->scheme,
                                  .terms = task->terms,
                                  .epoch = epoch,
                                  .id = id};

    return hops_peel_by(keys, out, late, task->place - 1, (size_t)task->of + 1,
                        &at, envelope, task->length);
}

/* ---- Taking in ----------------------------------------------------------- */

static const struct roster_entry *hops_entry(const struct roster *roster,
                                             const struct batch_head *head)
{
    for (size_t i = 0; i < roster_count(roster); i++) {
        const struct roster_entry *e = roster_at(roster, i);

        if (e->task.model == HSY_MODEL_SHUFFLED &&
            e->task.release == head->release &&
            strcmp(e->task.id, head->task) == 0 &&
            memcmp(e->digest, head->scheme, sizeof head->scheme) == 0)
            return e;
    }
    return NULL;
}

bool hops_find(const struct roster *roster, const struct hops_keys *keys,
               bool collector, const struct batch_head *head,
               struct inbox_task *out)
{
    const struct roster_entry *e = hops_entry(roster, head);
    hsy_statement hop;
    uint32_t hops;

    if (e == NULL)
        return false;
    *out = (struct inbox_task){.entry = e->number,
                               .chain = {.task = e->task.id,
                                         .release = e->task.release,
                                         .scheme = e->digest,
                                         .of = e->task.shufflers,
                                         .least = e->task.min_batch,
                                         .waits = hops_least(e, 1)}};
    hops = collector ? e->task.shufflers : hops_place(e, keys->sign, &hop);
    if (!collector && hops <= 1)
        return false; /* the first takes uploads, a stranger nothing */
    if (!hops_opens(keys, collector ? e->task.collector_key : hop.seal_key))
        return false;
    if (!collector) {
        hops--;
        out->chain.least = hop.min_batch;
        memcpy(out->key, keys->sign, sizeof out->key);
    } else {
        out->item = hsy_packed_size(e->scheme, 1);
    }
    out->chain.hops = hops;
    out->chain.length = hops_length(e, hops + 1);
    for (uint32_t place = 1; place <= hops; place++)
        if (hops_statement(&e->task, place, &hop))
            memcpy(out->chain.keys[place - 1], hop.sign_key, HSY_SIGN_KEY);
    return true;
}

/* ---- Opening ------------------------------------------------------------- */

/* Whether a packed report is one of the scheme. */
static hsy_status hops_report(const struct roster_entry *e,
                              const uint8_t *packed)
{
    uint8_t *report = malloc(e->report_bytes);
    hsy_status st = HSY_E_NOMEM;

    if (report != NULL)
        st = hsy_unpack(e->scheme, report, packed, 1) == HSY_OK &&
                     hsy_check_batch(e->scheme, report, 1) == 1
                 ? HSY_OK
                 : HSY_E_REFUSED;
    free(report);
    return st;
}

hsy_status hops_open(const struct roster *roster, const struct hops_keys *keys,
                     const struct inbox_task *task, uint32_t day, uint8_t *item,
                     bool *null, const uint8_t *envelope)
{
    const struct roster_entry *e = roster_at(roster, task->entry);
    const struct seal_place at = {.task = e->task.id,
                                  .release = e->task.release,
                                  .digest = e->digest,
                                  .terms = e->terms,
                                  .epoch = day};
    uint8_t *text = malloc(1 + task->item);
    bool late; /* ids are kept for both periods */
    hsy_status st = text == NULL
                        ? HSY_E_NOMEM
                        : hops_peel_by(keys, text, &late, task->chain.of,
                                       (size_t)task->chain.of + 1, &at,
                                       envelope, task->chain.length);

    if (st == HSY_OK && text[0] != SEAL_REPORT && text[0] != SEAL_NULL)
        st = HSY_E_REFUSED;
    if (st == HSY_OK && text[0] == SEAL_REPORT)
        st = hops_report(e, text + 1);
    if (st == HSY_OK) {
        *null = text[0] == SEAL_NULL;
        memcpy(item, text + 1, task->item);
    }
    if (text != NULL)
        bytes_wipe(text, 1 + task->item);
    free(text);
    return st;
}
