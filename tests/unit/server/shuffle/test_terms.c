/*
 * test_terms.c - of two documents that differ in anything but texts and
 * min_reports, a shuffler opens envelopes made under its own only.
 *
 * Every member of hsy_task is changed, in the task itself and in another one on
 * its source. The members are read from the header, so that a new one needs a
 * row here.
 */
#include "attack/zoo/zoo_terms.h"
#include "rig/example_shuffled.h"
#include "rig/example_tasks.h"
#include "server/shuffle/hops.h"
#include "tap.h"

#include <ctype.h>
#include <stdio.h>

#define TASKS 3u    /* the hop's, one on its source, one on another */
#define SHUFFLED 2u /* at most: the first two, by different hops */
#define REPORT 4u

static struct {
    struct hops_keys hop;
    uint8_t secret[HSY_SIGN_SECRET]; /* that the shuffler signs with */
    uint8_t collector[SEAL_KEY];
} keys;

struct scene {
    struct example_tasks tasks;
    struct example_statements said[SHUFFLED];
    size_t n;
    uint32_t at;      /* place of the hop's task in the document, 0 or 1 */
    uint32_t changed; /* number of the task that a row changes, 0 or 1 */
    uint8_t *bytes;   /* owned */
    hsy_document doc;
};

static void scene_sign(struct scene *s)
{
    for (uint32_t k = 0; k < SHUFFLED; k++) {
        const hsy_task *t = &s->tasks.task[k];

        for (uint32_t i = 0; i < t->shufflers; i++) {
            uint8_t *wire = s->said[k].wire[i];
            hsy_statement said =
                example_statement(t, i + 1, t->shufflers, t->start);

            if (k == 0 && i == 0) {
                memcpy(said.sign_key, keys.hop.sign, HSY_SIGN_KEY);
                memcpy(said.seal_key, keys.hop.seal[0].pub, HSY_SEAL_KEY);
            }
            hsy_statement_encode(wire, &said, NULL);
            hsy_sign(wire + HSY_STATEMENT_SIGNED, wire, HSY_STATEMENT_SIGNED,
                     keys.secret);
        }
    }
}

/* Tasks with fresh coins, or with permanent answers. The second is shuffled if
 * it is the one to be changed, so that all of its members can be. */
static void scene_tasks(struct scene *s, bool kept, uint32_t changed)
{
    const hsy_spec values = {.size = sizeof values,
                             .mechanism = "grr",
                             .kind = HSY_KIND_VALUES,
                             .d = 3,
                             .labels = example_browsers,
                             .labels_len = sizeof example_browsers - 1,
                             .nano_epsilon = HSY_NANO};
    const hsy_spec number = {.size = sizeof number,
                             .mechanism = "onebit",
                             .kind = HSY_KIND_NUMBER,
                             .hi = 1440,
                             .nano_epsilon = HSY_NANO};
    static const char *const ids[SHUFFLED] = {"veiled", "beside"};
    struct example_tasks *e = &s->tasks;

    for (uint32_t k = 0; k < SHUFFLED; k++) {
        hsy_task *t = &e->task[k];

        example_task(e, k, ids[k], "a", "Which?", kept ? number : values,
                     kept ? 2 * (uint64_t)HSY_NANO : 0);
        t->slot_days = 4;
        t->round_days = kept ? 2 : 0;
        t->grain = kept ? 1440 : 0;
        t->answers = kept ? 1 : 2;
        t->delay_seconds = 3600;
        if (k > changed)
            continue;
        example_shuffle(t, &s->said[k], 2, t->start);
        memcpy(s->said[k].collector_key, keys.collector, SEAL_KEY);
    }
    example_task(e, 2, "apart", "b", "Else?", number, 0);
    s->n = TASKS;
    s->at = 0;
    s->changed = changed;
    scene_sign(s);
}

static bool scene_publish(struct scene *s)
{
    hsy_task listed[TASKS];
    size_t len = 0;

    memcpy(listed, s->tasks.task, sizeof listed);
    listed[0] = s->tasks.task[s->at];
    listed[s->at] = s->tasks.task[0];
    s->bytes = example_document(listed, s->n, 1, &len);
    return s->bytes != NULL &&
           hsy_document_open(&s->doc, s->bytes, len, NULL) == HSY_OK;
}

/* ---- What is changed ----------------------------------------------------- */

