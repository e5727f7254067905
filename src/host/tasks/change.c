/*
 * change.c - what may change from one version of the tasks to the next.
 *
 * Within a release of a local task: the words of the question, numbers that
 * tasks.def does not fix (sample, delay, grace, min_reports), an earlier end,
 * and that a relay is demanded. Everything else shapes what is asked, what it
 * costs or which coins are tossed, and needs a new release, whose number is
 * larger. A release of a shuffled task never changes its terms
 * (hsy_document_terms): only words and min_reports may differ, in it and in the
 * other tasks on its source. An id keeps its source for ever. A task may go.
 */
#include "host/tasks/internal.h"

#include "host/base/host_fail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct yaml_place change_at(size_t i, const char *key, const char *sub)
{
    return (struct yaml_place){i, key, sub, YAML_NONE};
}

static void change_versions(hsy_tasks *t, const hsy_document *from)
{
    if (t->head.version <= from->version)
        yaml_wrong(&t->notes, change_at(YAML_NONE, "version", NULL),
                   "the document in force has version %" PRIu64
                   ": this must be %" PRIu64 " or higher",
                   from->version, from->version + 1);
    if (t->head.issued < from->issued)
        yaml_wrong(&t->notes, change_at(YAML_NONE, "issued", NULL),
                   "the document in force was issued later");
}

static bool change_labels(const hsy_task *a, const hsy_task *b)
{
    return a->labels_len != b->labels_len || a->other != b->other ||
           (a->labels_len != 0 &&
            memcmp(a->labels, b->labels, a->labels_len) != 0);
}

static bool change_permanent(const hsy_task *a, const hsy_task *b)
{
    return (a->permanent == NULL) != (b->permanent == NULL) ||
           a->grain != b->grain ||
           (a->permanent != NULL &&
            memcmp(a->permanent, b->permanent, HSY_SCHEME_WIRE) != 0);
}

static bool change_epsilon(const hsy_task *a, const hsy_task *b)
{
    hsy_spec one, two;

    return hsy_spec_decode(&one, a->scheme, a->labels, a->labels_len, NULL) ==
               HSY_OK &&
           hsy_spec_decode(&two, b->scheme, b->labels, b->labels_len, NULL) ==
               HSY_OK &&
           one.nano_epsilon != two.nano_epsilon;
}

static void change_complain(hsy_tasks *t, struct yaml_place at,
                            const char *what, const hsy_task *old)
{
    yaml_wrong(&t->notes, at,
               "%s since release %" PRIu32 ": set 'release: %" PRIu32 "'", what,
               old->release, old->release + 1);
}

/* The place of a number that another release may have, and this not; no key:
 * there is none. */
static struct yaml_place change_number(size_t i, const hsy_task *old,
                                       const hsy_task *now)
{
    const unsigned fixed =
        now->model == HSY_MODEL_SHUFFLED ? TASK_FIXED | TASK_TERMS : TASK_FIXED;
    const struct task_field *f = task_fields;

    while (f->key != NULL &&
           ((f->flags & fixed) == 0 || task_field_same(f, old, now)))
        f++;
    return tasks_number_at(i, f);
}

static bool change_collector(const hsy_task *a, const hsy_task *b)
{
    return memcmp(a->collector_key, b->collector_key, HSY_SEAL_KEY) != 0;
}

static bool change_statements(const hsy_task *a, const hsy_task *b)
{
    return a->shufflers != b->shufflers ||
           memcmp(a->statements, b->statements,
                  (size_t)a->shufflers * HSY_STATEMENT_WIRE) != 0;
}

/* One release twice: complain of the first thing that differs. True if nothing
 * does. */
