/* test_fleet_sealed.c - devices of a shuffled task: what they hand on is sealed
 * for every shuffler and the collector, null uploads like reports; and without
 * a relay they hand on nothing of it. */
#include "sim/fleet/fleet.h"

#include "host/seal/seal.h"
#include "rig/example_shuffled.h"
#include "rig/example_tasks.h"
#include "tap.h"

#define N 30u
#define DAYS 4u
#define NOON 43200u
#define LAYERS 3u
#define EPS ((uint64_t)HSY_NANO)

/* The document of a shuffled task, half of whose devices are asked each day,
 * and of one in clear. Of twins both are in clear, one release of one source
 * under two names, and only the first demands the relay. */
struct scene {
    struct example_tasks tasks;
    struct example_statements statements;
    uint8_t secret[LAYERS][SEAL_KEY], pub[LAYERS][SEAL_KEY];
    uint8_t terms[HSY_DIGEST];
    uint8_t *document; /* owned */
    struct fleet_options o;
};

/* Statements with keys that somebody has. Nobody checks who signed them. */
static void scene_keys(struct scene *s)
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        hsy_statement said;

        memset(s->secret[i], (int)i + 1, SEAL_KEY);
        seal_public(s->pub[i], s->secret[i]);
        if (i + 1 == LAYERS)
            break;
        hsy_statement_decode(&said, s->statements.wire[i], NULL);
        memcpy(said.seal_key, s->pub[i], SEAL_KEY);
        hsy_statement_encode(s->statements.wire[i], &said, NULL);
    }
    memcpy(s->statements.collector_key, s->pub[LAYERS - 1], SEAL_KEY);
}

static bool scene_make(struct scene *s, hsy_parties parties, bool twins)
{
    const hsy_spec yes_no = {.size = sizeof yes_no,
                             .mechanism = "rr",
                             .kind = HSY_KIND_YES_NO,
                             .nano_epsilon = 2 * EPS};
    const hsy_document doc = {.version = 1,
                              .issued = EXAMPLE_DAY,
                              .expires = EXAMPLE_DAY + 400,
                              .parties = &parties};
    hsy_document open;
    size_t len = 0;

    *s = (struct scene){.o = {.seed = 3,
                              .devices = N,
                              .now = (uint64_t)EXAMPLE_DAY * 86400 + NOON,
                              .days = DAYS}};
    example_task(&s->tasks, 0, "mixed", "a", "Which?", yes_no, 0);
    example_task(&s->tasks, 1, "plain", twins ? "a" : "b", "Which?", yes_no, 0);
    s->tasks.task[0].slot_days = s->tasks.task[1].slot_days = 1;
    s->tasks.task[0].flags = HSY_TASK_RELAY;
    if (!twins) {
        s->tasks.task[0].sample = (hsy_ratio){1, 2};
        example_shuffle(&s->tasks.task[0], &s->statements, LAYERS - 1,
                        EXAMPLE_DAY);
        scene_keys(s);
    }
    if (hsy_document_encode(&doc, NULL, 0, &len, s->tasks.task, 2, NULL) !=
        HSY_OK)
        return false;
    s->document = calloc(1, len + HSY_SIGNATURE);
    hsy_document_encode(&doc, s->document, len, &len, s->tasks.task, 2, NULL);
    s->o.document = s->document;
    s->o.document_len = len + HSY_SIGNATURE;
    if (hsy_document_open(&open, s->document, s->o.document_len, NULL) !=
        HSY_OK)
        return false;
    hsy_document_terms(&open, s->terms, 0);
    return true;
}

struct handed {
    const struct scene *scene;
    uint64_t reports[2], nulls[2];
    uint64_t strange; /* another kind or length, or it does not open */
    uint64_t wrong;   /* the other sort is inside */
    size_t len;       /* of the first */
};

