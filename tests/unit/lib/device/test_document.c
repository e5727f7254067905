/* test_document.c - task document v1: one encoding, every field in its range.
 */
#include "lib/bits/bytes.h"
#include "rig/example_tasks.h"
#include "tap.h"

static struct example_tasks good;

static bool same_bytes(const void *a, const void *b, size_t len)
{
    return len == 0 || memcmp(a, b, len) == 0;
}

static bool same_task(const hsy_task *a, const hsy_task *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(a->source, b->source) == 0 &&
           a->release == b->release && a->start == b->start &&
           a->end == b->end && a->slot_days == b->slot_days &&
           a->round_days == b->round_days && a->max_changes == b->max_changes &&
           a->answers == b->answers && a->sends == b->sends &&
           a->sample.num == b->sample.num && a->sample.den == b->sample.den &&
           a->delay_seconds == b->delay_seconds &&
           a->grace_days == b->grace_days && a->min_reports == b->min_reports &&
           a->other == b->other && a->grain == b->grain &&
           a->question_len == b->question_len &&
           same_bytes(a->question, b->question, a->question_len) &&
           a->labels_len == b->labels_len &&
           same_bytes(a->labels, b->labels, a->labels_len) &&
           memcmp(a->scheme, b->scheme, HSY_SCHEME_WIRE) == 0 &&
           (a->permanent == NULL) == (b->permanent == NULL) &&
           (a->permanent == NULL ||
            memcmp(a->permanent, b->permanent, HSY_SCHEME_WIRE) == 0);
}

static void document_comes_back(void)
{
    size_t len, again_len, same = 0;
    uint8_t *bytes = example_document(good.task, EXAMPLE_TASKS, 7, &len);
    uint8_t *again;
    hsy_task tasks[EXAMPLE_TASKS];
    hsy_document doc;

    ok(bytes != NULL && hsy_document_open(&doc, bytes, len, NULL) == HSY_OK,
       "a document of %u tasks opens", EXAMPLE_TASKS);
    ok(doc.version == 7 && doc.issued == EXAMPLE_DAY &&
           doc.expires == EXAMPLE_DAY + 400 && doc.tasks == EXAMPLE_TASKS &&
           doc.bytes == bytes && doc.len == len,
       "its head comes back");
    for (uint32_t i = 0; i < EXAMPLE_TASKS; i++) {
        hsy_document_task(&doc, &tasks[i], i);
        same += same_task(&tasks[i], &good.task[i]);
    }
    ok(same == EXAMPLE_TASKS, "its tasks come back");
    again = example_document(tasks, EXAMPLE_TASKS, 7, &again_len);
    ok(again_len == len && memcmp(again, bytes, len) == 0,
       "decoding and encoding is the identity");
    ok(memcmp(bytes, "HSYD\1\0\0\0\7\0\0\0\0\0\0\0", 16) == 0 &&
           bytes_get32(bytes + 16) == EXAMPLE_DAY &&
           bytes_get32(bytes + 20) == EXAMPLE_DAY + 400 &&
           bytes_get32(bytes + 24) == EXAMPLE_TASKS &&
           bytes_get32(bytes + 28) == len,
       "its fields stand where docs/formats.md says");
    free(again);
    free(bytes);
}

static void document_of_nothing(void)
{
    size_t len = 0;
    uint8_t *bytes = example_document(good.task, 0, 1, &len);
    hsy_document doc;

    ok(len == 64 + HSY_SIGNATURE &&
           hsy_document_open(&doc, bytes, len, NULL) == HSY_OK &&
           doc.tasks == 0,
       "a document may end all tasks");
    free(bytes);
}

/* ---- Every field --------------------------------------------------------- */

/* One change to a task of the examples, and the field it must be refused for;
 * NULL: it is allowed. */
struct change {
    const char *what;
    size_t task;
    void (*apply)(hsy_task *t);
    const char *field;
};

#define CHANGE(name, statement)                                                \
    static void name(hsy_task *t)                                              \
    {                                                                          \
        statement;                                                             \
    }

