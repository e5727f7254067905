/*
 * document.c - task document: all tasks of a collector, in one encoding.
 *
 * Little-endian.                                        docs/formats.md, 6
 *
 *     0 magic[4], 4 format, 8 version (8 bytes), 16 issued, 20 expires,
 *     24 tasks, 28 length of all of it, 32 next_key[32], 64 tasks,
 *     from format 2 on the parties, then signature[64] of everything before it
 *
 * A task:
 *
 *     0 length of this task, 4 to 59 numbers (document_numbers),
 *     60 whether there is a permanent scheme, 64 grain, 72 and 80 sample,
 *     88 id[32], 120 source[64], 184 model, 188 length of what more there is,
 *     192 scheme[384], the permanent scheme [384], labels, question, more
 *
 * Format 2 is written where there are parties, or a task has a model or flags
 * (parties.c), and then only: without them one of format 1 says the same.
 * Format 3 is written where the parties have document_bytes, and then only.
 *
 * What a field may be is written once, in document_check, and holds for what
 * is written and for what is read. That a scheme's integers follow from its
 * parameters is seen when it is resolved (hsy_release_init), not here.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/names.h"
#include "lib/core/blake2b.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"

#include <string.h>

#define DOCUMENT_FORMAT 3u
#define DOCUMENT_HEAD 64u
#define DOCUMENT_TASK 192u
#define DOCUMENT_GRACE 3650u
#define DOCUMENT_BYTES_AT 20u /* of document_bytes in the parties */
#define DOCUMENT_DAY_SECONDS 86400u

static const uint8_t document_magic[4] = {'H', 'S', 'Y', 'D'};

/* A task's numbers of 4 bytes, in the order in which they stand from byte 4
 * on; then the lengths of question and labels. */
static const size_t document_numbers[] = {
    offsetof(hsy_task, release),       offsetof(hsy_task, start),
    offsetof(hsy_task, end),           offsetof(hsy_task, slot_days),
    offsetof(hsy_task, round_days),    offsetof(hsy_task, max_changes),
    offsetof(hsy_task, answers),       offsetof(hsy_task, sends),
    offsetof(hsy_task, delay_seconds), offsetof(hsy_task, grace_days),
    offsetof(hsy_task, min_reports),   offsetof(hsy_task, other),
};

#define DOCUMENT_NUMBERS (sizeof document_numbers / sizeof document_numbers[0])

/* ---- What a task may be -------------------------------------------------- */

static const char *document_names(const hsy_task *t, uint32_t *field)
{
    *field = HSY_FIELD_ID;
    if (!names_ok(t->id, HSY_TASK_ID))
        return "must be 1 to 32 characters of a-z, 0-9, '.', '_', '-'";
    *field = HSY_FIELD_SOURCE;
    if (!names_ok(t->source, HSY_SOURCE_MAX))
        return "must be 1 to 64 characters of a-z, 0-9, '.', '_', '-'";
    *field = HSY_FIELD_QUESTION;
    if (!names_line(t->question, t->question_len, HSY_QUESTION_MAX))
        return "must be 1 to 1024 bytes of UTF-8, one line without control "
               "characters";
    *field = HSY_FIELD_RELEASE;
    if (t->release == 0)
        return "a release is at least 1";
    return NULL;
}

/* Days of a slot, and of a round. */
static uint32_t document_slot(const hsy_task *t)
{
    return t->slot_days != 0 ? t->slot_days : t->end - t->start;
}

static uint32_t document_round(const hsy_task *t)
{
    return t->round_days != 0 ? t->round_days : document_slot(t);
}

/* Days end below 2^22, so there are fewer slots than 2^32. */
static const char *document_time(const hsy_task *t, uint32_t *field)
{
    *field = HSY_FIELD_END;
    if (t->end > NAMES_DAYS)
        return "a task ends before the year 10000";
    if (t->start >= t->end)
        return "a task ends after its start";
    *field = HSY_FIELD_SLOT_DAYS;
    if (t->slot_days > t->end - t->start)
        return "a slot is not longer than the task";
    *field = HSY_FIELD_ROUND_DAYS;
    if (document_slot(t) % document_round(t) != 0)
        return "rounds must divide a slot evenly";
    *field = HSY_FIELD_DELAY;
    if (t->delay_seconds >= (uint64_t)document_round(t) * DOCUMENT_DAY_SECONDS)
        return "a delay is shorter than a round";
    *field = HSY_FIELD_GRACE;
    if (t->grace_days > DOCUMENT_GRACE)
        return "uploads are sent within 3650 days or not at all";
    return NULL;
}