/* What is inside an envelope: 1, 2, or 0 if it does not open. */
static uint8_t opened(const struct scene *s, const struct fleet_upload *u)
{
    const struct seal_place at = {u->head.task,   u->head.release,
                                  u->head.digest, u->head.epoch,
                                  u->head.id,     s->terms};
    uint8_t text[512], inner[512];
    size_t len = u->len - HSY_UPLOAD_WIRE;

    memcpy(text, u->bytes + HSY_UPLOAD_WIRE, len);
    for (size_t i = 0; i < LAYERS; i++, len -= SEAL_LAYER) {
        if (seal_peel(inner, s->secret[i], s->pub[i], i, LAYERS, &at, text,
                      len) != HSY_OK)
            return 0;
        memcpy(text, inner, len - SEAL_LAYER);
    }
    return text[0];
}

static hsy_status hand(void *ctx, const struct fleet_upload *u, hsy_error *err)
{
    struct handed *h = ctx;
    uint8_t inside;

    (void)err;
    h->reports[u->task] += u->report;
    h->nulls[u->task] += !u->report;
    if (u->task != 0)
        return HSY_OK;
    if (h->len == 0)
        h->len = u->len;
    if (u->head.kind != HSY_UPLOAD_SEALED || u->len != h->len || u->len > 512)
        return HSY_E_RANGE;
    inside = opened(h->scene, u);
    h->strange += inside == 0;
    h->wrong += inside != (u->report ? SEAL_REPORT : SEAL_NULL);
    return HSY_OK;
}

static bool live(struct scene *s, struct handed *h, struct fleet_task tasks[2])
{
    struct fleet *f = NULL;
    hsy_error err = {0};
    size_t n;
    hsy_status st = fleet_open(&f, &s->o, &err);

    *h = (struct handed){.scene = s};
    if (st == HSY_OK)
        st = fleet_hand(f, hand, h, &err);
    if (st != HSY_OK)
        printf("# %d %s\n", (int)st, err.msg != NULL ? err.msg : "");
    else
        memcpy(tasks, fleet_tasks(f, &n), 2 * sizeof *tasks);
    fleet_close(f);
    return st == HSY_OK;
}

static void seals_all_alike(void)
{
    static struct scene s;
    struct fleet_task tasks[2];
    struct handed h;

    ok(scene_make(&s, example_parties(), false) && live(&s, &h, tasks),
       "all are of one kind and one length");
    ok(eq_u64(h.strange, 0) && eq_u64(h.wrong, 0),
       "every layer opens, and inside is what the fleet counts");
    ok(h.reports[0] > 0 && h.nulls[0] > 0 &&
           eq_u64(h.reports[0] + h.nulls[0], N * DAYS),
       "who is not asked sends a null upload");
    is_u64(tasks[0].answered, h.reports[0],
           "truths count with the reports that have them");
    is_u64(h.reports[1], N * DAYS, "a task in clear beside it is as ever");
    free(s.document);
}

static void sends_nothing_without_a_relay(void)
{
    static struct scene s;
    hsy_parties parties = example_parties();
    struct fleet_task tasks[2];
    struct handed h;

    parties.relay_len = 0;
    ok(scene_make(&s, parties, false) && live(&s, &h, tasks),
       "no relay is named");
    ok(eq_u64(h.reports[0] + h.nulls[0], 0) && tasks[0].day == 0 &&
           strstr(tasks[0].why, "relay") != NULL,
       "the task is left out, and why is said");
    is_u64(h.reports[1], N * DAYS, "the other one is not");
    s.o.relay = "http://127.0.0.1:1";
    ok(live(&s, &h, tasks) && eq_u64(h.reports[0] + h.nulls[0], N * DAYS),
       "nor is it with a relay that is asked for");
    free(s.document);
}

/* Another name of the same release has the same answers. */
static void withholds_twins(void)
{
    static struct scene s;
    hsy_parties parties = example_parties();
    struct fleet_task tasks[2];
    struct handed h;

    parties.relay_len = 0;
    ok(scene_make(&s, parties, true) && live(&s, &h, tasks) &&
           eq_u64(h.reports[0] + h.reports[1] + h.nulls[1], 0) &&
           tasks[1].day == 0,
       "nor anything under another name of what demands it");
    free(s.document);
}

int main(void)
{
    seals_all_alike();
    sends_nothing_without_a_relay();
    withholds_twins();
    return tap_done();
}
