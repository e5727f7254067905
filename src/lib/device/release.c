/*
 * release.c - a task with its schemes: its plan, its charges, its digest.
 *
 * The digest is what coins are drawn under and charges are written down for.
 * It holds everything that shapes what the coins do (scheme of the permanent or
 * only answer, grain, slots, rounds, counts) and nothing that does not: not the
 * task's name, question, end, sample or delay. A task under another name has
 * the same digest and so the same answers; any other change is another release
 * with coins of its own, charged in full. Fresh and kept answers never share a
 * digest: round_days is 0 for the ones and not for the others, also where a
 * task has no slots and its end alone says how many rounds there are.
 *
 * The stages of a search (sampled.h) are one release: in the digest stands what
 * they share, not the number of a stage or its candidates. All stages are one
 * round, of the one slot there is, and a round of fresh answers is charged and
 * answered once: whatever further stages are asked, in whatever order and with
 * whatever candidates, one report leaves.              docs/device.md, Stages
 */
#include "lib/bits/bytes.h"
#include "lib/core/blake2b.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"
#include "lib/mech/mechanisms.h"
#include "lib/mech/rappor.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"

#include <string.h>

static const char release_tag[] = "hearsay release 1";
static const char release_report_tag[] = "hearsay release report 1";
static const char release_base_tag[] = "hearsay release base 1";

/* ---- Memory -------------------------------------------------------------- */

/* Bytes of the scheme in a wire, which need not be sound: init will see. */
static size_t release_scheme_size(const uint8_t *wire, const hsy_task *task)
{
    hsy_spec spec;

    if (hsy_spec_decode(&spec, wire, task->labels, task->labels_len, NULL) !=
        HSY_OK)
        return bytes_align(sizeof(hsy_scheme));
    return bytes_align(hsy_scheme_size(&spec));
}

size_t hsy_release_size(const hsy_task *task)
{
    size_t size = bytes_align(sizeof(hsy_release)) +
                  release_scheme_size(task->scheme, task);

    if (task->permanent != NULL)
        size += release_scheme_size(task->permanent, task);
    return size + hsy_shuffled_key_bytes(task);
}

/* ---- The plan of slots and rounds ---------------------------------------- */

static hsy_status release_plan(hsy_release *r, const hsy_task *task,
                               hsy_error *err)
{
    hsy_task *t = &r->task;
    uint32_t field;
    const char *wrong = hsy_document_plan(task, &field);

    if (wrong != NULL)
        return hsy_fail(err, HSY_E_RANGE, field, wrong);
    r->slot_days = t->slot_days != 0 ? t->slot_days : t->end - t->start;
    r->round_days = t->round_days != 0 ? t->round_days : r->slot_days;
    r->rounds = r->slot_days / r->round_days;
    r->slots = ((uint64_t)t->end - t->start + r->slot_days - 1) / r->slot_days;
    if (r->permanent == NULL)
        t->round_days = 0; /* one plan has one digest, and it says so */
    return HSY_OK;
}

/* A search has one slot and in it one answer. */
static hsy_status release_stages(hsy_release *r, hsy_error *err)
{
    const struct mech_staged *staged = mech_staged(r->scheme->mech);
    const hsy_task *t = &r->task;

    if (staged == NULL)
        return HSY_OK;
    if (t->model != HSY_MODEL_LOCAL)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MODEL,
                        "a search in stages is not shuffled: only some of a "
                        "batch would answer");
    if (t->slot_days != 0 || t->answers != 1)
        return hsy_fail(err, HSY_E_RANGE,
                        t->slot_days != 0 ? HSY_FIELD_SLOT_DAYS
                                          : HSY_FIELD_ANSWERS,
                        "a search in stages is answered once, at one of them");
    r->stage = staged->number(r->scheme);
    return HSY_OK;
}

uint64_t hsy_release_round(const hsy_release *r, uint32_t day)
{
    if (release_stage(r) != 0)
        return 0;
    return (day - r->task.start) / r->round_days;
}