/* Another scheme of the same kind, by a larger epsilon. */
static void another_epsilon(uint8_t *wire, bool kept, uint64_t nano)
{
    static struct example_tasks e;
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = kept ? "onebit" : "grr",
                     .kind = kept ? HSY_KIND_NUMBER : HSY_KIND_VALUES,
                     .d = kept ? 0 : 3,
                     .hi = kept ? 1440 : 0,
                     .labels = kept ? NULL : example_browsers,
                     .labels_len = kept ? 0 : sizeof example_browsers - 1,
                     .nano_epsilon = nano};

    example_task(&e, 0, "x", "x", "?", spec, 0);
    memcpy(wire, e.scheme[0], HSY_SCHEME_WIRE);
}

static void other_labels(struct scene *s)
{
    static const uint8_t labels[] = "\7\0\0\0firefox"
                                    "\6\0\0\0chrome"
                                    "\5\0\0\0opera";
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = 3,
                           .labels = labels,
                           .labels_len = sizeof labels - 1,
                           .nano_epsilon = HSY_NANO};
    static struct example_tasks e;

    example_task(&e, 0, "x", "x", "?", spec, 0);
    memcpy(s->tasks.scheme[s->changed], e.scheme[0], HSY_SCHEME_WIRE);
    s->tasks.task[s->changed].labels = labels;
    s->tasks.task[s->changed].labels_len = sizeof labels - 1;
}

#define ROWS                                                                   \
    ROW(id, 0, t->id[5] = 's')                                                 \
    ROW(release, 0, t->release = 2)                                            \
    ROW(source, 0, t->source[0] = 'c')                                         \
    ROW(question, 0, t->question = "Whose?")                                   \
    ROW(question_len, 0, t->question_len--)                                    \
    ROW(start, 0, t->start++)                                                  \
    ROW(end, 0, t->end++)                                                      \
    ROW(slot_days, 0, t->slot_days = 2)                                        \
    ROW(round_days, 1, t->round_days = 1)                                      \
    ROW(max_changes, 1, t->max_changes = 2)                                    \
    ROW(answers, 0, t->answers = 3)                                            \
    ROW(sends, 0, t->sends = 2)                                                \
    ROW(sample, 0, t->sample.den = (uint64_t)1 << 31)                          \
    ROW(delay_seconds, 0, t->delay_seconds++)                                  \
    ROW(grace_days, 0, t->grace_days++)                                        \
    ROW(min_reports, 0, t->min_reports++)                                      \
    ROW(other, 0, t->other = 2)                                                \
    ROW(grain, 1, t->grain = 720)                                              \
    ROW(scheme, 0,                                                             \
        another_epsilon(s->tasks.scheme[s->changed], false, HSY_NANO + 1))     \
    ROW(permanent, 1,                                                          \
        another_epsilon(s->tasks.permanent[s->changed], true,                  \
                        3 * (uint64_t)HSY_NANO))                               \
    ROW(labels, 0, other_labels(s))                                            \
    ROW(labels_len, 0, other_labels(s))                                        \
    ROW(model, 0, *t = local(t))                                               \
    ROW(flags, 0, t->flags = 0)                                                \
    ROW(shufflers, 0, t->shufflers = 3)                                        \
    ROW(min_batch, 0, t->min_batch--)                                          \
    ROW(max_wait, 0, t->max_wait++)                                            \
    ROW(close_after_seconds, 0, t->close_after_seconds++)                      \
    ROW(assume_honest, 0, t->assume_honest.num = 10)                           \
    ROW(delta, 0, t->delta.den++)                                              \
    ROW(nano_central, 0, t->nano_central++)                                    \
    ROW(collector_key, 0, s->said[s->changed].collector_key[0] ^= 1)

static hsy_task local(const hsy_task *t)
{
    hsy_task l = *t;

    l.model = HSY_MODEL_LOCAL;
    l.flags = l.shufflers = l.min_batch = l.max_wait = 0;
    l.close_after_seconds = 0;
    l.assume_honest = l.delta = (hsy_ratio){0, 0};
    l.nano_central = 0;
    l.statements = l.collector_key = NULL;
    return l;
}

#define ROW(member, kept, statement)                                           \
    static void change_##member(struct scene *s)                               \
    {                                                                          \
        hsy_task *t = &s->tasks.task[s->changed];                              \
                                                                               \
        (void)t;                                                               \
        statement;                                                             \
        scene_sign(s);                                                         \
    }
ROWS
#undef ROW

    /* A day, a name and a signature of a statement, which scene_sign would
       renew. */
    static void
    change_statements(struct scene *s)
{
    uint8_t *wire = s->said[s->changed].wire[0];
    hsy_statement said;

    hsy_statement_decode(&said, wire, NULL);
    said.until++;
    hsy_statement_encode(wire, &said, NULL);
    hsy_sign(wire + HSY_STATEMENT_SIGNED, wire, HSY_STATEMENT_SIGNED,
             keys.secret);
}

