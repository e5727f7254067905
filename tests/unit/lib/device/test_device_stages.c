/* test_device_stages.c - a search in more stages than a device keeps rounds:
 * every stage sends once, one of them its report. */
#include "lib/bits/bytes.h"
#include "rig/device_rig.h"

enum { STAGES = 64 };

/* One survivor of zeros; the labels stay where they are. */
static hsy_spec stage_spec(uint32_t stages, uint32_t stage)
{
    static uint8_t labels[STAGES][4 + STAGES / 4];
    const uint32_t digits = (stage + 2) / 4; /* of stage - 1 bits */
    hsy_spec spec = {.mechanism = "stage",
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = EPS,
                     .param[HSY_PARAM_BITS] = stages,
                     .param[HSY_PARAM_STEP] = 1,
                     .param[HSY_PARAM_PREFIX_BITS] = stage,
                     .param[HSY_PARAM_MAX_CANDIDATES] = 8};

    if (stage > 1) {
        uint8_t *own = labels[stage - 1];

        bytes_put32(own, digits);
        memset(own + 4, '0', digits);
        spec.d = 1;
        spec.labels = own;
        spec.labels_len = 4 + digits;
    }
    return spec;
}

static void stage_task(struct rig *g, uint32_t stages, uint32_t stage)
{
    const hsy_spec spec = stage_spec(stages, stage);
    char id[8];
    hsy_task *t;

    snprintf(id, sizeof id, "t%u", stage);
    t = rig_task(g, id, "browser", spec, 0);
    t->slot_days = 0;
    t->end = DAY0 + 3;
    t->labels = spec.labels;
    t->labels_len = spec.labels_len;
}

/* All stages in one document, for the device of this seed. */
static struct rig *search_new(uint32_t stages, uint8_t seed)
{
    struct rig *g = rig_new();

    g->world.seed = seed;
    for (uint32_t i = 1; i <= stages; i++)
        stage_task(g, stages, i);
    rig_publish(g);
    if (rig_open(g, true) != HSY_OK || !rig_tasks(g) ||
        hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL) != HSY_OK)
        exit(1);
    return g;
}

/* The stage that answers, from 1 on; 0: none or more than one. */
static uint32_t search_answer_with(struct rig *g, uint32_t truth)
{
    uint32_t mine = 0, answers = 0;

    for (uint32_t i = 0; i < g->tasks; i++) {
        const int state = rig_answer(g, i, truth);

        answers += state == HSY_ANSWERED;
        if (state == HSY_ANSWERED)
            mine = i + 1;
        else if (state !=
                 (mine == 0 ? HSY_ANSWER_SAMPLED_OUT : HSY_ANSWER_KEPT))
            return 0;
    }
    return answers == 1 ? mine : 0;
}

static uint32_t search_answer(struct rig *g)
{
    return search_answer_with(g, 0);
}

/* Every stage sends, the batch's its report, also after opening again in the
 * middle; then there is nothing more. */
static bool search_sends(struct rig *g, uint32_t mine)
{
    uint32_t sent[STAGES + 1] = {0};
    uint8_t upload[4096];
    size_t len;

    for (uint32_t i = 0; i < g->tasks; i++) {
        hsy_upload head;
        uint32_t stage;

        if (rig_next(g, upload, &len) != HSY_OK ||
            hsy_upload_decode(&head, upload, NULL) != HSY_OK ||
            rig_sent(g, upload, len) != HSY_OK || !rig_again(g))
            return false;
        stage = (uint32_t)strtoul(head.task + 1, NULL, 10);
        if (sent[stage]++ != 0 || (head.kind == 1) != (stage == mine))
            return false;
    }
    return rig_next(g, upload, &len) == HSY_E_END;
}

static void every_stage_sends_once(uint32_t stages, uint32_t devices)
{
    uint64_t batches = 0;
    bool good = true;

    for (uint32_t k = 0; k < devices && good; k++) {
        struct rig *g = search_new(stages, (uint8_t)k);
        const uint32_t mine = search_answer(g);

        rig_day(g, 30); /* late, but within grace */
        good = mine != 0 && search_sends(g, mine) &&
               rig_spent(g, "browser") == EPS;
        batches |= (uint64_t)1 << (mine - 1) % 64;
        rig_free(g);
    }
    ok(good && (batches & (batches - 1)) != 0,
       "%u stages at once: each sends once, the batch's its report", stages);
}

/* Null uploads of other stages, sent before it was asked, close nothing. */
static void others_close_nothing(void)
{
    struct rig *g = search_new(12, 7);
    const uint32_t mine = search_answer(g);
    size_t count[2];

    rig_free(g);
    g = search_new(12, 7);
    for (uint32_t i = 0; i < 12; i++)
        g->task[i].end = DAY0 + (i + 1 == mine ? 9 : 2);
    rig_publish(g);
    rig_tasks(g);
    rig_day(g, 4);
    rig_send(g, count);
    ok(count[0] == 0 && count[1] == 11, "other stages are over, and send");
    ok(rig_answer(g, mine - 1, 0) == HSY_ANSWERED, "its own is answered");
    rig_day(g, 10);
    rig_send(g, count);
    ok(count[0] == 1 && count[1] == 0, "and sends its report alone");
    rig_free(g);
}