uint64_t hsy_release_slot(const hsy_release *r, uint32_t day)
{
    return r->task.slot_days == 0 ? 0
                                  : (day - r->task.start) / r->task.slot_days;
}

/* ---- Charges ------------------------------------------------------------- */

const hsy_scheme *hsy_release_charged(const hsy_release *r)
{
    return r->permanent != NULL ? r->permanent : r->scheme;
}

/*
 * Nano-epsilon of all reports from one permanent answer. RAPPOR's scheme claims
 * what one report spends; its permanent answer, in which two filters differ in
 * at most 2h bits, each kept with odds (1 - f/2) / (f/2), spends more. 0: more
 * than can be counted.
 */
static uint64_t release_nano_permanent(const hsy_scheme *s)
{
    if (s->law != LAW_RAPPOR || s->rappor.flip == 0)
        return s->nano_epsilon;
    return 2 * (uint64_t)rappor_hashes(s) *
           hsy_exp_cover(0 - s->rappor.flip, s->rappor.flip);
}

/* At most 64 times 2 * 64 * 32 * 10^9: no product passes 2^49. */
static hsy_status release_charges(hsy_release *r, hsy_error *err)
{
    r->nano_report = r->scheme->nano_epsilon;
    if (r->permanent != NULL) {
        r->nano_permanent = release_nano_permanent(r->permanent);
        r->nano_slot = r->task.max_changes * r->nano_permanent;
    } else {
        r->nano_permanent = r->nano_report;
        r->nano_slot = r->task.sends * r->nano_report;
    }
    if (r->nano_slot == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_PERMANENT,
                        "nothing bounds what the permanent answer tells");
    r->nano_task = r->slots > UINT64_MAX / r->nano_slot
                       ? UINT64_MAX
                       : r->slots * r->nano_slot;
    return HSY_OK;
}

/* ---- Digests ------------------------------------------------------------- */

/* The numbers of a plan that shape what coins are drawn. */
struct release_shape {
    uint64_t grain;
    uint32_t start, slot_days, round_days, answers, sends, changes;
};

static void release_digest(uint8_t digest[HSY_DIGEST],
                           const uint8_t scheme[HSY_DIGEST],
                           const struct release_shape *p)
{
    uint8_t numbers[32];
    struct blake2b b;

    bytes_put64(numbers, p->grain);
    bytes_put32(numbers + 8, p->start);
    bytes_put32(numbers + 12, p->slot_days);
    bytes_put32(numbers + 16, p->round_days);
    bytes_put32(numbers + 20, p->answers);
    bytes_put32(numbers + 24, p->sends);
    bytes_put32(numbers + 28, p->changes);
    hsy_blake2b_init(&b, HSY_DIGEST, NULL, 0);
    hsy_blake2b_update(&b, release_tag, sizeof release_tag);
    hsy_blake2b_update(&b, scheme, HSY_DIGEST);
    hsy_blake2b_update(&b, numbers, sizeof numbers);
    hsy_blake2b_final(&b, digest);
}

/* With another second step other coins are drawn for reports (T07). */
static void release_report_digest(hsy_release *r)
{
    struct blake2b b;

    hsy_blake2b_init(&b, HSY_DIGEST, NULL, 0);
    hsy_blake2b_update(&b, release_report_tag, sizeof release_report_tag);
    hsy_blake2b_update(&b, r->digest, HSY_DIGEST);
    hsy_blake2b_update(&b, r->scheme->digest, HSY_DIGEST);
    hsy_blake2b_final(&b, r->report_digest);
}

/* All that decides when the uploads of a record leave and under which ids: the
 * report's digest has the plan of slots and rounds. In memory only. */