/* ---- The other tasks of the document ------------------------------------- */

static void beside_gone(struct scene *s)
{
    s->tasks.task[1] = s->tasks.task[2];
    s->n = 2;
}

static void beside_more(struct scene *s)
{
    memcpy(s->tasks.task[2].source, "a", 2);
}

static void beside_first(struct scene *s)
{
    s->at = 1;
}

static void apart_sample(struct scene *s)
{
    s->tasks.task[2].sample.den = 2;
}

struct row {
    const char *name;
    void (*change)(struct scene *s);
    bool kept, opens;
};

static const struct row rows[] = {
#define ROW(member, kept, statement) {#member, change_##member, kept, false},
    ROWS
#undef ROW
    {"statements", change_statements, false, false},
};

static bool only_words(const struct row *r)
{
    return strncmp(r->name, "question", 8) == 0 ||
           strcmp(r->name, "min_reports") == 0;
}

static const struct row others[] = {
    {"nothing changed", NULL, false, true},
    {"a task on its source less", beside_gone, false, false},
    {"a task on its source more", beside_more, false, false},
    {"a task on its source listed before it", beside_first, false, false},
    {"another sample of a task on another source", apart_sample, false, true},
};

/* How devices and hops compute terms. */
typedef void terms_way(const hsy_document *doc, uint8_t terms[HSY_DIGEST],
                       uint32_t i);

/* ---- The hop ------------------------------------------------------------- */

/* An envelope of the first task as a device makes it under this document. */
static bool device_seals(uint8_t *out, size_t len, const struct scene *s,
                         const uint8_t digest[HSY_DIGEST], const uint8_t id[16],
                         terms_way *way)
{
    const hsy_task *t = &s->tasks.task[0];
    uint8_t pubs[SEAL_LAYERS_MAX][SEAL_KEY], terms[HSY_DIGEST];
    const struct seal_place at = {t->id,           t->release, digest,
                                  EXAMPLE_DAY + 5, id,         terms};
    static const uint8_t seed[SEAL_SEED], report[REPORT];
    hsy_statement said;

    for (uint32_t i = 0; i < 2; i++) {
        hsy_statement_decode(&said, s->said[0].wire[i], NULL);
        memcpy(pubs[i], said.seal_key, SEAL_KEY);
    }
    memcpy(pubs[2], s->said[0].collector_key, SEAL_KEY);
    way(&s->doc, terms, s->at);
    return len == seal_onion_size(3, REPORT) &&
           seal_onion(out, (const uint8_t(*)[SEAL_KEY])pubs, 3, &at, seed,
                      SEAL_REPORT, report, REPORT) == HSY_OK;
}

/* Whether the first shuffler, which has `own`, opens what was made under
 * `theirs`. */
static bool opens(const struct scene *own, const struct scene *theirs,
                  terms_way *way)
{
    static const uint8_t id[16] = {1};
    uint8_t envelope[3 * SEAL_LAYER + 1 + REPORT], out[sizeof envelope];
    struct roster *none = roster_new(), *roster = NULL;
    struct mixer_task tasks[TASKS];
    bool opened, late;

    if (roster_extend(&roster, none, &own->doc, NULL) != HSY_OK ||
        hops_mixer_tasks(tasks, roster, &keys.hop) != 1) {
        ok(false, "the shuffler has the task");
        return true;
    }
    tasks[0].length = sizeof envelope;
    if (way != hsy_document_terms)
        way(&own->doc, tasks[0].terms, own->at);
    opened = device_seals(envelope, sizeof envelope, theirs, tasks[0].scheme,
                          id, way) &&
             hops_peel(&keys.hop, out, &late, &tasks[0], EXAMPLE_DAY + 5, id,
                       envelope) == HSY_OK;
    roster_drop(roster);
    roster_drop(none);
    return opened;
}

/* The shuffler renews its own document only with equal terms. */
static bool renews(const struct scene *own, const struct scene *theirs)
{
    struct roster *none = roster_new(), *roster = NULL, *next = NULL;
    hsy_error err = {0};
    const bool renewed =
        roster_extend(&roster, none, &own->doc, &err) == HSY_OK &&
        roster_extend(&next, roster, &theirs->doc, &err) == HSY_OK;

    roster_drop(next);
    roster_drop(roster);
    roster_drop(none);
    return renewed;
}

