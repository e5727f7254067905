/*
 * roster.c - the tasks a collector asks or has asked.
 *
 * A *core* holds what an entry points to: its document of one task and the
 * release made from it. Rosters that share an entry share its core, which is
 * counted as rosters are. What changes within a release (words, an earlier end)
 * comes with the next document and gives the entry a new core.
 *
 * Entries are found by a sorted list of places, by task, then by release: no
 * two entries have both, so nothing that a stranger sends makes it slow (R26).
 */
#include "server/intake/roster.h"

#include "host/base/host_fail.h"
#include "host/tasks/calendar.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROSTER_DAY 86400u

struct roster_core {
    atomic_size_t holders;
    hsy_release *release;
    uint8_t *bytes;
};

struct roster {
    atomic_size_t holders;
    size_t n;
    struct roster_entry *entries;
    struct roster_core **cores; /* of the entry with the same place */
    uint32_t *sorted;           /* places by task and release */
    uint32_t request_bytes, document_bytes;
};

/* ---- Cores --------------------------------------------------------------- */

static void roster_core_drop(struct roster_core *c)
{
    if (c == NULL || atomic_fetch_sub(&c->holders, 1) != 1)
        return;
    free(c->release);
    free(c->bytes);
    free(c);
}

/* A document of task i alone. Where its signature would stand it has the terms
 * of a shuffled task, which other tasks of doc have a part in, and zeros. */
static hsy_status roster_document(uint8_t **bytes, size_t *len,
                                  const hsy_document *doc, uint32_t i,
                                  hsy_error *err)
{
    const hsy_document head = {.version = 1, .expires = 1};
    hsy_task task;
    hsy_status st;

    hsy_document_task(doc, &task, i);
    st = hsy_document_encode(&head, NULL, 0, len, &task, 1, err);
    if (st != HSY_OK)
        return st;
    *bytes = calloc(1, *len + HSY_SIGNATURE);
    if (*bytes == NULL)
        return host_nomem(err);
    st = hsy_document_encode(&head, *bytes, *len, len, &task, 1, err);
    if (st == HSY_OK && task.model == HSY_MODEL_SHUFFLED)
        hsy_document_terms(doc, *bytes + *len, i);
    *len += HSY_SIGNATURE;
    return st;
}

/* The first and the last day on which a device has an upload of it due. */
static void roster_epochs(struct roster_entry *e)
{
    const hsy_task *t = &e->task;
    const uint32_t round = calendar_round(t);

    e->first = round < t->end - t->start ? t->start + round : t->end;
    e->last = t->end;
    if (t->delay_seconds != 0)
        e->last += (t->delay_seconds - 1) / ROSTER_DAY;
}

/* What its first shuffler takes. */
static hsy_status roster_shuffled(struct roster_entry *e,
                                  const hsy_release_info *release,
                                  hsy_error *err)
{
    hsy_statement first;
    hsy_status st;

    if (e->task.model != HSY_MODEL_SHUFFLED)
        return HSY_OK;
    st = hsy_statement_decode(&first, e->task.statements, err);
    if (st != HSY_OK)
        return st;
    memcpy(e->first_key, first.sign_key, sizeof e->first_key);
    memcpy(e->terms, e->bytes + e->len - HSY_SIGNATURE, sizeof e->terms);
    e->sealed_bytes = release->upload_bytes - HSY_UPLOAD_WIRE;
    return HSY_OK;
}

/* Everything of an entry that follows from the one task of its document. */
static hsy_status roster_fill(struct roster_entry *e, struct roster_core *c,
                              size_t len, hsy_error *err)
{
    hsy_document doc;
    hsy_release_info release;
    hsy_scheme_info info;
    hsy_status st = hsy_document_open(&doc, c->bytes, len, err);

    if (st != HSY_OK)
        return st;
    if (doc.tasks != 1)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_TASKS,
                         "an entry is a document of one task");
    hsy_document_task(&doc, &e->task, 0);
    c->release = malloc(hsy_release_size(&e->task));
    if (c->release == NULL)
        return host_nomem(err);
    st = hsy_release_init(c->release, &e->task, err);
    if (st != HSY_OK)
        return st;
    hsy_release_proved(c->release); /* before its document was accepted */
    hsy_release_describe(c->release, &release);
    hsy_scheme_describe(release.scheme, &info);
    e->release = c->release;
    e->scheme = release.scheme;
    memcpy(e->digest, info.digest, HSY_DIGEST);
    e->report_bytes = info.report_bytes;
    e->words = hsy_tally_words(release.scheme);
    e->bytes = c->bytes;
    e->len = len;
    roster_epochs(e);
    return roster_shuffled(e, &release, err);
}

/* Make an entry of bytes, which become the core's whatever is returned. */
static hsy_status roster_make(struct roster_entry *e, struct roster_core **core,
                              uint8_t *bytes, size_t len, hsy_error *err)
{
    struct roster_core *c = calloc(1, sizeof *c);
    hsy_status st;

    if (c == NULL) {
        free(bytes);
        return host_nomem(err);
    }
    atomic_init(&c->holders, 1);
    c->bytes = bytes;
    st = roster_fill(e, c, len, err);
    if (st == HSY_OK)
        *core = c;
    else
        roster_core_drop(c);
    return st;
}

