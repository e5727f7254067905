/*
 * test_stages.c - the stages of a search through the real client: every order
 * of documents, every batch, several truths.
 *
 * Documents ask stages 1, 2 and 3 of one search, stage 2 with other candidates,
 * stages 1 and 2 at once, stage 1 under another name; and a search whose
 * batches have other sizes. Every sequence of 3 events (HSY_TEST_LONG=1: 4),
 * each a document, an answer, a sending or a restart, is lived by devices of
 * every batch with several truths. The coin of the batch is chosen, all others
 * are those of their context.
 *
 * Checked: whatever is asked, one search gives at most one report and costs
 * epsilon once; a report answers the stage of the batch; and what is sent and
 * charged, and when, is the same for all truths. So a transcript is, apart from
 * what no truth has a part in, one report of one scheme (whose law test_exact
 * holds against e^epsilon): no transcript tells more than epsilon.
 */
#include "rig/device_rig.h"

enum {
    DOCUMENTS = 7,
    EVENT_ANSWER = DOCUMENTS,
    EVENT_SEND,
    EVENT_RESTART,
    EVENTS,
    BATCHES = 3,
    TRUTHS = 2,
    TRACE = 256
};

static const uint64_t truths[TRUTHS] = {0x00, 0x3e};

/* Survivors of stages 2 and 3. */
static const uint8_t few[] = "\1\0\0\0"
                             "0";
static const uint8_t many[] = "\1\0\0\0"
                              "0\1\0\0\0"
                              "c";
static const uint8_t deep[] = "\1\0\0\0"
                              "1";

/* Tasks of the documents; sizes 2 (rising) is another search. */
static const struct question {
    const char *id;
    uint32_t stage, d;
    const uint8_t *labels;
    size_t len;
    uint64_t sizes;
} questions[] = {
    {"words", 1, 0, NULL, 0, 1},
    {"words", 2, 1, few, sizeof few - 1, 1},
    {"words", 2, 2, many, sizeof many - 1, 1},
    {"words", 3, 1, deep, sizeof deep - 1, 1},
    {"two", 2, 2, many, sizeof many - 1, 1},
    {"uno", 1, 0, NULL, 0, 1},
    {"words", 1, 0, NULL, 0, 2},
};

static const int documents[DOCUMENTS][2] = {{0, -1}, {1, -1}, {2, -1}, {3, -1},
                                            {0, 4},  {5, -1}, {6, -1}};

struct life {
    struct rig *g;
    uint32_t batch; /* from 0 */
    uint64_t truth;
    enum coins { RIGHT, BY_TRUTH, ANEW } coins; /* of the batch */
    uint32_t drawn;                             /* batches */
    uint8_t trace[TRACE]; /* all that shows but a report's bits */
    size_t traced;
    uint32_t reports[2], misplaced; /* of the two searches */
    int asked[2];                   /* questions of the document in force */
};

/* ---- Coins --------------------------------------------------------------- */

static hsy_status chosen_fill(void *ctx, void *buf, size_t len)
{
    struct life *l = ctx;
    const uint64_t batch = l->coins == BY_TRUTH ? l->batch + l->truth
                           : l->coins == ANEW   ? l->batch + l->drawn++
                                                : l->batch;
    const uint64_t word =
        UINT64_MAX / (2 * BATCHES) * (2 * (batch % BATCHES) + 1);

    memcpy(buf, &word, len < sizeof word ? len : sizeof word);
    return HSY_OK;
}

static hsy_status life_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                             const hsy_context *c)
{
    static const uint8_t key[HSY_KEY] = {5};

    hsy_keyed_open(room, key, c);
    *coins = hsy_keyed_coins(room);
    if (strcmp(c->purpose, DEVICE_PURPOSE_BATCH) == 0)
        coins->secret = (hsy_rng){chosen_fill, ctx};
    return HSY_OK;
}

/* ---- Events -------------------------------------------------------------- */

static void life_trace(struct life *l, uint64_t what)
{
    if (l->traced == TRACE)
        exit(1);
    l->trace[l->traced++] = (uint8_t)what;
}

static void life_task(struct rig *g, const struct question *q)
{
    const hsy_spec spec = {.mechanism = "stage",
                           .kind = HSY_KIND_STRINGS,
                           .nano_epsilon = EPS,
                           .d = q->d,
                           .labels = q->labels,
                           .labels_len = q->len,
                           .param[HSY_PARAM_BITS] = 6,
                           .param[HSY_PARAM_STEP] = 2,
                           .param[HSY_PARAM_PREFIX_BITS] =
                               2 * (uint64_t)q->stage,
                           .param[HSY_PARAM_MAX_CANDIDATES] = 8,
                           .param[HSY_PARAM_SIZES] = q->sizes};
    hsy_task *t = rig_task(g, q->id, "browser", spec, 0);

    t->slot_days = 0;
    t->release = q->stage;
    t->end = DAY0 + 2 + q->stage;
    t->labels = q->labels;
    t->labels_len = q->len;
}

static void life_take(struct life *l)
{
    rig_take(l->g);
    for (uint32_t i = 0; i < l->g->tasks; i++)
        life_trace(l, (uint64_t)rig_admit(l->g, i));
}

static void life_document(struct life *l, int which)
{
    l->g->tasks = 0;
    for (size_t i = 0; i < 2; i++) {
        l->asked[i] = documents[which][i];
        if (l->asked[i] >= 0)
            life_task(l->g, &questions[l->asked[i]]);
    }
    rig_publish(l->g);
    life_take(l);
}

