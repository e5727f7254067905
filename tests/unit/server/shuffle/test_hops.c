/* Tests of src/server/shuffle/hops.c: what a chain's statements make of the
 * tasks of its shufflers. */
#include "server/shuffle/hops.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define HOPS_N 3u
#define HOPS_DAY 20600u

static struct {
    uint8_t sign[HOPS_N][HSY_SIGN_KEY], secret[HOPS_N][HSY_SIGN_SECRET];
    uint8_t statements[HOPS_N][HSY_STATEMENT_WIRE];
} all;

static void statement(uint32_t place, uint32_t min_batch)
{
    hsy_statement s = {.task = "veiled",
                       .release = 1,
                       .place = place,
                       .of = HOPS_N,
                       .min_batch = min_batch,
                       .max_wait = 2,
                       .close_after_seconds = 21600,
                       .from = HOPS_DAY,
                       .until = HOPS_DAY + 100,
                       .operated_by = "Example"};
    uint8_t *wire = all.statements[place - 1];

    memcpy(s.sign_key, all.sign[place - 1], sizeof s.sign_key);
    memset(s.seal_key, (int)place, sizeof s.seal_key);
    if (hsy_statement_encode(wire, &s, NULL) != HSY_OK ||
        hsy_sign(wire + HSY_STATEMENT_SIGNED, wire, HSY_STATEMENT_SIGNED,
                 all.secret[place - 1]) != HSY_OK)
        ok(false, "a statement is made");
}

/* The roster of a document with these statements; NULL: there is none. */
static struct roster *rostered(void)
{
    const hsy_document head = {
        .version = 1, .issued = HOPS_DAY, .expires = HOPS_DAY + 90};
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = 8,
                           .nano_epsilon = HSY_NANO};
    const uint8_t collector[HSY_SEAL_KEY] = {33};
    uint8_t wire[HSY_SCHEME_WIRE], *bytes = NULL;
    const hsy_task task = {.id = "veiled",
                           .release = 1,
                           .source = "rig",
                           .question = "Which?",
                           .question_len = 6,
                           .start = HOPS_DAY,
                           .end = HOPS_DAY + 100,
                           .slot_days = 1,
                           .max_changes = 1,
                           .answers = 1,
                           .sends = 1,
                           .sample = {1, 1},
                           .other = HSY_TASK_CLOSED,
                           .scheme = wire,
                           .model = HSY_MODEL_SHUFFLED,
                           .flags = HSY_TASK_RELAY,
                           .shufflers = HOPS_N,
                           .min_batch = 5,
                           .max_wait = 2,
                           .close_after_seconds = 21600,
                           .assume_honest = {9, 10},
                           .delta = {1, 100000000},
                           .nano_central = HSY_NANO,
                           .statements = all.statements[0],
                           .collector_key = collector};
    struct roster *none = roster_new(), *r = NULL;
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    hsy_document doc;
    hsy_error err = {0};
    size_t len = 0;

    hsy_scheme_init(s, &spec, NULL);
    hsy_scheme_encode(s, wire);
    free(s);
    if (hsy_document_encode(&head, NULL, 0, &len, &task, 1, &err) == HSY_OK) {
        bytes = calloc(1, len + HSY_SIGNATURE);
        hsy_document_encode(&head, bytes, len, &len, &task, 1, &err);
    }
    if (bytes == NULL ||
        hsy_document_open(&doc, bytes, len + HSY_SIGNATURE, &err) != HSY_OK ||
        roster_extend(&r, none, &doc, &err) != HSY_OK)
        ok(false, "there is a roster: %s", err.msg);
    roster_drop(none);
    free(bytes);
    return r;
}

/* What the shuffler of a place holds to; 0: it has no task. */
static uint64_t least_of(const struct roster *r, uint32_t place)
{
    struct hops_keys keys = {.nseal = 0};
    struct mixer_task t[1];

    memcpy(keys.sign, all.sign[place - 1], sizeof keys.sign);
    return hops_mixer_tasks(t, r, &keys) == 1 ? t[0].min_batch : 0;
}

/* One that passes on fewer than a later one takes would have them refused, and
 * they could neither be counted nor erased. */
static void batches_are_large_enough_for_those_behind(void)
{
    struct roster *r;

    statement(1, 6);
    statement(2, 50);
    statement(3, 8);
    r = rostered();
    is_u64(least_of(r, 1), 50, "the first holds to what the second demands");
    is_u64(least_of(r, 2), 50, "the second to its own");
    is_u64(least_of(r, 3), 8, "the third need not care for those before it");
    roster_drop(r);
}

int main(void)
{
    for (size_t i = 0; i < HOPS_N; i++)
        if (hsy_sign_keypair(all.sign[i], all.secret[i]) != HSY_OK)
            return 1;
    batches_are_large_enough_for_those_behind();
    return tap_done();
}