CHANGE(no_release, t->release = 0)
CHANGE(last_release, t->release = UINT32_MAX)
CHANGE(no_id, t->id[0] = '\0')
CHANGE(capital_id, t->id[0] = 'C')
CHANGE(longest_id, memset(t->id, 'x', HSY_TASK_ID))
CHANGE(longer_id, memset(t->id, 'x', HSY_TASK_ID + 1))
CHANGE(no_source, t->source[0] = '\0')
CHANGE(spaced_source, t->source[1] = ' ')
CHANGE(longest_source, memset(t->source, 's', HSY_SOURCE_MAX))
CHANGE(longer_source, memset(t->source, 's', HSY_SOURCE_MAX + 1))
CHANGE(no_question, t->question_len = 0)
CHANGE(two_lines, t->question = "a\nb"; t->question_len = 3)
CHANGE(escape, t->question = "a\033b"; t->question_len = 3)
CHANGE(delete, t->question = "a\177b"; t->question_len = 3)
CHANGE(c1, t->question = "a\xc2\x9f"; t->question_len = 3)
CHANGE(bidi, t->question = "a\xe2\x80\xae"; t->question_len = 4)
CHANGE(separator, t->question = "a\xe2\x80\xa8"; t->question_len = 4)
CHANGE(latin1, t->question = "gr\xfc\xdf"; t->question_len = 4)
CHANGE(half_character, t->question = "a\xc3"; t->question_len = 2)
CHANGE(overlong, t->question = "\xc0\x80"; t->question_len = 2)
CHANGE(surrogate, t->question = "\xed\xa0\x80"; t->question_len = 3)
CHANGE(emoji, t->question = "\xf0\x9f\xa4\xab"; t->question_len = 4)
CHANGE(no_days, t->end = t->start)
CHANGE(backward, t->end = t->start - 1)
CHANGE(last_day, t->end = 2932897; t->round_days = 0)
CHANGE(past_last_day, t->end = 2932898)
CHANGE(long_slot, t->slot_days = 365)
CHANGE(uneven_rounds, t->round_days = 5)
CHANGE(one_round, t->round_days = 28)
CHANGE(all_rounds, t->round_days = 28; t->slot_days = 28; t->permanent = NULL;
       t->max_changes = 1)
CHANGE(longer_round, t->round_days = 56)
CHANGE(rounds_of_task, t->round_days = 10)
CHANGE(whole_delay, t->delay_seconds = 86400)
CHANGE(almost_delay, t->delay_seconds = 86399)
CHANGE(no_changes, t->max_changes = 0)
CHANGE(two_changes, t->max_changes = 2)
CHANGE(most_changes, t->max_changes = HSY_CHANGES_MAX)
CHANGE(more_changes, t->max_changes = HSY_CHANGES_MAX + 1)
CHANGE(no_answers, t->answers = 0)
CHANGE(most_answers, t->answers = HSY_ANSWERS_MAX)
CHANGE(more_answers, t->answers = HSY_ANSWERS_MAX + 1)
CHANGE(two_answers, t->answers = 2)
CHANGE(no_sends, t->sends = 0)
CHANGE(more_sends, t->sends = 6)
CHANGE(no_sample, t->sample.num = 0)
CHANGE(over_sample, t->sample = ((hsy_ratio){5, 4}))
CHANGE(no_denominator, t->sample = ((hsy_ratio){0, 0}))
CHANGE(fine_sample, t->sample = ((hsy_ratio){1, (uint64_t)1 << 31}))
CHANGE(finer_sample, t->sample = ((hsy_ratio){1, ((uint64_t)1 << 31) + 1}))
CHANGE(long_grace, t->grace_days = 3651)
CHANGE(other_past, t->other = 3)
CHANGE(other_first, t->other = 0)
CHANGE(grain_alone, t->grain = 1)
CHANGE(no_permanent, t->permanent = NULL)
CHANGE(strangers, t->permanent = good.permanent[3])
CHANGE(turned, const uint8_t *swap = t->scheme; t->scheme = t->permanent;
       t->permanent = swap)
CHANGE(other_labels, t->labels_len--)

