/*
 * test_device_walk.c - long random lives of a device, and what has left it.
 *
 * The transcripts (test_transcripts.c) are exact and short. Here lives are long
 * and the alphabet is large: tasks whose every number changes from version to
 * version, clocks that jump, uploads that are shown and never acknowledged,
 * failing disks, restarts, consent, other caps.
 *
 * Whatever a report tells about a truth it has from coins that the truth names
 * (DEVICE_PURPOSE_PERMANENT): one context is one answer at its release's
 * epsilon. Reports are wide enough to be told from each other, so each one that
 * leaves leads back to the contexts it was made with. Checked all along: the
 * epsilons of all contexts that have left, each counted once, are at most what
 * the ledger shows for their source; that never falls, and is at most the cap
 * whenever it grows; and an upload that comes again has the same bytes. Among
 * the tasks are stages of one search, in any order and with any candidates:
 * their answers are other contexts, of which one charge pays for one.
 */
#include "rig/device_rig.h"

enum {
    CONTEXTS = 1 << 12,
    REPORTS = 1 << 13,
    UPLOADS = 1 << 13,
    WIDTH = 16, /* bytes of a report, at most */
    STEPS = 400,
    TASKS = 6
};

/* One answer to a truth. */
struct context {
    uint8_t name[HSY_DIGEST];
    uint32_t source;
    uint64_t nano;
    uint8_t search[HSY_DIGEST]; /* of a stage; else zeros */
    bool left;
};

struct made {
    uint8_t bytes[WIDTH];
    uint32_t context;
};

struct shown {
    uint8_t id[16], bytes[WIDTH];
};

struct walk {
    struct rig *g;
    uint64_t random;
    uint32_t day;
    struct context *contexts;
    struct made *made;
    struct shown *shown;
    uint32_t ncontexts, nmade, nshown;
    uint32_t now;     /* the context of the answer being made */
    uint64_t batches; /* drawn */
    uint64_t left[3], spent[3];
    uint32_t unpaid, unknown, redrawn, twice, reports, answers;
};

static uint32_t below(struct walk *w, uint32_t n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((w->random >> 33) % n);
}

/* ---- Coins --------------------------------------------------------------- */