static void release_sending(hsy_release *r)
{
    uint8_t plan[17 + sizeof r->task.id];

    bytes_put32(plan, r->task.release);
    bytes_put32(plan + 4, r->task.end);
    bytes_put32(plan + 8, r->task.delay_seconds);
    bytes_put32(plan + 12, r->task.grace_days);
    plan[16] = release_layers(r) != 0;
    memcpy(plan + 17, r->task.id, sizeof r->task.id);
    hsy_blake2b(r->sending, DEVICE_SENDING, plan, sizeof plan, r->report_digest,
                HSY_DIGEST);
}

/* Whose answer at a higher epsilon serves for a lower one. */
static bool release_lowers(const hsy_scheme *s)
{
    return s->design == HSY_DESIGN_EPSILON &&
           (s->mech == &hsy_mech_rr || s->mech == &hsy_mech_grr ||
            s->mech == &hsy_mech_sue || s->mech == &hsy_mech_oue);
}

/*
 * Everything that two releases must share before the answer to one can be made
 * from that to the other: the scheme but for epsilon, and when a slot is. Only
 * a first look; hsy_release_older decides. An answer that may never be sent
 * (answers above sends) was not paid for, so nothing is made from it.
 */
static void release_base(hsy_release *r)
{
    hsy_scheme same = *hsy_release_charged(r);
    uint8_t days[8], digest[HSY_DIGEST];
    struct blake2b b;

    if (!release_lowers(&same) || r->task.answers != r->task.sends)
        return;
    same.nano_epsilon = same.two.weight = same.total = same.bits.own =
        same.bits.other = 0;
    same.two.shift = same.bits.digits = 0;
    hsy_scheme_digest(&same);
    bytes_put32(days, r->task.start);
    bytes_put32(days + 4, r->task.slot_days);
    hsy_blake2b_init(&b, HSY_DIGEST, NULL, 0);
    hsy_blake2b_update(&b, release_base_tag, sizeof release_base_tag);
    hsy_blake2b_update(&b, same.digest, HSY_DIGEST);
    hsy_blake2b_update(&b, days, sizeof days);
    hsy_blake2b_final(&b, digest);
    memcpy(r->base, digest, DEVICE_BASE);
}

/* The mechanisms that lower have no tail: the struct is all of the scheme. */
bool hsy_release_older(hsy_scheme *older, const hsy_release *r,
                       const struct device_record *record)
{
    const hsy_scheme *newer = hsy_release_charged(r);
    const struct release_shape shape = {
        .start = r->task.start,
        .slot_days = r->task.slot_days,
        .round_days = record->round_days,
        .answers = record->answers,
        .sends = record->sends,
        .changes = record->changes,
    };
    const hsy_spec spec = {
        .size = sizeof spec,
        .mechanism = newer->mech->row.name,
        .kind = newer->kind,
        .nano_epsilon = record->nano_permanent,
    };
    uint8_t digest[HSY_DIGEST];
    hsy_scheme made = *newer;

    made.nano_epsilon = record->nano_permanent;
    if (hsy_mech_resolve(&made, newer->mech, &spec, NULL) != HSY_OK)
        return false;
    hsy_scheme_digest(&made);
    release_digest(digest, made.digest, &shape);
    if (memcmp(digest, record->digest, HSY_DIGEST) != 0)
        return false;
    *older = made;
    return true;
}

bool hsy_release_lowers(const hsy_release *r,
                        const struct device_record *record)
{
    static const uint8_t none[DEVICE_BASE];
    hsy_scheme older;
    hsy_permanent memo;

    return record->closed == 0 && record->nano_permanent >= r->nano_permanent &&
           memcmp(r->base, none, DEVICE_BASE) != 0 &&
           memcmp(r->base, record->base, DEVICE_BASE) == 0 &&
           hsy_release_older(&older, r, record) &&
           hsy_permanent_init(&memo, &older, hsy_release_charged(r), 0, NULL) ==
               HSY_OK;
}

/* ---- Making one ---------------------------------------------------------- */