static const char *document_counts(const hsy_task *t, uint32_t *field)
{
    const bool kept = document_round(t) < document_slot(t);

    *field = HSY_FIELD_PERMANENT;
    if (kept != (t->permanent != NULL))
        return kept ? "several rounds a slot need a permanent answer"
                    : "a permanent answer needs several rounds a slot";
    *field = HSY_FIELD_MAX_CHANGES;
    if (t->max_changes < 1 || t->max_changes > (kept ? HSY_CHANGES_MAX : 1))
        return "from 1 to 16 changes with a permanent answer, else 1";
    *field = HSY_FIELD_ANSWERS;
    if (t->answers < 1 || t->answers > (kept ? 1 : HSY_ANSWERS_MAX))
        return "from 1 to 64 answers a round, 1 with a permanent answer";
    *field = HSY_FIELD_SENDS;
    if (t->sends < 1 || t->sends > t->answers)
        return "from 1 to as many uploads as there are answers";
    *field = HSY_FIELD_SAMPLE;
    if (t->sample.num < 1 || t->sample.num > t->sample.den ||
        t->sample.den > (uint64_t)1 << 31)
        return "a share above 0, at most 1, its denominator at most 2^31";
    *field = HSY_FIELD_GRAIN;
    if (t->grain != 0 && !kept)
        return "a grain goes with a permanent answer";
    return NULL;
}

const char *hsy_document_plan(const hsy_task *t, uint32_t *field)
{
    const char *wrong = document_time(t, field);

    return wrong != NULL ? wrong : document_counts(t, field);
}

/* Both schemes agree in all that was asked for; epsilon, which differs, is
 * larger in the permanent one. RAPPOR has both steps in one scheme. */
static bool document_agree(const hsy_spec *permanent, const hsy_spec *report)
{
    return permanent->mechanism == report->mechanism &&
           permanent->kind == report->kind && permanent->d == report->d &&
           permanent->lo == report->lo && permanent->hi == report->hi &&
           permanent->scale == report->scale &&
           permanent->design == report->design &&
           memcmp(permanent->chance, report->chance, sizeof report->chance) ==
               0 &&
           memcmp(permanent->param, report->param, sizeof report->param) == 0 &&
           permanent->nano_epsilon >= report->nano_epsilon &&
           (report->nano_permanent == 0 ||
            report->nano_permanent == permanent->nano_epsilon);
}

static const char *document_schemes(const hsy_task *t, uint32_t *field)
{
    hsy_spec report, permanent;

    *field = HSY_FIELD_LABELS;
    if (t->labels_len > HSY_LABELS_MAX)
        return "the labels are too long";
    *field = HSY_FIELD_SCHEME;
    if (hsy_spec_decode(&report, t->scheme, t->labels, t->labels_len, NULL) !=
        HSY_OK)
        return "a mechanism this version does not know, or other labels";
    if (report.kind < HSY_KIND_YES_NO || report.kind > HSY_KIND_STRINGS)
        return "a task asks for yes or no, a value, a number or a string";
    *field = HSY_FIELD_OTHER;
    if (t->other != HSY_TASK_CLOSED &&
        (report.kind != HSY_KIND_VALUES || t->other >= report.d))
        return "other is one of the listed values";
    *field = HSY_FIELD_PERMANENT;
    if (t->permanent == NULL
            ? report.nano_permanent != 0
            : hsy_spec_decode(&permanent, t->permanent, t->labels,
                              t->labels_len, NULL) != HSY_OK ||
                  !document_agree(&permanent, &report))
        return "the permanent scheme differs in more than a larger epsilon";
    return NULL;
}