/* ---- Rosters ------------------------------------------------------------- */

/* Room for n entries, none there yet. */
static struct roster *roster_room(size_t n)
{
    struct roster *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    atomic_init(&r->holders, 1);
    r->entries = calloc(n + 1, sizeof *r->entries);
    r->cores = calloc(n + 1, sizeof(struct roster_core *));
    r->sorted = calloc(n + 1, sizeof *r->sorted);
    if (r->entries != NULL && r->cores != NULL && r->sorted != NULL)
        return r;
    roster_drop(r);
    return NULL;
}

struct roster *roster_new(void)
{
    return roster_room(0);
}

struct roster *roster_hold(struct roster *r)
{
    atomic_fetch_add(&r->holders, 1);
    return r;
}

void roster_drop(struct roster *r)
{
    if (r == NULL || atomic_fetch_sub(&r->holders, 1) != 1)
        return;
    for (size_t i = 0; i < r->n; i++)
        roster_core_drop(r->cores[i]);
    free(r->entries);
    free(r->cores);
    free(r->sorted);
    free(r);
}

size_t roster_count(const struct roster *r)
{
    return r->n;
}

const struct roster_entry *roster_at(const struct roster *r, size_t number)
{
    return &r->entries[number];
}

uint32_t roster_request_bytes(const struct roster *r)
{
    return r->request_bytes;
}

uint32_t roster_document_bytes(const struct roster *r)
{
    return r->document_bytes;
}

uint64_t roster_tally_bytes(const struct roster *r, uint64_t day_words,
                            uint64_t days)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct roster_entry *e = &r->entries[i];
        const uint64_t life = (uint64_t)e->last - e->first + 1;
        const uint64_t own = e->words <= day_words ? days + 2 : 0;

        if (e->current)
            bytes +=
                e->words * sizeof(int64_t) * (1 + (own < life ? own : life));
    }
    return bytes;
}

/* ---- Finding ------------------------------------------------------------- */

static int roster_order(const struct roster_entry *e, const char *task,
                        uint32_t release)
{
    const int order = strcmp(e->task.id, task);

    if (order != 0)
        return order;
    return (e->task.release > release) - (e->task.release < release);
}