static hsy_status release_schemes(hsy_release *r, const hsy_task *task,
                                  hsy_error *err)
{
    uint8_t *at = (uint8_t *)r + bytes_align(sizeof *r);
    hsy_status st;

    r->scheme = (hsy_scheme *)(void *)at;
    st = hsy_scheme_decode(r->scheme, task->scheme, task->labels,
                           task->labels_len, err);
    if (st == HSY_OK)
        st = hsy_mech_reports(r->scheme, err);
    if (st != HSY_OK || task->permanent == NULL)
        return st;
    at += release_scheme_size(task->scheme, task);
    r->permanent = (hsy_scheme *)(void *)at;
    st = hsy_scheme_decode(r->permanent, task->permanent, task->labels,
                           task->labels_len, err);
    if (st == HSY_OK)
        st = hsy_permanent_init(&r->memo, r->permanent, r->scheme, task->grain,
                                err);
    return st;
}

/* Where there is something unlisted, it is one of the values. */
static hsy_status release_other(const hsy_release *r, hsy_error *err)
{
    const uint32_t other = r->task.other;

    if (other == HSY_TASK_CLOSED)
        return HSY_OK;
    if (r->scheme->kind != HSY_KIND_VALUES || other >= r->scheme->d)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_OTHER,
                              "the value for what is not listed is none of "
                              "the list",
                              r->scheme->d);
    return HSY_OK;
}

static void release_digests(hsy_release *r)
{
    const struct release_shape shape = {
        .grain = r->permanent != NULL ? r->memo.grain : 0,
        .start = r->task.start,
        .slot_days = r->task.slot_days,
        .round_days = r->task.round_days,
        .answers = r->task.answers,
        .sends = r->task.sends,
        .changes = r->task.max_changes,
    };
    const struct mech_staged *staged = mech_staged(r->scheme->mech);
    const uint8_t *asked = hsy_release_charged(r)->digest;
    uint8_t family[HSY_DIGEST];

    if (staged != NULL) {
        staged->family(r->scheme, family);
        asked = family;
    }
    release_digest(r->digest, asked, &shape);
    release_report_digest(r);
    release_sending(r);
    release_base(r);
}

hsy_status hsy_release_init(hsy_release *r, const hsy_task *task,
                            hsy_error *err)
{
    hsy_status st;

    memset(r, 0, sizeof *r);
    r->task = *task;
    r->task.question = NULL;
    r->task.scheme = r->task.permanent = r->task.labels = NULL;
    r->task.statements = r->task.collector_key = NULL;
    st = release_schemes(r, task, err);
    if (st == HSY_OK)
        st = hsy_shuffled_keys(r, task, err);
    if (st == HSY_OK)
        st = release_plan(r, task, err);
    if (st == HSY_OK)
        st = release_stages(r, err);
    if (st == HSY_OK)
        st = release_other(r, err);
    if (st == HSY_OK)
        st = release_charges(r, err);
    if (st == HSY_OK)
        release_digests(r);
    return st;
}

void hsy_release_proved(hsy_release *r)
{
    r->proved = true;
}

/* Sealed: a letter that says whether it is null, the report, the layers. */
size_t hsy_release_payload(const hsy_release *r)
{
    const size_t report = hsy_packed_size(r->scheme, 1),
                 layers = release_layers(r);

    return layers == 0 ? report : 1 + report + layers * HSY_SEAL_LAYER;
}

void hsy_release_describe(const hsy_release *r, hsy_release_info *info)
{
    *info = (hsy_release_info){
        .task = r->task,
        .scheme = r->scheme,
        .permanent = r->permanent,
        .memo = r->permanent != NULL ? &r->memo : NULL,
        .slots = r->slots,
        .rounds = r->rounds,
        .nano_report = r->nano_report,
        .nano_slot = r->nano_slot,
        .nano_task = r->nano_task,
        .upload_bytes = HSY_UPLOAD_WIRE + hsy_release_payload(r),
    };
    memcpy(info->digest, r->digest, HSY_DIGEST);
}