/* Task i, from 0 on. */
static hsy_status document_check(const hsy_task *t, size_t i, hsy_status status,
                                 hsy_error *err)
{
    static const char *(*const checks[])(const hsy_task *, uint32_t *) = {
        document_names, hsy_document_plan, document_schemes, hsy_more_check};

    for (size_t k = 0; k < sizeof checks / sizeof checks[0]; k++) {
        uint32_t field;
        const char *wrong = checks[k](t, &field);

        if (wrong != NULL)
            return hsy_fail_at(err, status, field, wrong, HSY_UNIT_TASK, i + 1);
    }
    return HSY_OK;
}

/* What concerns the document as a whole. */
static hsy_status document_check_head(const hsy_document *doc, uint64_t tasks,
                                      hsy_status status, hsy_error *err)
{
    if (doc->version == 0)
        return hsy_fail(err, status, HSY_FIELD_VERSION,
                        "a version is at least 1");
    if (doc->expires > NAMES_DAYS || doc->issued >= doc->expires)
        return hsy_fail(err, status, HSY_FIELD_EXPIRES,
                        "a document expires after it was issued, before the "
                        "year 10000");
    if (tasks > HSY_TASKS_MAX)
        return hsy_fail_limit(err, status, HSY_FIELD_TASKS, "too many tasks",
                              HSY_TASKS_MAX);
    return HSY_OK;
}

/* ---- Writing ------------------------------------------------------------- */

#ifndef HSY_CLIENT /* a small client writes none */

static size_t document_task_bytes(const hsy_task *t)
{
    return DOCUMENT_TASK + HSY_SCHEME_WIRE +
           (t->permanent != NULL ? HSY_SCHEME_WIRE : 0) + t->labels_len +
           t->question_len + hsy_more_bytes(t);
}

static uint8_t *document_append(uint8_t *to, const void *from, size_t len)
{
    if (len != 0)
        memcpy(to, from, len);
    return to + len;
}

static uint8_t *document_put_task(uint8_t *to, const hsy_task *t)
{
    const uint8_t *fields = (const uint8_t *)t;
    uint8_t *at = to + 4;

    memset(to, 0, DOCUMENT_TASK);
    bytes_put32(to, (uint32_t)document_task_bytes(t));
    for (size_t i = 0; i < DOCUMENT_NUMBERS; i++, at += 4) {
        uint32_t number;

        memcpy(&number, fields + document_numbers[i], sizeof number);
        bytes_put32(at, number);
    }
    bytes_put32(to + 52, (uint32_t)t->question_len);
    bytes_put32(to + 56, (uint32_t)t->labels_len);
    bytes_put32(to + 60, t->permanent != NULL);
    bytes_put64(to + 64, t->grain);
    bytes_put64(to + 72, t->sample.num);
    bytes_put64(to + 80, t->sample.den);
    names_put(to + 88, t->id);
    names_put(to + 120, t->source);
    bytes_put32(to + 184, t->model);
    bytes_put32(to + 188, (uint32_t)hsy_more_bytes(t));
    at = document_append(to + DOCUMENT_TASK, t->scheme, HSY_SCHEME_WIRE);
    if (t->permanent != NULL)
        at = document_append(at, t->permanent, HSY_SCHEME_WIRE);
    at = document_append(at, t->labels, t->labels_len);
    at = document_append(at, t->question, t->question_len);
    return hsy_more_put(at, t);
}

/* Whether an earlier task has this one's id. */
static bool document_repeats(const hsy_task *tasks, size_t i)
{
    const size_t len = names_length(tasks[i].id, HSY_TASK_ID) + 1;

    for (size_t k = 0; k < i; k++)
        if (memcmp(tasks[k].id, tasks[i].id, len) == 0)
            return true;
    return false;
}

/* The first format that can say what a document says. */
static uint32_t document_format(const hsy_document *doc, const hsy_task *tasks,
                                size_t n)
{
    bool more = doc->parties != NULL && hsy_parties_any(doc->parties);

    if (doc->parties != NULL && doc->parties->document_bytes != 0)
        return 3;
    for (size_t i = 0; i < n; i++)
        more |= hsy_more_bytes(&tasks[i]) != 0;
    return more ? 2 : 1;
}