static const struct change changes[] = {
    {"release 0", 0, no_release, "release"},
    {"the last release", 0, last_release, NULL},
    {"no id", 0, no_id, "id"},
    {"an id with a capital", 0, capital_id, "id"},
    {"an id of 32 letters", 0, longest_id, NULL},
    {"an id without an end", 0, longer_id, "id"},
    {"no source", 0, no_source, "source"},
    {"a source with a space", 0, spaced_source, "source"},
    {"a source of 64 letters", 0, longest_source, NULL},
    {"a source without an end", 0, longer_source, "source"},
    {"no question", 0, no_question, "question"},
    {"a question of two lines", 0, two_lines, "question"},
    {"an escape", 0, escape, "question"},
    {"a delete", 0, delete, "question"},
    {"a C1 control", 0, c1, "question"},
    {"an override of direction", 0, bidi, "question"},
    {"a line separator", 0, separator, "question"},
    {"Latin-1", 0, latin1, "question"},
    {"half a character", 0, half_character, "question"},
    {"an overlong NUL", 0, overlong, "question"},
    {"a surrogate", 0, surrogate, "question"},
    {"an emoji", 0, emoji, NULL},
    {"a task of no days", 0, no_days, "end"},
    {"a task that ends before it starts", 0, backward, "end"},
    {"the last day of 9999", 0, last_day, NULL},
    {"the first of 10000", 0, past_last_day, "end"},
    {"a slot longer than the task", 1, long_slot, "slot_days"},
    {"5 days in 28", 2, uneven_rounds, "round_days"},
    {"28 days in 28, with a permanent answer", 2, one_round, "permanent"},
    {"28 days in 28, fresh", 2, all_rounds, NULL},
    {"56 days in 28", 2, longer_round, "round_days"},
    {"10 days in a task of 364", 3, rounds_of_task, "round_days"},
    {"a delay of a whole round", 1, whole_delay, "delay"},
    {"a second less", 1, almost_delay, NULL},
    {"no answer at all", 2, no_changes, "max_changes"},
    {"two fresh answers", 1, two_changes, "max_changes"},
    {"16 permanent answers", 2, most_changes, NULL},
    {"17 permanent answers", 2, more_changes, "max_changes"},
    {"no answers", 1, no_answers, "answers"},
    {"64 answers a round", 1, most_answers, NULL},
    {"65 answers a round", 1, more_answers, "answers"},
    {"2 answers a round from one permanent answer", 2, two_answers, "answers"},
    {"no uploads", 1, no_sends, "sends"},
    {"6 uploads of 5 answers", 1, more_sends, "sends"},
    {"a sample of nobody", 1, no_sample, "sample"},
    {"a sample of 5 in 4", 1, over_sample, "sample"},
    {"a sample of 0 in 0", 1, no_denominator, "sample"},
    {"a sample of 1 in 2^31", 1, fine_sample, NULL},
    {"a sample of 1 in 2^31 + 1", 1, finer_sample, "sample"},
    {"a grace of more than 3650 days", 1, long_grace, "grace"},
    {"other past the list", 1, other_past, "other"},
    {"other at its start", 1, other_first, NULL},
    {"other without a list", 0, other_first, "other"},
    {"a grain without a permanent answer", 1, grain_alone, "grain"},
    {"rounds without a permanent answer", 2, no_permanent, "permanent"},
    {"the permanent scheme of another task", 2, strangers, "permanent"},
    {"a permanent answer that hides more than a report", 2, turned,
     "permanent"},
    {"labels of another length", 1, other_labels, "scheme"},
};

static void fields_are_checked(void)
{
    hsy_document doc = {.version = 1, .expires = 1};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const struct change *c = &changes[i];
        struct example_tasks e = good;
        hsy_error err = {0};
        size_t len = 99;
        hsy_status st;

        c->apply(&e.task[c->task]);
        st = hsy_document_encode(&doc, NULL, 0, &len, e.task, EXAMPLE_TASKS,
                                 &err);
        if (c->field == NULL)
            ok(st == HSY_OK, "%s: allowed", c->what);
        else
            ok(st == HSY_E_RANGE && err.at == c->task + 1 && len == 99 &&
                   strcmp(hsy_field_name(err.field), c->field) == 0,
               "%s: refused for its %s", c->what, c->field);
    }
}

static bool head_refused(hsy_document doc, size_t n, const char *field)
{
    hsy_error err = {0};
    size_t len;

    return hsy_document_encode(&doc, NULL, 0, &len, good.task, n, &err) ==
               HSY_E_RANGE &&
           strcmp(hsy_field_name(err.field), field) == 0;
}

