/* test_device_refusals.c - what a device refuses, and that it says why. */
#include "rig/device_rig.h"

static struct rig *ready(void)
{
    struct rig *g = rig_new();

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 2 * EPS);
    rig_begin(g);
    return g;
}

/* ---- Releases ------------------------------------------------------------ */

static bool refuses(const hsy_task *task, const char *field)
{
    hsy_release *r = malloc(hsy_release_size(task));
    hsy_error err = {0};
    bool good = hsy_release_init(r, task, &err) != HSY_OK &&
                strcmp(hsy_field_name(err.field), field) == 0;

    free(r);
    return good;
}

/* A task that no document could hold is refused by itself. */
static void releases(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        const char *field;
    } cases[] = {
        {offsetof(hsy_task, end), DAY0, "end"},
        {offsetof(hsy_task, round_days), 3, "round_days"},
        {offsetof(hsy_task, round_days), 0, "permanent"},
        {offsetof(hsy_task, max_changes), 0, "max_changes"},
        {offsetof(hsy_task, max_changes), 17, "max_changes"},
        {offsetof(hsy_task, answers), 2, "answers"},
        {offsetof(hsy_task, sends), 0, "sends"},
        {offsetof(hsy_task, other), 4, "other"},
    };
    struct rig *g = ready();
    hsy_task task;
    uint8_t wire[HSY_SCHEME_WIRE];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        task = g->task[1];
        memcpy((uint8_t *)&task + cases[i].at, &cases[i].value, 4);
        ok(refuses(&task, cases[i].field), "%s %u is refused", cases[i].field,
           cases[i].value);
    }
    task = g->task[0];
    task.grain = 1;
    ok(refuses(&task, "grain"), "a grain without permanent answers is");
    task = g->task[0];
    task.sample = (hsy_ratio){2, 1};
    ok(refuses(&task, "sample"), "a share above 1 is");
    memset(wire, 0xff, sizeof wire);
    task.scheme = wire;
    ok(refuses(&task, "mechanism"), "an unknown mechanism is");
    rig_free(g);
}

/* A small f hides little: what one report claims says nothing of that. */
static void little_permanent_noise_is_charged(void)
{
    struct rig *g = rig_new();
    const hsy_spec spec = {.mechanism = "rappor",
                           .kind = HSY_KIND_STRINGS,
                           .design = HSY_DESIGN_RAPPOR,
                           .chance = {{1, (uint64_t)1 << 30}, {1, 2}, {3, 4}},
                           .param = {[HSY_PARAM_FILTER_BITS] = 32,
                                     [HSY_PARAM_HASHES] = 2,
                                     [HSY_PARAM_COHORTS] = 64}};
    hsy_task *t = rig_task(g, "r", "browser", spec, 0);
    hsy_release *r;

    t->permanent = t->scheme;
    t->slot_days = 10;
    t->round_days = 1;
    r = malloc(hsy_release_size(t));
    ok(hsy_release_init(r, t, NULL) == HSY_OK && r->nano_slot > 80 * EPS,
       "f = 2^-30 is charged what it tells: epsilon %.1f",
       (double)r->nano_slot / 1e9);
    free(r);
    rig_free(g);
}

/* ---- Calls --------------------------------------------------------------- */

static void policies(void)
{
    struct rig *g = ready();
    hsy_release *r = malloc(hsy_release_size(&g->task[0]));

    g->task[0].start += 1;
    ok(hsy_release_init(r, &g->task[0], NULL) == HSY_OK, "another release");
    free(g->release[0]);
    g->release[0] = r;
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_POLICY,
       "a release that was not admitted is not answered");
    g->sources[1].name = "usage";
    g->sources[2].name = "other";
    ok(rig_answer(g, 1, 1) == HSY_ANSWERED, "a source that moved is found");
    g->sources[1].name = "settings";
    ok(rig_answer(g, 1, 1) == -1 && g->err.status == HSY_E_POLICY,
       "one that left the policy is not answered");
    ok(hsy_device_consent_set(g->dev, (hsy_consent)9, NULL) == HSY_E_RANGE,
       "there is no ninth consent");
    g->sources[2].name = "usage";
    g->policy.size--;
    ok(rig_open(g, false) == HSY_E_RANGE, "a policy of another size");
    g->policy.size++;
    g->policy.nsources = HSY_TASKS_MAX + 1;
    ok(rig_open(g, false) == HSY_E_RANGE, "too many sources");
    g->policy.nsources = 3;
    g->face.size++;
    ok(rig_open(g, false) == HSY_E_RANGE, "a world of another size");
    ok(hsy_device_budget(g->dev, &(hsy_budget){0}, NULL, NULL) == HSY_E_RANGE,
       "a device that is not open says so");
    g->face.size--;
    g->policy.release_bytes = 4;
    ok(rig_open(g, false) == HSY_E_POLICY, "too little room for the reports");
    rig_free(g);
}