static uint32_t source_number(const char *name)
{
    static const char *const names[] = {"browser", "settings", "usage"};
    uint32_t i = 0;

    while (strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* What the answers of a digest cost; the most, if releases say otherwise. */
static uint64_t price(const struct walk *w, const uint8_t digest[HSY_DIGEST])
{
    uint64_t nano = 0;

    for (uint32_t i = 0; i < TASKS; i++) {
        const hsy_release *r = w->g->release[i];

        if (r != NULL && memcmp(release_fresh(r), digest, HSY_DIGEST) == 0 &&
            r->nano_permanent > nano)
            nano = r->nano_permanent;
    }
    return nano;
}

/* The search that a stage belongs to. */
static void note_search(const struct walk *w, struct context *made,
                        const uint8_t digest[HSY_DIGEST])
{
    for (uint32_t i = 0; i < TASKS; i++) {
        const hsy_release *r = w->g->release[i];

        if (r != NULL && release_stage(r) != 0 &&
            memcmp(release_fresh(r), digest, HSY_DIGEST) == 0)
            memcpy(made->search, r->digest, HSY_DIGEST);
    }
}

/* Whether another answer of the same search has left before. */
static bool search_left(const struct walk *w, const struct context *c)
{
    static const uint8_t none[HSY_DIGEST];

    for (uint32_t i = 0; i < w->ncontexts; i++) {
        const struct context *other = &w->contexts[i];

        if (other != c && other->left && other->source == c->source &&
            memcmp(c->search, none, HSY_DIGEST) != 0 &&
            memcmp(other->search, c->search, HSY_DIGEST) == 0)
            return true;
    }
    return false;
}

static void note_context(struct walk *w, const hsy_context *c)
{
    uint8_t bytes[HSY_DIGEST + 16], name[HSY_DIGEST];
    const uint64_t nano = price(w, c->digest);
    uint32_t i = 0;

    memcpy(bytes, c->digest, HSY_DIGEST);
    memcpy(bytes + HSY_DIGEST, &c->slot, 8);
    memcpy(bytes + HSY_DIGEST + 8, &c->truth, 8);
    hsy_blake2b(name, sizeof name, bytes, sizeof bytes,
                (const uint8_t *)c->source, c->source_len);
    while (i < w->ncontexts && memcmp(w->contexts[i].name, name, 32) != 0)
        i++;
    if (i == CONTEXTS)
        exit(1);
    if (i == w->ncontexts) {
        struct context *made = &w->contexts[w->ncontexts++];

        memcpy(made->name, name, sizeof name);
        made->source = source_number(c->source);
        note_search(w, made, c->digest);
    }
    if (nano > w->contexts[i].nano) {
        if (w->contexts[i].left)
            w->left[w->contexts[i].source] += nano - w->contexts[i].nano;
        w->contexts[i].nano = nano;
    }
    w->now = i;
}

static hsy_status walk_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                             const hsy_context *c)
{
    static const uint8_t key[HSY_KEY] = {3};
    struct walk *w = ctx;
    hsy_context named = *c;

    if (strcmp(c->purpose, DEVICE_PURPOSE_PERMANENT) == 0)
        note_context(w, c);
    if (strcmp(c->purpose, DEVICE_PURPOSE_BATCH) == 0)
        named.slot = w->batches++; /* a batch that changes saves nobody */
    hsy_keyed_open(room, key, &named);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

/* ---- What was made, and what left ---------------------------------------- */

static struct made *find_made(const struct walk *w, const uint8_t *report)
{
    for (uint32_t i = 0; i < w->nmade; i++)
        if (memcmp(w->made[i].bytes, report, WIDTH) == 0)
            return &w->made[i];
    return NULL;
}

/* Packed, as an upload has it. */
static void pack(const hsy_release *r, uint8_t out[WIDTH],
                 const uint8_t *report)
{
    memset(out, 0, WIDTH);
    hsy_pack(r->scheme, out, report, 1);
}

/* Reports that stand in the record and did not before are the answer's. */
static void note_made(struct walk *w, uint32_t task)
{
    const hsy_device *dev = w->g->dev;
    const hsy_release *r = w->g->release[task];
    const uint32_t record = hsy_device_find(dev, r);
    const struct device_record *rec = &dev->records[record];

    for (uint32_t i = 0; i < rec->window; i++)
        for (uint32_t p = 0; p < rec->sends; p++) {
            const uint8_t *report =
                device_reports(dev, record, &rec->rounds[i]) +
                (size_t)p * rec->report_bytes;
            uint8_t packed[WIDTH];

            pack(r, packed, report);
            if ((rec->rounds[i].held >> (release_place(r) + p) & 1) == 0 ||
                find_made(w, packed) != NULL)
                continue;
            if (w->nmade == REPORTS)
                exit(1);
            memcpy(w->made[w->nmade].bytes, packed, WIDTH);
            w->made[w->nmade++].context = w->now;
        }
}

static void note_again(struct walk *w, const hsy_upload *head,
                       const uint8_t packed[WIDTH])
{
    for (uint32_t i = 0; i < w->nshown; i++)
        if (memcmp(w->shown[i].id, head->id, 16) == 0) {
            w->redrawn += memcmp(w->shown[i].bytes, packed, WIDTH) != 0;
            return;
        }
    if (w->nshown == UPLOADS)
        exit(1);
    memcpy(w->shown[w->nshown].id, head->id, 16);
    memcpy(w->shown[w->nshown++].bytes, packed, WIDTH);
}

static void note_left(struct walk *w, const uint8_t *upload, size_t len)
{
    uint8_t packed[WIDTH] = {0};
    const struct made *made;
    struct context *c;
    hsy_upload head;

    if (hsy_upload_decode(&head, upload, NULL) != HSY_OK)
        exit(1);
    if (head.kind != 1)
        return;
    memcpy(packed, upload + HSY_UPLOAD_WIRE, len - HSY_UPLOAD_WIRE);
    note_again(w, &head, packed);
    w->reports++;
    made = find_made(w, packed);
    w->unknown += made == NULL;
    if (made == NULL)
        return;
    c = &w->contexts[made->context];
    if (!c->left)
        w->left[c->source] += c->nano;
    w->twice += search_left(w, c);
    c->left = true;
}

/* ---- What may happen ----------------------------------------------------- */

/* Any stage of three, with some survivors; by a mechanism with wide reports. */
static hsy_spec any_stage(struct walk *w, uint64_t nano)
{
    static const struct {
        uint32_t d;
        const char *labels;
        size_t len;
    } lists[3][2] = {{{0, NULL, 0}, {0, NULL, 0}},
                     {{1,
                       "\1\0\0\0"
                       "0",
                       5},
                      {2,
                       "\1\0\0\0"
                       "0\1\0\0\0"
                       "7",
                       10}},
                     {{1,
                       "\2\0\0\0"
                       "02",
                       6},
                      {2,
                       "\2\0\0\0"
                       "01\2\0\0\0"
                       "05",
                       12}}};
    const uint32_t stage = below(w, 3), which = below(w, 2);

    return (hsy_spec){.mechanism = "stage",
                      .kind = HSY_KIND_STRINGS,
                      .nano_epsilon = nano,
                      .oracle = "oue",
                      .d = lists[stage][which].d,
                      .labels = (const uint8_t *)lists[stage][which].labels,
                      .labels_len = lists[stage][which].len,
                      .param[HSY_PARAM_BITS] = 12,
                      .param[HSY_PARAM_STEP] = 4,
                      .param[HSY_PARAM_PREFIX_BITS] = 4 * (uint64_t)(stage + 1),
                      .param[HSY_PARAM_MAX_CANDIDATES] = 112,
                      .param[HSY_PARAM_SIZES] = 1 + below(w, 2)};
}

/* A kept report is as wide as a fresh one; olh keeps a hash and 16 bits of a
 * seed, too few to tell reports apart, so wide mechanisms do. */
static hsy_spec any_spec(struct walk *w, uint64_t nano)
{
    static const char *const names[] = {"oue", "sue", "rappor"};
    const uint32_t which = below(w, 3);
    hsy_spec spec = values(names[which], 120, nano);

    if (which == 2) {
        spec.nano_epsilon = 0;
        spec.design = HSY_DESIGN_RAPPOR;
        spec.chance[0] = spec.chance[1] = (hsy_ratio){1, 2};
        spec.chance[2] = (hsy_ratio){3, 4};
        spec.param[HSY_PARAM_FILTER_BITS] = 96;
        spec.param[HSY_PARAM_HASHES] = 1;
        spec.param[HSY_PARAM_COHORTS] = 4;
    }
    return spec;
}

/* Plans that differ in few numbers, so that they meet often; days of a slot, of
 * a round: 0 or 2, 1 or 2. */
static void any_plan(struct walk *w, hsy_task *t, bool kept)
{
    t->start = DAY0;
    t->slot_days = below(w, 2) * 2;
    t->end = DAY0 + 2 + 2 * below(w, 30);
    t->round_days = 2 * below(w, 2);
    if (kept)
        t->round_days = t->slot_days != 0 ? 1 : 2;
    if (!kept && t->slot_days == 0 && t->round_days != 0)
        t->end = DAY0 + 2;
    if (kept && t->end == DAY0 + 2)
        t->end = DAY0 + 4;
    t->max_changes = kept ? 1 + below(w, 2) : 1;
    t->answers = kept ? 1 : 1 + 2 * below(w, 3);
    t->sends = t->answers == 1 ? 1 : 1 + 2 * below(w, 2);
}

static void any_task(struct walk *w, uint32_t i)
{
    static const char *const sources[] = {"browser", "settings", "usage"};
    struct rig *g = w->g;
    const bool stage = below(w, 3) == 0, kept = !stage && below(w, 2) != 0;
    const uint64_t nano = EPS * (1 + below(w, 2)) / 2;
    const hsy_spec spec = stage ? any_stage(w, nano) : any_spec(w, nano);
    const bool twice = spec.design == HSY_DESIGN_RAPPOR;
    char id[2] = {(char)('a' + i), 0};
    hsy_task *t;

    g->tasks = i;
    t = rig_task(g, id, sources[below(w, 2)], spec,
                 kept && !twice ? EPS * (1 + below(w, 2)) : 0);
    if (kept && twice)
        t->permanent = g->scheme[i];
    any_plan(w, t, kept);
    t->labels = spec.labels;
    t->labels_len = spec.labels_len;
    if (stage) {
        t->slot_days = t->round_days = 0;
        t->answers = t->sends = 1;
    }
    t->release = 1 + below(w, 2);
    t->delay_seconds = below(w, 2) * 40000;
    t->grace_days = 3 + below(w, 60);
    t->sample = (hsy_ratio){1 + below(w, 2), 2};
    t->other = below(w, 2) != 0 && !stage ? 119 : HSY_TASK_CLOSED;
}

/* A version in which some tasks are others, or end at another time. */
static void walk_document(struct walk *w)
{
    struct rig *g = w->g;

    for (uint32_t i = 0; i < TASKS; i++)
        if (below(w, 3) == 0)
            any_task(w, i);
        else if (below(w, 3) == 0)
            memcpy(g->task[i].source, g->task[below(w, TASKS)].source,
                   sizeof g->task[i].source);
    g->tasks = TASKS;
    rig_publish(g);
    if (rig_take(g) != HSY_OK)
        return;
    for (uint32_t i = 0; i < TASKS; i++)
        (void)rig_admit(g, i);
}

/* Another end; without slots it decides whether an answer is kept. */
static void any_end(struct walk *w, hsy_task *t)
{
    t->end = DAY0 + 2 + 2 * below(w, 30);
    if (t->slot_days != 0 || t->round_days == 0)
        return;
    if (below(w, 3) == 0)
        t->end = DAY0 + t->round_days;
    if (t->end == DAY0 + t->round_days && t->permanent != NULL) {
        t->scheme = t->permanent;
        t->permanent = NULL;
        t->max_changes = 1;
    } else if (t->permanent == NULL && t->answers > 1) {
        t->end = DAY0 + t->round_days;
    } else if (t->permanent == NULL && t->end != DAY0 + t->round_days) {
        t->permanent = t->scheme;
    }
}

/* The same questions with other ends: what may change without notice. */
static void walk_ends(struct walk *w)
{
    struct rig *g = w->g;

    for (uint32_t i = 0; i < TASKS; i++)
        any_end(w, &g->task[i]);
    rig_publish(g);
    if (rig_take(g) != HSY_OK)
        return;
    for (uint32_t i = 0; i < TASKS; i++)
        (void)rig_admit(g, i);
}

static void walk_open(struct walk *w)
{
    if (rig_open(w->g, false) != HSY_OK)
        exit(1);
    hsy_device_coins(w->g->dev, walk_coins, w);
    w->g->tasks = TASKS;
    (void)rig_take(w->g);
    for (uint32_t i = 0; i < TASKS; i++)
        (void)rig_admit(w->g, i);
}

/* A source or the device has other caps from now on. */
static void walk_policy(struct walk *w)
{
    for (uint32_t i = 0; i < 3; i++)
        w->g->sources[i].cap_lifetime = EPS * (5 + below(w, 100));
    walk_open(w);
}

static void walk_answer(struct walk *w)
{
    const uint32_t i = below(w, TASKS);
    int said;

    if (below(w, 20) == 0)
        w->g->world.stores_left = (int)below(w, 2);
    said = rig_answer(w->g, i, below(w, 120));
    w->g->world.stores_left = -1;
    if (w->g->dev->phase == DEVICE_LOST) {
        walk_open(w); /* the first copy may have the answer */
        if (hsy_device_find(w->g->dev, w->g->release[i]) < w->g->dev->nrecords)
            note_made(w, i);
    }
    w->answers += said == HSY_ANSWERED;
    if (said == HSY_ANSWERED)
        note_made(w, i);
}

/* Show what is due; acknowledge it, or not. */
static void walk_send(struct walk *w, bool acknowledge)
{
    const hsy_release *some[TASKS];
    uint8_t upload[4096];
    size_t n = 0, len;

    for (uint32_t i = 0; i < TASKS; i++)
        if (below(w, 4) != 0)
            some[n++] = w->g->release[i];
    for (uint32_t i = 0; i < 8; i++) {
        if (hsy_device_next(w->g->dev, upload, sizeof upload, &len, some, n,
                            NULL) != HSY_OK)
            return;
        note_left(w, upload, len);
        if (!acknowledge)
            return;
        (void)hsy_device_sent(w->g->dev, some, n, upload, len, NULL);
    }
}

static void walk_clock(struct walk *w)
{
    static const int32_t jumps[] = {1, 1, 1, 1, 1, -1, -1, -1, 2, -3};
    const int32_t jump = jumps[below(w, 10)];

    w->day = jump < 0 && w->day < (uint32_t)-jump ? 0 : w->day + (uint32_t)jump;
    rig_day(w->g, w->day);
}

/* A clock that is ahead while something is sent, and then is right again. */
static void walk_ahead(struct walk *w)
{
    rig_day(w->g, w->day + 1 + below(w, 14));
    walk_send(w, below(w, 2) != 0);
    rig_day(w->g, w->day);
}

static void walk_consent(struct walk *w)
{
    (void)hsy_device_consent_set(w->g->dev, (hsy_consent)below(w, 3), NULL);
    (void)hsy_device_consent_set(w->g->dev, HSY_CONSENT_SEND, NULL);
}

static void walk_step(struct walk *w)
{
    const uint32_t what = below(w, 100);

    if (what < 45)
        walk_answer(w);
    else if (what < 55)
        walk_send(w, false);
    else if (what < 65)
        walk_send(w, true);
    else if (what < 77)
        walk_ahead(w);
    else if (what < 87)
        walk_clock(w);
    else if (what < 92)
        walk_ends(w);
    else if (what < 95)
        walk_document(w);
    else if (what < 97)
        walk_open(w);
    else if (what < 98)
        walk_policy(w);
    else
        walk_consent(w);
}

/* Nothing has left that was not paid for. */
static void walk_check(struct walk *w)
{
    static const char *const names[] = {"browser", "settings", "usage"};

    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t spent = rig_spent(w->g, names[i]);

        w->unpaid += w->left[i] > spent || spent < w->spent[i];
        w->unpaid +=
            spent > w->spent[i] && spent > w->g->sources[i].cap_lifetime;
        w->spent[i] = spent;
    }
}

/* ---- Lives --------------------------------------------------------------- */

static void walk_begin(struct walk *w, uint64_t seed)
{
    struct rig *g = w->g = rig_new();

    w->random = seed;
    w->contexts = calloc(CONTEXTS, sizeof *w->contexts);
    w->made = calloc(REPORTS, sizeof *w->made);
    w->shown = calloc(UPLOADS, sizeof *w->shown);
    if (w->contexts == NULL || w->made == NULL || w->shown == NULL)
        exit(1);
    for (uint32_t i = 0; i < 3; i++) {
        g->sources[i].cap_day = 20 * EPS;
        g->sources[i].cap_lifetime = 200 * EPS;
    }
    g->policy.cap_day = 40 * EPS;
    g->policy.cap_lifetime = 400 * EPS;
    g->policy.releases = 128;
    g->policy.release_bytes = 96; /* a window of two or six rounds */
    for (uint32_t i = 0; i < TASKS; i++)
        any_task(w, i);
    rig_publish(g);
    if (rig_open(g, true) != HSY_OK)
        exit(1);
    walk_open(w);
    (void)hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
}

static void walk_end(struct walk *w)
{
    rig_free(w->g);
    free(w->contexts);
    free(w->made);
    free(w->shown);
}

int main(void)
{
    const uint32_t lives = getenv("HSY_TEST_LONG") != NULL ? 2000 : 60;
    uint32_t unpaid = 0, unknown = 0, redrawn = 0, twice = 0, reports = 0,
             answers = 0;

    for (uint32_t i = 0; i < lives; i++) {
        struct walk w = {0};

        walk_begin(&w, i + 1);
        for (uint32_t k = 0; k < STEPS; k++) {
            walk_step(&w);
            walk_check(&w);
        }
        if (w.unpaid + w.unknown + w.redrawn + w.twice != 0)
            printf("# life %u: unpaid %u, unknown %u, redrawn %u, twice %u\n",
                   i, w.unpaid, w.unknown, w.redrawn, w.twice);
        unpaid += w.unpaid;
        unknown += w.unknown;
        redrawn += w.redrawn;
        twice += w.twice;
        reports += w.reports;
        answers += w.answers;
        walk_end(&w);
    }
    ok(answers > 10 * lives && reports > 5 * lives,
       "%u lives: %u answers, %u reports left", lives, answers, reports);
    ok(unpaid == 0, "nothing leaves that the ledger does not show");
    ok(unknown == 0, "every report that leaves was made by an answer");
    ok(twice == 0, "of a search one answer leaves, whatever stages are asked");
    ok(redrawn == 0, "a report that comes again has the same bytes");
    return tap_done();
}