/* A null upload that went while the clock was ahead was its stage's. */
static void its_own_closes_it(void)
{
    struct rig *g = search_new(12, 7);
    size_t count[2];
    uint32_t closed = 0, others = 0;

    rig_day(g, 5);
    rig_send(g, count);
    rig_day(g, 1);
    for (uint32_t i = 0; i < 12; i++) {
        const int state = rig_answer(g, i, 0);

        closed += state == HSY_ANSWER_CLOSED;
        others += state == HSY_ANSWER_SAMPLED_OUT;
    }
    ok(count[1] == 12 && closed == 12 && others == 0 &&
           rig_spent(g, "browser") == 0,
       "a stage whose upload has gone is closed, and nothing is charged");
    rig_free(g);
}

/* Consent that is taken back deletes the report, not that it was made. */
static void consent_returns(void)
{
    struct rig *g = search_new(12, 7);
    size_t count[2];
    bool kept = search_answer(g) != 0;

    hsy_device_consent_set(g->dev, HSY_CONSENT_NONE, NULL);
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    for (uint32_t i = 0; i < 12; i++)
        kept = rig_answer(g, i, 1) == HSY_ANSWER_KEPT && kept;
    rig_day(g, 5);
    rig_send(g, count);
    ok(kept && count[0] == 0 && count[1] == 12,
       "without consent the report is deleted, and no stage makes another");
    rig_free(g);
}

/* A stage under two names is one: the first that is listed sends. */
static void two_names(void)
{
    struct rig *g = search_new(3, 7);
    size_t count[2];
    bool kept = true;

    for (uint32_t i = 1; i <= 3; i++)
        stage_task(g, 3, i);
    for (uint32_t i = 3; i < 6; i++)
        g->task[i].id[0] = 'u';
    rig_publish(g);
    kept = rig_tasks(g) && search_answer(g) != 0;
    for (uint32_t i = 3; i < 6; i++)
        kept = rig_answer(g, i, 1) == HSY_ANSWER_KEPT && kept;
    rig_day(g, 5);
    rig_send(g, count);
    ok(kept && count[0] == 1 && count[1] == 2 && rig_spent(g, "browser") == EPS,
       "three stages under two names each: three uploads, one a report");
    rig_free(g);
}

/* All stages of a search that begins later, or is about another source, are
 * another search: a second answer, and paid for. */
static void another_search_is_paid(const char *source, uint32_t start)
{
    struct rig *g = search_new(3, 7);
    bool good = search_answer(g) != 0;

    for (uint32_t i = 0; i < 3; i++) {
        g->task[i].start = DAY0 + start;
        memset(g->task[i].source, 0, sizeof g->task[i].source);
        memcpy(g->task[i].source, source, strlen(source));
    }
    rig_publish(g);
    rig_day(g, 1);
    good = rig_tasks(g) && search_answer(g) != 0 && good;
    ok(good &&
           rig_spent(g, "browser") ==
               (strcmp(source, "browser") == 0 ? 2 : 1) * EPS &&
           rig_spent(g, "usage") == (strcmp(source, "usage") == 0 ? EPS : 0),
       "a search of %s from day %u on is another one, and paid", source, start);
    rig_free(g);
}

/* One device, whatever its truth, is in one batch; devices are in several. */
static void no_truth_names_a_batch(void)
{
    uint32_t first = 0;
    bool same = true, other = false;

    for (uint8_t seed = 0; seed < 8; seed++) {
        uint32_t batch = 0;

        for (uint32_t truth = 0; truth < 8; truth++) {
            struct rig *g = search_new(12, seed);
            const uint32_t mine = search_answer_with(g, 511 * truth);

            batch = truth == 0 ? mine : batch;
            same = same && mine != 0 && mine == batch;
            rig_free(g);
        }
        first = seed == 0 ? batch : first;
        other = other || batch != first;
    }
    ok(same && other, "the batch is the device's, whatever its truth");
}

/* ---- A state that was restored ------------------------------------------- */

/* Names of the coins of an answer, published and secret. */
struct names {
    uint8_t release[HSY_DIGEST], permanent[HSY_DIGEST];
};