static void head_is_checked(void)
{
    struct example_tasks e = good;
    hsy_document doc = {.version = 1, .issued = 5, .expires = 6};
    hsy_error err = {0};
    uint8_t small[100] = {0};
    size_t len;

    ok(head_refused((hsy_document){.expires = 6}, 1, "version"),
       "version 0 is refused");
    ok(head_refused((hsy_document){.version = 1, .issued = 6, .expires = 6}, 1,
                    "expires"),
       "so is a document that never held");
    ok(head_refused((hsy_document){.version = 1, .expires = 2932898}, 1,
                    "expires"),
       "and one for the year 10000");
    ok(head_refused(doc, HSY_TASKS_MAX + 1, "tasks"),
       "and one of 257 tasks, which are not looked at");
    memcpy(e.task[3].id, e.task[1].id, sizeof e.task[1].id);
    ok(hsy_document_encode(&doc, NULL, 0, &len, e.task, EXAMPLE_TASKS, &err) ==
               HSY_E_RANGE &&
           err.at == 4 && err.field == HSY_FIELD_ID,
       "and two tasks of one id");
    ok(hsy_document_encode(&doc, small, sizeof small, &len, good.task, 1,
                           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_ROOM && small[0] == 0,
       "what does not fit is not written");
}

/* ---- Bytes from outside -------------------------------------------------- */

/* The document with 4 bytes changed. */
static bool refused_with(size_t at, uint32_t value, const char *field)
{
    size_t len;
    uint8_t *bytes = example_document(good.task, EXAMPLE_TASKS, 1, &len);
    hsy_document doc = {.version = 99};
    hsy_error err = {0};
    bool refused;

    bytes_put32(bytes + at, value);
    refused = hsy_document_open(&doc, bytes, len, &err) == HSY_E_FORMAT &&
              strcmp(hsy_field_name(err.field), field) == 0 &&
              doc.version == 99;
    free(bytes);
    return refused;
}

static void open_is_strict(void)
{
    ok(refused_with(0, 0, "magic"), "a foreign magic is refused");
    ok(refused_with(4, 0, "format") && refused_with(4, 4, "format"),
       "formats 0 and 4 are refused");
    ok(refused_with(24, EXAMPLE_TASKS - 1, "length") &&
           refused_with(24, EXAMPLE_TASKS + 1, "length") &&
           refused_with(24, UINT32_MAX, "tasks"),
       "a wrong number of tasks is refused");
    ok(refused_with(28, 1, "length"), "a wrong length is refused");
    ok(refused_with(64, 0, "length") && refused_with(64, UINT32_MAX, "length"),
       "so is a wrong length of a task");
    ok(refused_with(64 + 52, UINT32_MAX, "length") &&
           refused_with(64 + 56, UINT32_MAX, "length"),
       "and of its parts");
    ok(refused_with(64 + 60, 2, "length"), "and a flag beyond 1");
    ok(refused_with(64 + 116, 1, "id"), "letters after a name's end");
    ok(refused_with(64 + 184, 1, "id"), "and reserved bytes");
    ok(refused_with(64 + 192, 0xffff, "scheme"), "and an unknown mechanism");
    ok(refused_with(64 + 196, HSY_KIND_TUPLE, "scheme"), "and a tuple");
}

static void every_length_is_refused(void)
{
    size_t len, opened = 0;
    uint8_t *bytes = example_document(good.task, EXAMPLE_TASKS, 1, &len);
    hsy_document doc;

    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *exact = malloc(cut + (cut == 0));

        memcpy(exact, bytes, cut);
        opened += hsy_document_open(&doc, exact, cut, NULL) == HSY_OK;
        if (cut >= 32) { /* and with its length made right */
            bytes_put32(exact + 28, (uint32_t)cut);
            opened += hsy_document_open(&doc, exact, cut, NULL) == HSY_OK;
        }
        free(exact);
    }
    ok(opened == 0, "none of %zu shorter documents opens", len);
    free(bytes);
}

/* Whatever opens after one byte has changed encodes to the same bytes. */
static void no_second_encoding(void)
{
    size_t len, again_len, opened = 0, other = 0;
    uint8_t *bytes = example_document(good.task, 2, 1, &len);
    hsy_task tasks[2];
    hsy_document doc;

    for (size_t at = 0; at < len - HSY_SIGNATURE; at++) {
        bytes[at] ^= 0x41;
        if (hsy_document_open(&doc, bytes, len, NULL) == HSY_OK) {
            uint8_t *again = malloc(len);

            opened++;
            hsy_document_task(&doc, &tasks[0], 0);
            hsy_document_task(&doc, &tasks[1], 1);
            other += hsy_document_encode(&doc, again, len, &again_len, tasks,
                                         doc.tasks, NULL) != HSY_OK ||
                     again_len != len - HSY_SIGNATURE ||
                     memcmp(again, bytes, again_len) != 0;
            free(again);
        }
        bytes[at] ^= 0x41;
    }
    ok(opened > 0 && other == 0,
       "%zu documents with a byte changed still open, each with one encoding",
       opened);
    free(bytes);
}

/* tests/golden/document.signed, written by tests/golden/make_golden.c. */
static void golden_document(void)
{
    FILE *f = fopen("tests/golden/document.signed", "rb");
    static uint8_t bytes[1 << 16];
    size_t len = f == NULL ? 0 : fread(bytes, 1, sizeof bytes, f), want;
    uint8_t *now = example_document(good.task, EXAMPLE_TASKS, 3, &want);
    hsy_document doc;

    if (f != NULL)
        fclose(f);
    ok(len == want && memcmp(bytes, now, len - HSY_SIGNATURE) == 0 &&
           hsy_document_open(&doc, bytes, len, NULL) == HSY_OK,
       "document.signed is read and written again byte for byte");
    free(now);
}

int main(void)
{
    if (!ok(example_tasks_make(&good), "the examples resolve"))
        return tap_done();
    document_comes_back();
    document_of_nothing();
    fields_are_checked();
    head_is_checked();
    open_is_strict();
    every_length_is_refused();
    no_second_encoding();
    golden_document();
    return tap_done();
}