static bool change_within(hsy_tasks *t, size_t i, const hsy_task *old)
{
    const hsy_task *now = &t->tasks[i];
    const bool shuffled = now->model == HSY_MODEL_SHUFFLED;
    const char *slots = now->permanent != NULL ? "permanent" : "repeat";
    const struct yaml_place number = change_number(i, old, now);
    const struct {
        const char *key, *sub;
        bool differs;
    } rules[] = {
        {"values", NULL, change_labels(old, now)},
        {"epsilon", NULL, change_epsilon(old, now)},
        {"permanent", NULL, change_permanent(old, now)},
        {"mechanism", NULL,
         memcmp(old->scheme, now->scheme, HSY_SCHEME_WIRE) != 0},
        {"start", NULL, old->start != now->start},
        {"end", NULL, shuffled ? old->end != now->end : old->end < now->end},
        {slots, NULL, old->slot_days != now->slot_days},
        {"permanent", "every", old->round_days != now->round_days},
        {"model", NULL, old->model != now->model},
        {"relay", NULL,
         (old->flags & ~now->flags) != 0 ||
             (shuffled && old->flags != now->flags)},
        {number.key, number.sub, number.key != NULL},
        {"collector_key", NULL, shuffled && change_collector(old, now)},
        {"shufflers", NULL, shuffled && change_statements(old, now)},
        {"epsilon", NULL, old->nano_central != now->nano_central},
    };

    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++)
        if (rules[k].differs) {
            change_complain(t, change_at(i, rules[k].key, rules[k].sub),
                            strcmp(rules[k].key, "end") == 0 && !shuffled
                                ? "has become later"
                                : "has changed",
                            old);
            return false;
        }
    return true;
}

/* The documents in force and to come, opened. */
struct change {
    const hsy_document *from;
    hsy_document to;
};

/* Nothing has changed in the task itself, but its terms are others. */
static void change_terms(hsy_tasks *t, size_t i, const struct change *c,
                         uint32_t k, const hsy_task *old)
{
    uint8_t was[HSY_DIGEST], is[HSY_DIGEST];

    if (t->tasks[i].model != HSY_MODEL_SHUFFLED)
        return;
    hsy_document_terms(c->from, was, k);
    hsy_document_terms(&c->to, is, (uint32_t)i);
    if (memcmp(was, is, HSY_DIGEST) != 0)
        change_complain(t, change_at(i, "source", NULL),
                        "another task on this source has changed, come or gone",
                        old);
}

/* Task i against task k of the document in force. */
static void change_task(hsy_tasks *t, size_t i, const struct change *c,
                        uint32_t k, const hsy_task *old)
{
    const hsy_task *now = &t->tasks[i];

    if (strcmp(old->source, now->source) != 0)
        yaml_wrong(&t->notes, change_at(i, "source", NULL),
                   "cannot change: '%s' is about '%s'; give the new task its "
                   "own id",
                   now->id, old->source);
    else if (now->release < old->release)
        yaml_wrong(&t->notes, change_at(i, "release", NULL),
                   "release %" PRIu32 " is in force: it must not decrease",
                   old->release);
    else if (now->release == old->release && change_within(t, i, old))
        change_terms(t, i, c, k, old);
}

static hsy_status change_all(hsy_tasks *t, const hsy_document *from,
                             hsy_error *err)
{
    struct change c = {.from = from};
    uint8_t *bytes = NULL;
    size_t len = 0;
    hsy_task old;
    hsy_status st = tasks_encode(&bytes, &len, t, &t->head, err);

    if (st == HSY_OK)
        st = hsy_document_open(&c.to, bytes, len, err);
    if (st == HSY_OK)
        change_versions(t, from);
    for (uint32_t k = 0; st == HSY_OK && k < from->tasks; k++) {
        hsy_document_task(from, &old, k);
        for (size_t i = 0; i < t->ntasks; i++)
            if (strcmp(old.id, t->tasks[i].id) == 0)
                change_task(t, i, &c, k, &old);
    }
    free(bytes);
    return st;
}

hsy_status hsy_tasks_change(hsy_tasks *t, const hsy_document *from,
                            hsy_error *err)
{
    /* Of a file that is not sound nothing is known. */
    hsy_status st = t->notes.wrong ? HSY_OK : change_all(t, from, err);

    if (st != HSY_OK)
        return st;
    if (t->notes.nomem)
        return host_nomem(err);
    if (t->notes.wrong)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "this may not change");
    return HSY_OK;
}