/* Check all of it; *len is what it takes with its signature. */
static hsy_status document_measure(size_t *len, const hsy_document *doc,
                                   const hsy_task *tasks, size_t n,
                                   hsy_error *err)
{
    hsy_status st = document_check_head(doc, n, HSY_E_RANGE, err);

    *len = DOCUMENT_HEAD + HSY_SIGNATURE;
    if (st == HSY_OK && document_format(doc, tasks, n) != 1) {
        st = hsy_parties_check(doc->parties, HSY_E_RANGE, err);
        *len += hsy_parties_bytes(doc->parties);
    }
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        st = document_check(&tasks[i], i, HSY_E_RANGE, err);
        if (st == HSY_OK && document_repeats(tasks, i))
            st = hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_ID,
                             "another task has the same id", HSY_UNIT_TASK,
                             i + 1);
        if (st == HSY_OK)
            *len += document_task_bytes(&tasks[i]);
        if (st == HSY_OK && *len > HSY_DOCUMENT_MAX)
            st = hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TASKS,
                                "the document is too long", HSY_DOCUMENT_MAX);
    }
    return st;
}

static void document_put_head(uint8_t *out, const hsy_document *doc,
                              uint32_t format, size_t n, size_t all)
{
    memcpy(out, document_magic, sizeof document_magic);
    bytes_put32(out + 4, format);
    bytes_put64(out + 8, doc->version);
    bytes_put32(out + 16, doc->issued);
    bytes_put32(out + 20, doc->expires);
    bytes_put32(out + 24, (uint32_t)n);
    bytes_put32(out + 28, (uint32_t)all);
    memcpy(out + 32, doc->next_key, HSY_SIGN_KEY);
}

hsy_status hsy_document_encode(const hsy_document *doc, uint8_t *out,
                               size_t room, size_t *len, const hsy_task *tasks,
                               size_t n, hsy_error *err)
{
    size_t all;
    hsy_status st = document_measure(&all, doc, tasks, n, err);
    uint8_t *at = out;
    uint32_t format;

    if (st != HSY_OK)
        return st;
    if (out != NULL && room < all - HSY_SIGNATURE)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ROOM,
                              "it does not fit", room);
    *len = all - HSY_SIGNATURE;
    if (out == NULL)
        return HSY_OK;
    format = document_format(doc, tasks, n);
    document_put_head(out, doc, format, n, all);
    at += DOCUMENT_HEAD;
    for (size_t i = 0; i < n; i++)
        at = document_put_task(at, &tasks[i]);
    if (format != 1)
        hsy_parties_put(at, doc->parties);
    return HSY_OK;
}

#endif

/* ---- Reading ------------------------------------------------------------- */

/* The task that begins here, its length stated truly. False: its names or
 * spare bytes have more than one encoding. */
static bool document_get_task(hsy_task *t, const uint8_t *from)
{
    const uint8_t *at = from + 4;
    bool canonical;

    *t = (hsy_task){.release = 0};
    for (size_t i = 0; i < DOCUMENT_NUMBERS; i++, at += 4) {
        uint32_t number = bytes_get32(at);

        memcpy((uint8_t *)t + document_numbers[i], &number, sizeof number);
    }
    t->question_len = bytes_get32(from + 52);
    t->labels_len = bytes_get32(from + 56);
    t->grain = bytes_get64(from + 64);
    t->sample = (hsy_ratio){bytes_get64(from + 72), bytes_get64(from + 80)};
    canonical = names_get(t->id, from + 88, HSY_TASK_ID);
    canonical &= names_get(t->source, from + 120, HSY_SOURCE_MAX);
    t->model = bytes_get32(from + 184);
    t->scheme = from + DOCUMENT_TASK;
    at = t->scheme + HSY_SCHEME_WIRE;
    if (bytes_get32(from + 60) != 0) {
        t->permanent = at;
        at += HSY_SCHEME_WIRE;
    }
    t->labels = t->labels_len != 0 ? at : NULL;
    at += t->labels_len;
    t->question = (const char *)at;
    at += t->question_len;
    return canonical & hsy_more_get(t, at, bytes_get32(from + 188));
}