static void life_answer(struct life *l)
{
    for (uint32_t i = 0; i < l->g->tasks; i++) {
        hsy_truth t = {.type = HSY_TRUTH_INDEX};
        hsy_answer_state state = 0;

        t.u.index = (uint32_t)l->truth;
        life_trace(l, (uint64_t)hsy_device_answer(l->g->dev, &state,
                                                  l->g->release[i], &t, NULL));
        life_trace(l, (uint64_t)state);
    }
}

/* The question that an upload answers. */
static const struct question *life_question(const struct life *l,
                                            const hsy_upload *head)
{
    const size_t i = l->g->tasks > 1 && strcmp(head->task, "two") == 0;

    return &questions[l->asked[i]];
}

/* The clock is ahead while something is sent. */
static void life_send(struct life *l)
{
    uint8_t upload[4096];
    size_t len;

    rig_day(l->g, 20);
    while (rig_next(l->g, upload, &len) == HSY_OK) {
        const struct question *q;
        hsy_upload head;

        if (hsy_upload_decode(&head, upload, NULL) != HSY_OK ||
            rig_sent(l->g, upload, len) != HSY_OK)
            exit(1);
        q = life_question(l, &head);
        life_trace(l, head.kind);
        life_trace(l, q->stage);
        if (head.kind == 1) {
            l->reports[q->sizes - 1]++;
            l->misplaced += q->sizes == 1 && q->stage != l->batch + 1;
        }
    }
    rig_day(l->g, 0);
}

static void life_restart(struct life *l)
{
    if (rig_open(l->g, false) != HSY_OK)
        exit(1);
    hsy_device_coins(l->g->dev, life_coins, l);
    life_take(l);
}

static void life_event(struct life *l, uint32_t event)
{
    if (event < DOCUMENTS)
        life_document(l, (int)event);
    else if (event == EVENT_ANSWER)
        life_answer(l);
    else if (event == EVENT_SEND)
        life_send(l);
    else
        life_restart(l);
    life_trace(l, rig_spent(l->g, "browser") / EPS);
}

/* ---- Lives --------------------------------------------------------------- */

static void life_begin(struct life *l, struct rig *g, enum coins coins,
                       uint32_t batch, uint64_t truth)
{
    *l = (struct life){.g = g, .coins = coins, .batch = batch, .truth = truth};
    for (size_t i = 0; i < 3; i++)
        g->world.file[i].there = false;
    g->world.seed = 7;
    g->world.logged = 0;
    g->version = 0;
    rig_day(g, 0);
    if (rig_open(g, true) != HSY_OK ||
        hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL) != HSY_OK)
        exit(1);
    hsy_device_coins(g->dev, life_coins, l);
    life_document(l, 0);
}

/* The sequence, then all stages in order as an honest collector has them. */
static void life_live(struct life *l, uint32_t sequence, uint32_t length)
{
    static const int then[] = {0, 2, 3};

    for (uint32_t i = 0; i < length; i++, sequence /= EVENTS)
        life_event(l, sequence % EVENTS);
    for (size_t i = 0; i < 3; i++) {
        life_event(l, (uint32_t)then[i]);
        life_event(l, EVENT_ANSWER);
        life_event(l, EVENT_SEND);
    }
}

struct sums {
    uint64_t lives, reports, twice, misplaced, unpaid, uneven;
};

/* One sequence for all batches and truths. */
static void lives_of(struct sums *sums, struct rig *g, enum coins coins,
                     uint32_t sequence, uint32_t length)
{
    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        struct life first, l;

        for (uint32_t x = 0; x < TRUTHS; x++) {
            uint64_t spent;

            life_begin(&l, g, coins, batch, truths[x]);
            life_live(&l, sequence, length);
            spent = rig_spent(g, "browser") / EPS;
            sums->lives++;
            sums->reports += l.reports[0];
            sums->twice += l.reports[0] > 1 || l.reports[1] > 1;
            sums->misplaced += l.misplaced;
            sums->unpaid += spent < l.reports[0] + l.reports[1] || spent > 2;
            if (x == 0)
                first = l;
            sums->uneven += l.traced != first.traced ||
                            memcmp(l.trace, first.trace, l.traced) != 0;
        }
    }
}

static struct sums lives(enum coins coins, uint32_t length)
{
    struct rig *g = rig_new();
    struct sums sums = {0};
    uint32_t sequences = 1;

    for (uint32_t i = 0; i < length; i++)
        sequences *= EVENTS;
    for (uint32_t s = 0; s < sequences; s++)
        lives_of(&sums, g, coins, s, length);
    rig_free(g);
    return sums;
}

int main(void)
{
    struct sums sums = lives(RIGHT, getenv("HSY_TEST_LONG") != NULL ? 4 : 3);

    printf("# %llu lives, %llu reports\n", (unsigned long long)sums.lives,
           (unsigned long long)sums.reports);
    ok(sums.reports > sums.lives / 2, "most lives give a report");
    ok(sums.twice == 0, "no search gets two reports of anybody");
    ok(sums.misplaced == 0, "a report answers the stage of its batch");
    ok(sums.unpaid == 0, "each search that is answered is charged once");
    ok(sums.uneven == 0, "what shows, and when, is the same for all truths");
    sums = lives(ANEW, 2);
    ok(sums.twice == 0 && sums.unpaid == 0,
       "even if the batch were drawn anew each time, one report leaves");
    ok(sums.misplaced > 0, "control: reports of another batch are noticed");
    sums = lives(BY_TRUTH, 1);
    ok(sums.uneven > 0, "control: a batch that the truth names is noticed");
    return tap_done();
}