/* The first place in sorted that is not before this task and release. */
static size_t roster_seek(const struct roster *r, const char *task,
                          uint32_t release)
{
    size_t from = 0, to = r->n;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (roster_order(&r->entries[r->sorted[middle]], task, release) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The entry at a place in sorted, if there is one and it is of this task. */
static const struct roster_entry *roster_of_task(const struct roster *r,
                                                 size_t place, const char *task)
{
    const struct roster_entry *e;

    if (place >= r->n)
        return NULL;
    e = &r->entries[r->sorted[place]];
    return strcmp(e->task.id, task) == 0 ? e : NULL;
}

const struct roster_entry *roster_find(const struct roster *r,
                                       const hsy_upload *head,
                                       const struct roster_entry **near)
{
    const size_t place = roster_seek(r, head->task, head->release);
    const struct roster_entry *e = roster_of_task(r, place, head->task);

    if (e != NULL && e->task.release == head->release &&
        memcmp(e->digest, head->digest, HSY_DIGEST) == 0)
        return e;
    if (e == NULL && place != 0)
        e = roster_of_task(r, place - 1, head->task);
    if (near != NULL)
        *near = e;
    return NULL;
}

/* ---- Growing ------------------------------------------------------------- */

/* Let a new entry of a core stand at the end. */
static void roster_append(struct roster *r, const struct roster_entry *e,
                          struct roster_core *core)
{
    const size_t place = roster_seek(r, e->task.id, e->task.release);

    memmove(&r->sorted[place + 1], &r->sorted[place],
            (r->n - place) * sizeof *r->sorted);
    r->sorted[place] = (uint32_t)r->n;
    r->entries[r->n] = *e;
    r->entries[r->n].number = (uint32_t)r->n;
    r->cores[r->n++] = core;
}

/* What the document in force says of an entry that is there. */
static hsy_status roster_renew(struct roster *r, const struct roster_entry *e,
                               struct roster_core *core, hsy_error *err)
{
    const size_t place = roster_seek(r, e->task.id, e->task.release);
    const uint32_t number = r->sorted[place];
    struct roster_entry *old = &r->entries[number];
    hsy_status st = HSY_OK;

    if (memcmp(old->digest, e->digest, HSY_DIGEST) != 0)
        st = host_fail(err, HSY_E_RANGE, HSY_FIELD_RELEASE,
                       "this release was asked by another scheme: a change "
                       "needs a new release");
    else if (memcmp(old->terms, e->terms, sizeof old->terms) != 0)
        st = host_fail(err, HSY_E_RANGE, HSY_FIELD_RELEASE,
                       "this release was asked under other terms: a change "
                       "needs a new release ('hearsay tasks check --against' "
                       "says what has changed)");
    if (st != HSY_OK) {
        roster_core_drop(core);
        return st;
    }
    roster_core_drop(r->cores[number]);
    r->cores[number] = core;
    *old = *e;
    old->number = number;
    return HSY_OK;
}

static bool roster_has(const struct roster *r, const hsy_task *task)
{
    const struct roster_entry *e =
        roster_of_task(r, roster_seek(r, task->id, task->release), task->id);

    return e != NULL && e->task.release == task->release;
}

/* One task of a document. */
static hsy_status roster_take(struct roster *r, const hsy_document *doc,
                              uint32_t i, hsy_error *err)
{
    struct roster_entry e = {.current = true};
    struct roster_core *core;
    uint8_t *bytes = NULL;
    size_t len;
    hsy_status st = roster_document(&bytes, &len, doc, i, err);

    if (st != HSY_OK) {
        free(bytes);
        return st;
    }
    st = roster_make(&e, &core, bytes, len, err);
    if (st != HSY_OK)
        return st;
    if (roster_has(r, &e.task))
        return roster_renew(r, &e, core, err);
    roster_append(r, &e, core);
    return HSY_OK;
}

/* The old entries, none of them in force. */
static void roster_copy(struct roster *r, const struct roster *old)
{
    for (size_t i = 0; i < old->n; i++) {
        atomic_fetch_add(&old->cores[i]->holders, 1);
        r->cores[i] = old->cores[i];
        r->entries[i] = old->entries[i];
        r->entries[i].current = false;
        r->sorted[i] = old->sorted[i];
    }
    r->n = old->n;
}

/* A release of a shuffled task keeps its end, so that a task ends early by
 * leaving the document. */
static void roster_end(struct roster *r)
{
    for (size_t i = 0; i < r->n; i++)
        r->entries[i].ended = r->entries[i].task.model == HSY_MODEL_SHUFFLED;
    for (size_t i = 0; i < r->n; i++) {
        const char *task = r->entries[i].task.id;

        for (size_t place = roster_seek(r, task, 0);
             r->entries[i].current && roster_of_task(r, place, task) != NULL;
             place++)
            r->entries[r->sorted[place]].ended = false;
    }
}

hsy_status roster_extend(struct roster **out, struct roster *old,
                         const hsy_document *doc, hsy_error *err)
{
    struct roster *r = roster_room(old->n + doc->tasks);
    hsy_status st = HSY_OK;
    hsy_parties parties;

    if (r == NULL)
        return host_nomem(err);
    roster_copy(r, old);
    hsy_document_parties(doc, &parties);
    r->request_bytes = parties.request_bytes;
    r->document_bytes = parties.document_bytes;
    for (uint32_t i = 0; i < doc->tasks && st == HSY_OK; i++) {
        st = roster_take(r, doc, i, err);
        if (st != HSY_OK && err != NULL) {
            err->unit = HSY_UNIT_TASK;
            err->at = i + 1;
        }
    }
    if (st == HSY_OK) {
        roster_end(r);
        *out = r;
    } else {
        roster_drop(r);
    }
    return st;
}

/* ---- Reading back -------------------------------------------------------- */

static hsy_status roster_read(struct roster *r, const uint8_t *bytes,
                              size_t len, hsy_error *err)
{
    struct roster_entry e = {.current = false};
    struct roster_core *core;
    uint8_t *copy = malloc(len + 1);
    hsy_status st;

    if (copy == NULL)
        return host_nomem(err);
    memcpy(copy, bytes, len);
    st = roster_make(&e, &core, copy, len, err);
    if (st != HSY_OK)
        return st;
    if (roster_has(r, &e.task)) {
        roster_core_drop(core);
        return host_fail(err, HSY_E_FORMAT, HOST_FIELD_ENTRY,
                         "two entries of one task and release");
    }
    roster_append(r, &e, core);
    return HSY_OK;
}

hsy_status roster_load(struct roster **out, const uint8_t *const *bytes,
                       const size_t *len, size_t n, const hsy_document *doc,
                       hsy_error *err)
{
    struct roster *r = roster_room(n), *all = NULL;
    hsy_status st = HSY_OK;

    if (r == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        st = roster_read(r, bytes[i], len[i], err);
        if (st != HSY_OK && err != NULL) {
            err->unit = HSY_UNIT_TASK;
            err->at = i + 1;
        }
    }
    if (st == HSY_OK && doc == NULL)
        all = roster_hold(r);
    else if (st == HSY_OK)
        st = roster_extend(&all, r, doc, err);
    roster_drop(r);
    if (st == HSY_OK && all->n != n) {
        roster_drop(all);
        return host_fail(err, HSY_E_FORMAT, HOST_FIELD_ENTRY,
                         "the document in force has tasks without an entry");
    }
    if (st == HSY_OK)
        *out = all;
    return st;
}