static hsy_status named_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                              const hsy_context *c)
{
    static const uint8_t key[HSY_KEY] = {4};
    struct names *names = ctx;

    if (strcmp(c->purpose, DEVICE_PURPOSE_RELEASE) == 0)
        memcpy(names->release, c->digest, HSY_DIGEST);
    if (strcmp(c->purpose, DEVICE_PURPOSE_PERMANENT) == 0)
        memcpy(names->permanent, c->digest, HSY_DIGEST);
    hsy_keyed_open(room, key, c);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

/* Asks all three stages, the second about what begins with this digit; whether
 * that one is answered, as the key above has it, and by which coins. */
static bool second_stage(struct rig *g, struct names *names, const char *digit)
{
    static uint8_t label[5] = {1};

    label[4] = (uint8_t)digit[0];
    g->tasks = 0;
    for (uint32_t i = 1; i <= 3; i++) {
        hsy_spec spec = stage_spec(3, i);
        hsy_task *t;

        if (i == 2)
            spec.labels = label;
        t = rig_task(g, "t", "browser", spec, 0);
        t->id[1] = (char)('0' + i);
        t->slot_days = 0;
        t->labels = spec.labels;
        t->labels_len = spec.labels_len;
    }
    rig_publish(g);
    if (rig_open(g, false) != HSY_OK || !rig_tasks(g))
        exit(1);
    hsy_device_coins(g->dev, named_coins, names);
    return rig_answer(g, 1, 0) == HSY_ANSWERED;
}

static void restored(void)
{
    struct rig *g = search_new(3, 7);
    struct file *files = malloc(sizeof g->world.file);
    struct names one, two, again;
    bool good;

    if (files == NULL)
        exit(1);
    memcpy(files, g->world.file, sizeof g->world.file);
    good = second_stage(g, &one, "0");
    memcpy(g->world.file, files, sizeof g->world.file);
    ok(good && second_stage(g, &two, "8") &&
           memcmp(one.release, two.release, HSY_DIGEST) != 0 &&
           memcmp(one.permanent, two.permanent, HSY_DIGEST) != 0,
       "a restored device has other coins for other candidates");
    memcpy(g->world.file, files, sizeof g->world.file);
    ok(second_stage(g, &again, "0") && memcmp(&one, &again, sizeof one) == 0,
       "and the same for the same");
    free(files);
    rig_free(g);
}

/* A report goes out for the candidates that it was made for, or not at all. */
static void other_candidates(void)
{
    struct rig *g = search_new(3, 7);
    struct names names;
    size_t count[2];
    bool good = second_stage(g, &names, "0") && !second_stage(g, &names, "8");

    rig_day(g, 361);
    rig_send(g, count);
    ok(good && count[0] == 0 && count[1] == 3,
       "nothing that was said of other candidates is sent");
    rig_free(g);
    g = search_new(3, 7);
    good = second_stage(g, &names, "0") && !second_stage(g, &names, "8") &&
           !second_stage(g, &names, "0");
    rig_day(g, 361);
    rig_send(g, count);
    ok(good && count[0] == 1 && count[1] == 2, "unless they come back");
    rig_free(g);
}

/* A stage is asked once: a task that says otherwise is not admitted. */
static void asked_once(uint32_t slot_days, uint32_t answers, const char *field)
{
    struct rig *g = search_new(3, 7);

    for (uint32_t i = 0; i < 3; i++) {
        g->task[i].slot_days = slot_days;
        g->task[i].answers = answers;
    }
    rig_publish(g);
    ok(rig_take(g) == HSY_OK && rig_admit(g, 0) == HSY_E_RANGE &&
           strcmp(hsy_field_name(g->err.field), field) == 0,
       "a stage with %u answers in slots of %u days is refused", answers,
       slot_days);
    rig_free(g);
}

/* Each stage has an end of its own; once its upload was shown, for good. */
static void shown_stages_stay(void)
{
    struct rig *g = search_new(2, 7);
    uint8_t one[4096], two[4096];
    size_t len, again;
    hsy_upload head;
    bool same = true;

    g->task[1].end = DAY0 + 5;
    rig_publish(g);
    same &= rig_tasks(g) && search_answer(g) != 0;
    rig_day(g, 9);
    for (uint32_t i = 0; i < 2; i++) {
        same &= rig_next(g, one, &len) == HSY_OK &&
                hsy_upload_decode(&head, one, NULL) == HSY_OK &&
                head.epoch == DAY0 + (head.task[1] == '1' ? 3 : 5);
        g->task[0].end = DAY0 + 2 + i;
        g->task[1].end = DAY0 + 8 - i;
        rig_publish(g);
        same &= rig_again(g) && rig_next(g, two, &again) == HSY_OK &&
                len == again && memcmp(one, two, len) == 0 &&
                rig_sent(g, two, again) == HSY_OK;
    }
    ok(same && rig_next(g, one, &len) == HSY_E_END,
       "a stage that was shown keeps its time, whatever becomes of its end");
    rig_free(g);
}

int main(void)
{
    every_stage_sends_once(3, 6);
    every_stage_sends_once(12, 8);
    every_stage_sends_once(STAGES, 2);
    others_close_nothing();
    its_own_closes_it();
    shown_stages_stay();
    consent_returns();
    two_names();
    another_search_is_paid("browser", 1);
    another_search_is_paid("usage", 0);
    no_truth_names_a_batch();
    restored();
    other_candidates();
    asked_once(1, 1, "slot_days");
    asked_once(0, 2, "answers");
    return tap_done();
}