/* Whether a task stands here whose parts have the length of the whole. */
static bool document_frames(const uint8_t *from, size_t left)
{
    uint64_t parts = DOCUMENT_TASK + HSY_SCHEME_WIRE;

    if (left < parts)
        return false;
    parts += (uint64_t)bytes_get32(from + 52) + bytes_get32(from + 56) +
             bytes_get32(from + 188);
    if (bytes_get32(from + 60) != 0)
        parts += HSY_SCHEME_WIRE;
    return bytes_get32(from + 60) <= 1 && bytes_get32(from) == parts &&
           parts <= left;
}

/* Whether one of the tasks from `first` up to this one has its id. */
static bool document_seen(const uint8_t *first, const uint8_t *this)
{
    for (; first < this; first += bytes_get32(first))
        if (memcmp(first + 88, this + 88, HSY_TASK_ID) == 0)
            return true;
    return false;
}

/* Up to *rest, where the last task ends; *more: one says what a task of format
 * 1 cannot. */
static hsy_status document_open_tasks(const hsy_document *doc,
                                      const uint8_t **rest, bool *more,
                                      hsy_error *err)
{
    const bool first_format = bytes_get32(doc->bytes + 4) == 1;
    const uint8_t *first = doc->bytes + DOCUMENT_HEAD, *at = first;
    const uint8_t *end = doc->bytes + doc->len - HSY_SIGNATURE;
    hsy_task t;

    for (uint32_t i = 0; i < doc->tasks; i++) {
        hsy_status st;

        if (!document_frames(at, (size_t)(end - at)))
            return hsy_fail_at(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                               "a task does not have the length stated",
                               HSY_UNIT_TASK, (uint64_t)i + 1);
        if ((first_format && bytes_get64(at + 184) != 0) ||
            !document_get_task(&t, at))
            return hsy_fail_at(err, HSY_E_FORMAT, HSY_FIELD_ID,
                               "a name or reserved bytes are not followed "
                               "by zeros",
                               HSY_UNIT_TASK, (uint64_t)i + 1);
        st = document_check(&t, i, HSY_E_FORMAT, err);
        if (st != HSY_OK)
            return st;
        if (document_seen(first, at))
            return hsy_fail_at(err, HSY_E_FORMAT, HSY_FIELD_ID,
                               "another task has the same id", HSY_UNIT_TASK,
                               (uint64_t)i + 1);
        *more |= hsy_more_bytes(&t) != 0;
        at += bytes_get32(at);
    }
    *rest = at;
    return HSY_OK;
}

/* What follows the tasks: nothing in format 1, else the parties. */
static hsy_status document_open_rest(const hsy_document *doc, const uint8_t *at,
                                     bool more, hsy_error *err)
{
    const uint8_t *end = doc->bytes + doc->len - HSY_SIGNATURE;
    const uint32_t format = bytes_get32(doc->bytes + 4);

    if (format != 1) {
        const hsy_status st =
            hsy_parties_open(at, (size_t)(end - at), more, err);

        return st != HSY_OK || (bytes_get32(at + DOCUMENT_BYTES_AT) != 0) ==
                                   (format == 3)
                   ? st
                   : hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_FORMAT,
                              "format 3 states document_bytes, and no other "
                              "format does");
    }
    return at == end ? HSY_OK
                     : hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                                "bytes follow the last task");
}

/* Magic, format and length, which stand before everything else. */
static hsy_status document_frame(const uint8_t *bytes, size_t len,
                                 hsy_error *err)
{
    if (len < 8 || memcmp(bytes, document_magic, sizeof document_magic) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_MAGIC,
                        "not a signed task document; make one with 'hearsay "
                        "tasks compile'");
    if (bytes_get32(bytes + 4) - 1 >= DOCUMENT_FORMAT)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_FORMAT,
                              "a format this program does not know",
                              DOCUMENT_FORMAT);
    if (len > HSY_DOCUMENT_MAX)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                              "the document is too long", HSY_DOCUMENT_MAX);
    if (len < DOCUMENT_HEAD + HSY_SIGNATURE || bytes_get32(bytes + 28) != len)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                        "the document does not have the length stated");
    return HSY_OK;
}