static void clocks(void)
{
    struct rig *g = ready();
    size_t count[2];
    hsy_budget b;

    rig_day(g, 3);
    rig_send(g, count);
    ok(count[1] == 6, "a clock ahead sends the rounds that it thinks over");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_CLOSED,
       "back again: a round whose uploads have gone is closed");
    g->world.clock = HSY_E_IO;
    ok(hsy_device_budget(g->dev, &b, NULL, NULL) == HSY_E_IO &&
           hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL) == HSY_E_IO &&
           hsy_device_forget(g->dev, NULL, NULL) == HSY_E_IO &&
           rig_admit(g, 0) == HSY_E_IO,
       "without a clock nothing is done");
    rig_free(g);
}

static hsy_status no_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                           const hsy_context *context)
{
    (void)ctx, (void)room, (void)coins, (void)context;
    return HSY_E_ENTROPY;
}

static void uploads(void)
{
    struct rig *g = ready();
    uint8_t upload[4096];
    size_t len;
    hsy_upload head;

    rig_answer(g, 0, 1);
    rig_day(g, 1);
    ok(hsy_device_next(g->dev, upload, HSY_UPLOAD_WIRE, &len,
                       (const hsy_release *const *)g->release, 2,
                       &g->err) == HSY_E_RANGE &&
           g->err.limit == HSY_UPLOAD_WIRE + 1,
       "an upload that does not fit is refused, with its length");
    ok(rig_next(g, upload, &len) == HSY_OK, "it fits");
    ok(rig_sent(g, upload, HSY_UPLOAD_WIRE - 1) == HSY_E_FORMAT,
       "half a header is refused");
    hsy_upload_decode(&head, upload, NULL);
    head.id[3] ^= 1;
    hsy_upload_encode(upload, &head, NULL);
    ok(rig_sent(g, upload, len) == HSY_E_UNKNOWN, "an unknown id is");
    hsy_device_coins(g->dev, no_coins, NULL);
    ok(rig_next(g, upload, &len) == HSY_E_ENTROPY &&
           rig_sent(g, upload, len) == HSY_E_ENTROPY,
       "without coins nothing is handed out or marked");
    rig_free(g);
}

/* Two names for one release: one answer, one upload. */
static void two_names(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "one", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "two", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED &&
           rig_answer(g, 1, 2) == HSY_ANSWER_KEPT && g->dev->nrecords == 1,
       "the second name has had its answer");
    rig_day(g, 1);
    rig_send(g, count);
    ok(count[0] == 1 && count[1] == 0, "one upload goes out");
    rig_free(g);
}

/* ---- Files --------------------------------------------------------------- */

static void copies(void)
{
    struct rig *g = ready();
    struct file *b = malloc(sizeof *b);
    struct world *kept = malloc(sizeof *kept);

    *kept = g->world;
    rig_answer(g, 0, 1);
    *b = g->world.file[2];
    g->world = *kept;
    rig_again(g);
    rig_answer(g, 0, 3);
    g->world.file[2] = *b;
    ok(rig_open(g, false) == HSY_E_DAMAGED,
       "two whole copies of one generation that differ are refused");
    g->world = *kept;
    for (int file = 1; file <= 2; file++) {
        g->world.load = HSY_E_IO;
        g->world.load_only = file;
        ok(rig_open(g, false) == HSY_E_IO,
           "a copy that cannot be read may be the newer one: refused");
    }
    g->world = *kept;
    g->world.file[1].bytes[70] ^= 1;
    g->world.stores_left = 0;
    ok(rig_open(g, false) == HSY_E_IO, "so is one that cannot be mended");
    free(b);
    free(kept);
    rig_free(g);
}

static void half_made(void)
{
    struct rig *g = rig_new();

    rig_open(g, true);
    g->world.file[0].bytes[3] = 0;
    ok(rig_open(g, false) == HSY_E_EMPTY && rig_open(g, true) == HSY_OK,
       "a key that was cut short beside a new state: made again");
    g->world.file[0].len--;
    g->world.file[2].there = false;
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "beside anything else it is damage");
    g->world.file[0].there = false;
    g->world.file[1].len = WORLD_ROOM;
    ok(rig_open(g, false) == HSY_E_DAMAGED,
       "an enormous state without a key is damage too");
    g->world.load = HSY_E_IO;
    g->world.load_only = 2;
    ok(rig_open(g, false) == HSY_E_IO, "and one that cannot be read an error");
    rig_free(g);
}

static void anchors(void)
{
    struct rig *g = rig_new();

    g->world.anchored = true;
    g->world.anchor_status = HSY_E_IO;
    ok(rig_open(g, true) == HSY_E_IO, "no device beside a broken anchor");
    g->world.anchor_status = HSY_OK;
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    g->world.anchor_status = HSY_E_IO;
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_IO &&
           rig_spent(g, NULL) == 0,
       "no answer either");
    ok(rig_open(g, false) == HSY_E_IO, "and no opening");
    g->world.anchor_status = HSY_OK;
    g->world.anchor = 1;
    ok(rig_again(g) && g->world.anchor == g->dev->generation,
       "an anchor that fell behind is raised");
    rig_free(g);
}

int main(void)
{
    releases();
    little_permanent_noise_is_charged();
    policies();
    clocks();
    uploads();
    two_names();
    copies();
    half_made();
    anchors();
    return tap_done();
}