/* Makes a row's two documents; `changed` is the task that differs. */
static bool split(struct scene *own, struct scene *theirs, const struct row *r,
                  uint32_t changed)
{
    scene_tasks(own, r->kept, changed);
    scene_tasks(theirs, r->kept, changed);
    own->bytes = theirs->bytes = NULL;
    if (r->change != NULL)
        r->change(theirs);
    return scene_publish(own) && scene_publish(theirs);
}

static void splits(const struct row *r, uint32_t changed, bool opens_both,
                   bool new_name)
{
    const char *of = changed == 0 ? "" : " of another task on its source";
    struct scene own, theirs;

    if (ok(split(&own, &theirs, r, changed), "%s%s: both documents are valid",
           r->name, of)) {
        ok(opens(&own, &own, hsy_document_terms),
           "%s%s: one document, and the envelope opens", r->name, of);
        ok(opens(&own, &theirs, hsy_document_terms) == opens_both,
           "%s%s: under the other document the envelope %s", r->name, of,
           opens_both ? "opens" : "does not open");
        ok(renews(&own, &theirs) == (opens_both || new_name),
           "%s%s: the other document is %s", r->name, of,
           opens_both || new_name ? "loaded" : "refused in the same release");
    }
    free(own.bytes);
    free(theirs.bytes);
}

/* Counts the changes of a task, other than of words, under which a design opens
 * what it should not. */
static size_t opened_by(terms_way *way, uint32_t changed)
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene own, theirs;

        n += split(&own, &theirs, &rows[i], changed) && !only_words(&rows[i]) &&
             opens(&own, &theirs, way);
        free(own.bytes);
        free(theirs.bytes);
    }
    return n;
}

static void wrong_designs(void)
{
    static const struct row sample = {"sample", change_sample, false, false};
    struct scene own, theirs;
    size_t n;

    ok(split(&own, &theirs, &sample, 0) &&
           opens(&own, &theirs, zoo_terms_ignored),
       "terms_ignored is caught: it opens what was made with another sample");
    free(own.bytes);
    free(theirs.bytes);
    ok(opened_by(zoo_terms_narrow, 0) == 0,
       "terms_narrow passes if only the task itself is changed");
    n = opened_by(zoo_terms_narrow, 1);
    ok(n > 0,
       "terms_narrow is caught: it opens what was made under %zu changes of "
       "another task on the source",
       n);
}

/* ---- The header ---------------------------------------------------------- */

static bool has_row(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

/* The name that ends at `end`: of a member before ',', ';' or '['. */
static bool member_has_row(const char *text, size_t end)
{
    char name[64];
    size_t from;

    while (end > 0 && !isalnum((unsigned char)text[end - 1]))
        end--;
    for (from = end; from > 0 && (isalnum((unsigned char)text[from - 1]) ||
                                  text[from - 1] == '_');)
        from--;
    snprintf(name, sizeof name, "%.*s", (int)(end - from), text + from);
    return ok(has_row(name), "hsy_task.%s has a row", name);
}

/* From here to the end of the struct, comments left out. */
static size_t every_member_has_a_row(const char *at)
{
    char text[256];
    size_t used = 0, members = 0;
    bool size = false;

    for (; *at != '}' && used < sizeof text; at++) {
        if (strncmp(at, "/*", 2) == 0)
            at = strstr(at, "*/") + 1;
        else if (*at == '[' || *at == ']')
            size = *at == '[';
        else if (*at == ',' || *at == ';') {
            members += member_has_row(text, used);
            used = 0;
        } else if (!size)
            text[used++] = *at;
    }
    return members;
}

static void header(void)
{
    static char text[1 << 16];
    FILE *f = fopen("include/hearsay/device.h", "r");
    size_t len = f == NULL ? 0 : fread(text, 1, sizeof text - 1, f);
    const char *from;

    if (f != NULL)
        fclose(f);
    text[len] = 0;
    from = strstr(text, "typedef struct hsy_task {");
    ok(from != NULL && every_member_has_a_row(strchr(from, '{') + 1) ==
                           sizeof rows / sizeof *rows,
       "every member of hsy_task is changed");
}

int main(void)
{
    uint8_t ignored[SEAL_KEY];

    hsy_sign_keypair(keys.hop.sign, keys.secret);
    seal_keypair(keys.hop.seal[0].pub, keys.hop.seal[0].secret);
    seal_keypair(keys.collector, ignored);
    keys.hop.nseal = 1;
    header();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i].name;

        splits(&rows[i], 0, only_words(&rows[i]),
               strcmp(name, "id") == 0 || strcmp(name, "release") == 0);
        splits(&rows[i], 1, only_words(&rows[i]), false);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        splits(&others[i], 0, others[i].opens, false);
    wrong_designs();
    return tap_done();
}