hsy_status hsy_document_open(hsy_document *doc, const uint8_t *bytes,
                             size_t len, hsy_error *err)
{
    hsy_status st = document_frame(bytes, len, err);
    const uint8_t *rest = NULL;
    bool more = false;
    hsy_document d;

    if (st != HSY_OK)
        return st;
    d = (hsy_document){.version = bytes_get64(bytes + 8),
                       .issued = bytes_get32(bytes + 16),
                       .expires = bytes_get32(bytes + 20),
                       .tasks = bytes_get32(bytes + 24),
                       .bytes = bytes,
                       .len = len};
    memcpy(d.next_key, bytes + 32, HSY_SIGN_KEY);
    st = document_check_head(&d, d.tasks, HSY_E_FORMAT, err);
    if (st == HSY_OK)
        st = document_open_tasks(&d, &rest, &more, err);
    if (st == HSY_OK)
        st = document_open_rest(&d, rest, more, err);
    if (st == HSY_OK)
        *doc = d;
    return st;
}

/* Where task i begins, or what follows the last one. */
static const uint8_t *document_at(const hsy_document *doc, uint32_t i)
{
    const uint8_t *at = doc->bytes + DOCUMENT_HEAD;

    while (i-- != 0)
        at += bytes_get32(at);
    return at;
}

void hsy_document_task(const hsy_document *doc, hsy_task *task, uint32_t i)
{
    (void)document_get_task(task, document_at(doc, i));
}

#ifndef HSY_CLIENT
void hsy_document_parties(const hsy_document *doc, hsy_parties *parties)
{
    const uint8_t *at = document_at(doc, doc->tasks);

    *parties = (hsy_parties){.relay = NULL};
    if (bytes_get32(doc->bytes + 4) != 1)
        (void)hsy_parties_get(
            parties, at, (size_t)(doc->bytes + doc->len - HSY_SIGNATURE - at));
}

void hsy_document_digest(const hsy_document *doc, uint8_t digest[HSY_DIGEST])
{
    hsy_blake2b(digest, HSY_DIGEST, doc->bytes, doc->len, NULL, 0);
}

/* ---- Terms --------------------------------------------------------------- */

static void terms_begin(struct blake2b *b, const char *label)
{
    hsy_blake2b_init(b, HSY_DIGEST, NULL, 0);
    hsy_blake2b_update(b, label, strlen(label));
}

/* Digest of a task's record without the question and min_reports, the only
 * fields that change neither what a device sends nor when. */
static void terms_record(uint8_t digest[HSY_DIGEST], const uint8_t *task)
{
    const uint32_t len = bytes_get32(task), question = bytes_get32(task + 52);
    const uint32_t more = bytes_get32(task + 188);
    uint8_t head[DOCUMENT_TASK];
    struct blake2b b;

    memcpy(head, task, sizeof head);
    bytes_put32(head, len - question);
    bytes_put32(head + 44, 0); /* min_reports */
    bytes_put32(head + 52, 0);
    terms_begin(&b, "hearsay task 1");
    hsy_blake2b_update(&b, head, sizeof head);
    hsy_blake2b_update(&b, task + DOCUMENT_TASK,
                       len - DOCUMENT_TASK - question - more);
    hsy_blake2b_update(&b, task + len - more, more);
    hsy_blake2b_final(&b, digest);
}

/* Tasks on one source share its caps: another one that is given to everybody
 * but one device, or listed before this task, could use them up and leave that
 * device's report alone among null uploads. So their order counts, too. */
void hsy_document_terms(const hsy_document *doc, uint8_t terms[HSY_DIGEST],
                        uint32_t i)
{
    const uint8_t *own = document_at(doc, i), *at = document_at(doc, 0);
    uint8_t digest[HSY_DIGEST];
    struct blake2b b;

    terms_begin(&b, "hearsay terms 1");
    terms_record(digest, own);
    hsy_blake2b_update(&b, digest, sizeof digest);
    for (uint32_t k = 0; k < doc->tasks; k++, at += bytes_get32(at))
        if (memcmp(at + 120, own + 120, HSY_SOURCE_MAX) == 0) {
            terms_record(digest, at);
            hsy_blake2b_update(&b, digest, sizeof digest);
        }
    hsy_blake2b_final(&b, terms);
}
#endif
