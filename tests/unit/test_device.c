/* test_device.c - the client on a world of memory: answers, caps, state, time.
 */
#define _POSIX_C_SOURCE 200809L

#include "device.h"
#include "mech.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY0 20500u
#define EPS ((uint64_t)HSY_NANO)

/* ---- A world of memory --------------------------------------------------- */

enum { WORLD_ROOM = 1 << 17, WORLD_LOG = 512 };

struct world {
    struct file {
        bool there;
        size_t len;
        uint8_t bytes[WORLD_ROOM];
    } file[3];
    uint64_t now;
    hsy_status clock, entropy, store, load;
    int stores_left; /* then they fail; -1: never */
    uint32_t stores;
    size_t stored; /* bytes */
    bool anchored;
    uint64_t anchor;
    uint8_t seed;
    hsy_entry log[WORLD_LOG];
    size_t logged;
};

static hsy_status world_load(void *ctx, hsy_file file, uint8_t *buf,
                             size_t room, size_t *len)
{
    struct world *w = ctx;
    const struct file *f = &w->file[file];

    if (w->load != HSY_OK)
        return w->load;
    if (!f->there)
        return HSY_E_EMPTY;
    if (f->len > room)
        return HSY_E_RANGE;
    memcpy(buf, f->bytes, f->len);
    *len = f->len;
    return HSY_OK;
}

static hsy_status world_store(void *ctx, hsy_file file, const uint8_t *buf,
                              size_t len)
{
    struct world *w = ctx;

    if (w->stores_left == 0)
        return HSY_E_IO;
    if (w->stores_left > 0)
        w->stores_left--;
    w->file[file].there = true;
    w->file[file].len = len;
    memcpy(w->file[file].bytes, buf, len);
    w->stores++;
    w->stored += len;
    return w->store;
}

static hsy_status world_now(void *ctx, uint64_t *seconds)
{
    struct world *w = ctx;

    *seconds = w->now;
    return w->clock;
}

static hsy_status world_entropy(void *ctx, void *buf, size_t len)
{
    struct world *w = ctx;

    memset(buf, w->seed++, len);
    return w->entropy;
}

/* Whoever knows the public key can sign here: enough for a test. */
static void world_sign(uint8_t sig[HSY_SIGNATURE],
                       const uint8_t key[HSY_SIGN_KEY], const uint8_t *bytes,
                       size_t len)
{
    hsy_blake2b(sig, HSY_SIGNATURE, bytes, len, key, HSY_SIGN_KEY);
}

static bool world_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                         const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                         size_t len)
{
    uint8_t want[HSY_SIGNATURE];

    (void)ctx;
    world_sign(want, key, bytes, len);
    return memcmp(want, sig, sizeof want) == 0;
}

static hsy_status world_anchor_read(void *ctx, uint64_t *number)
{
    *number = ((struct world *)ctx)->anchor;
    return HSY_OK;
}

static hsy_status world_anchor_raise(void *ctx, uint64_t number)
{
    struct world *w = ctx;

    if (number > w->anchor)
        w->anchor = number;
    return HSY_OK;
}

static void world_log(void *ctx, const hsy_entry *entry)
{
    struct world *w = ctx;

    if (w->logged < WORLD_LOG)
        w->log[w->logged++] = *entry;
}

static size_t world_entries(const struct world *w, uint32_t kind)
{
    size_t n = 0;

    for (size_t i = 0; i < w->logged; i++)
        n += w->log[i].kind == kind;
    return n;
}

/* ---- A device with its tasks --------------------------------------------- */

enum { RIG_TASKS = 128, RIG_RELEASE = 8192 };

struct rig {
    struct world world;
    hsy_world face;
    hsy_policy policy;
    hsy_source sources[4];
    hsy_device *dev;
    hsy_task task[RIG_TASKS];
    uint8_t scheme[RIG_TASKS][HSY_SCHEME_WIRE];
    uint8_t permanent[RIG_TASKS][HSY_SCHEME_WIRE];
    size_t tasks;
    uint8_t *bytes;
    size_t len;
    uint64_t version;
    uint8_t signer[HSY_SIGN_KEY], next_key[HSY_SIGN_KEY];
    uint32_t expires;
    hsy_document doc;
    hsy_release *release[RIG_TASKS];
    hsy_error err;
};

static struct rig *rig_new(void)
{
    struct rig *g = calloc(1, sizeof *g);

    if (g == NULL)
        exit(1);
    g->world.stores_left = -1;
    g->world.seed = 7;
    g->world.now = (uint64_t)DAY0 * DEVICE_DAY;
    g->face = (hsy_world){.size = sizeof g->face,
                          .ctx = &g->world,
                          .load = world_load,
                          .store = world_store,
                          .now = world_now,
                          .entropy = {world_entropy, &g->world},
                          .verify = world_verify,
                          .log = world_log};
    g->sources[0] = (hsy_source){"browser", 2 * EPS, 8 * EPS, 40 * EPS};
    g->sources[1] = (hsy_source){"settings", 2 * EPS, 8 * EPS, 40 * EPS};
    g->sources[2] = (hsy_source){"usage", 2 * EPS, 8 * EPS, 40 * EPS};
    g->policy = (hsy_policy){.size = sizeof g->policy,
                             .sources = g->sources,
                             .nsources = 3,
                             .nano_day = 16 * EPS,
                             .nano_lifetime = 100 * EPS,
                             .releases = 16};
    memset(g->policy.sign_key, 1, HSY_SIGN_KEY);
    memset(g->signer, 1, HSY_SIGN_KEY);
    g->expires = DAY0 + 1000;
    return g;
}

static void rig_free(struct rig *g)
{
    for (size_t i = 0; i < RIG_TASKS; i++)
        free(g->release[i]);
    free(g->bytes);
    free(g->dev);
    free(g);
}

static void rig_wire(uint8_t wire[HSY_SCHEME_WIRE], const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));

    if (s == NULL || hsy_scheme_init(s, spec, NULL) != HSY_OK)
        exit(1);
    hsy_scheme_encode(s, wire);
    free(s);
}

/* A task of 360 days: fresh answers each day, or (permanent nano) memoised over
 * slots of 10 days with a report a day. */
static hsy_task *rig_task(struct rig *g, const char *id, const char *source,
                          hsy_spec spec, uint64_t permanent)
{
    const size_t i = g->tasks++;
    hsy_task *t = &g->task[i];

    spec.size = sizeof spec;
    rig_wire(g->scheme[i], &spec);
    *t = (hsy_task){.release = 1,
                    .question = "?",
                    .question_len = 1,
                    .start = DAY0,
                    .end = DAY0 + 360,
                    .slot_days = 1,
                    .max_changes = 1,
                    .answers = 1,
                    .sends = 1,
                    .sample = {1, 1},
                    .grace_days = 30,
                    .other = HSY_TASK_CLOSED,
                    .scheme = g->scheme[i]};
    memcpy(t->id, id, strlen(id));
    memcpy(t->source, source, strlen(source));
    if (permanent != 0) { /* parameters as resolved for the report */
        hsy_spec_decode(&spec, g->scheme[i], NULL, 0, NULL);
        spec.nano_epsilon = permanent;
        rig_wire(g->permanent[i], &spec);
        t->permanent = g->permanent[i];
        t->slot_days = 10;
        t->round_days = 1;
    }
    return t;
}

static hsy_spec values(const char *mechanism, uint32_t d, uint64_t nano)
{
    return (hsy_spec){.mechanism = mechanism,
                      .kind = HSY_KIND_VALUES,
                      .d = d,
                      .nano_epsilon = nano};
}

static hsy_status rig_open(struct rig *g, bool create)
{
    if (g->world.anchored) {
        g->face.anchor_read = world_anchor_read;
        g->face.anchor_raise = world_anchor_raise;
    }
    if (g->dev != NULL)
        hsy_device_close(g->dev);
    free(g->dev);
    g->dev = malloc(hsy_device_size(&g->policy));
    if (g->dev == NULL)
        exit(1);
    return create ? hsy_device_create(g->dev, &g->policy, &g->face, &g->err)
                  : hsy_device_open(g->dev, &g->policy, &g->face, &g->err);
}

/* Encode and sign all tasks as the next version. */
static void rig_publish(struct rig *g)
{
    hsy_document doc = {
        .version = ++g->version, .issued = DAY0, .expires = g->expires};

    memcpy(doc.next_key, g->next_key, HSY_SIGN_KEY);
    if (hsy_document_encode(NULL, 0, &g->len, &doc, g->task, g->tasks,
                            &g->err) != HSY_OK) {
        printf("# %s: %s\n", g->err.field, g->err.msg);
        exit(1);
    }
    free(g->bytes);
    g->bytes = calloc(1, g->len + HSY_SIGNATURE);
    if (g->bytes == NULL ||
        hsy_document_encode(g->bytes, g->len, &g->len, &doc, g->task, g->tasks,
                            NULL) != HSY_OK)
        exit(1);
    world_sign(g->bytes + g->len, g->signer, g->bytes, g->len);
    g->len += HSY_SIGNATURE;
}

static hsy_status rig_take(struct rig *g)
{
    return hsy_device_take(g->dev, &g->doc, g->bytes, g->len, &g->err);
}

static hsy_status rig_admit(struct rig *g, uint32_t i)
{
    free(g->release[i]);
    g->release[i] = calloc(1, RIG_RELEASE);
    return hsy_device_admit(g->dev, g->release[i], &g->doc, i, &g->err);
}

/* Take the document and admit everything; false if anything fails. */
static bool rig_tasks(struct rig *g)
{
    bool good = rig_take(g) == HSY_OK;

    for (uint32_t i = 0; i < g->tasks && good; i++)
        good = rig_admit(g, i) == HSY_OK;
    if (!good)
        printf("# %s: %s\n", g->err.field, g->err.msg);
    return good;
}

/* A new device with these tasks, and consent. */
static void rig_begin(struct rig *g)
{
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_tasks(g) &&
           hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, &g->err) == HSY_OK,
       "a device is made, takes its tasks and has consent");
}

static bool rig_again(struct rig *g)
{
    return rig_open(g, false) == HSY_OK && rig_tasks(g);
}

static hsy_truth index_truth(uint32_t index)
{
    hsy_truth t = {.type = HSY_TRUTH_INDEX};

    t.u.index = index;
    return t;
}

/* -1 for a failure. */
static int rig_answer(struct rig *g, uint32_t i, uint32_t truth)
{
    hsy_truth t = index_truth(truth);
    hsy_answer_state state = 0;
    hsy_status st =
        hsy_device_answer(g->dev, g->release[i], &t, &state, &g->err);

    return st == HSY_OK ? (int)state : -1;
}

static uint64_t rig_spent(struct rig *g, const char *source)
{
    hsy_budget b;

    return hsy_device_budget(g->dev, source, &b, NULL) == HSY_OK
               ? b.spent_lifetime
               : UINT64_MAX;
}

static void rig_day(struct rig *g, uint32_t day)
{
    g->world.now = (uint64_t)(DAY0 + day) * DEVICE_DAY + 3600;
}

static hsy_status rig_next(struct rig *g, uint8_t *upload, size_t *len)
{
    return hsy_device_next(g->dev, (const hsy_release *const *)g->release,
                           g->tasks, upload, 4096, len, &g->err);
}

static hsy_status rig_sent(struct rig *g, const uint8_t *upload, size_t len)
{
    return hsy_device_sent(g->dev, (const hsy_release *const *)g->release,
                           g->tasks, upload, len, &g->err);
}

/* Send all that is due: how many reports, how many nulls. */
static void rig_send(struct rig *g, size_t count[2])
{
    uint8_t upload[4096];
    size_t len;

    count[0] = count[1] = 0;
    while (rig_next(g, upload, &len) == HSY_OK) {
        hsy_upload head;

        if (hsy_upload_decode(&head, upload, NULL) != HSY_OK ||
            rig_sent(g, upload, len) != HSY_OK || count[0] + count[1] > 1000) {
            ok(false, "uploads are well formed and can be marked");
            return;
        }
        count[head.kind - 1]++;
    }
}

/* ---- Making and opening -------------------------------------------------- */

static void a_device_is_made_once(void)
{
    struct rig *g = rig_new();

    ok(rig_open(g, false) == HSY_E_EMPTY, "there is none at first");
    g->world.entropy = HSY_E_ENTROPY;
    ok(rig_open(g, true) == HSY_E_ENTROPY && g->world.stores == 0,
       "without entropy nothing is written");
    g->world.entropy = HSY_OK;
    for (int left = 0; left < 3; left++) {
        g->world.stores_left = left;
        ok(rig_open(g, true) == HSY_E_IO, "making fails at store %d", left);
        g->world.stores_left = -1;
        ok(rig_open(g, false) == HSY_E_EMPTY, "and there is no device");
    }
    ok(rig_open(g, true) == HSY_OK && rig_open(g, false) == HSY_OK,
       "it is made, and opens");
    ok(rig_open(g, true) == HSY_E_REFUSED, "making it again is refused");
    ok(hsy_device_consent(g->dev) == HSY_CONSENT_NONE, "nobody has agreed yet");
    rig_free(g);
}

/* Whether opening gives this status after one thing was done to the files. */
static void damage_is_not_emptiness(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 2) == HSY_ANSWERED, "answered");
    *kept = g->world;
    g->world.file[0].there = false;
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "without its key a used state is damaged");
    g->world = *kept;
    g->world.file[0].bytes[20] ^= 1;
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "with a changed key too");
    g->world = *kept;
    g->world.file[1].there = g->world.file[2].there = false;
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "a key without state is damaged");
    g->world = *kept;
    g->world.load = HSY_E_IO;
    ok(rig_open(g, false) == HSY_E_IO, "a disk that cannot be read is told");
    g->world = *kept;
    g->world.file[1].bytes[100] ^= 1;
    g->world.file[2].bytes[100] ^= 1;
    ok(rig_open(g, false) == HSY_E_DAMAGED, "two bad copies are refused");
    free(kept);
    rig_free(g);
}

/* Every bit of one copy, and every length: the other one holds everything. */
static void one_bad_copy_is_mended(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);
    size_t wrong = 0, tried = 0;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 2);
    *kept = g->world;
    for (int f = 1; f <= 2; f++) {
        for (size_t bit = 0; bit < 8 * kept->file[f].len; bit++, tried++) {
            g->world.file[f].bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            wrong += rig_open(g, false) != HSY_OK ||
                     rig_spent(g, "browser") != EPS ||
                     memcmp(g->world.file[f].bytes, kept->file[f].bytes,
                            kept->file[f].len) != 0;
            g->world.file[f] = kept->file[f];
        }
        for (size_t len = 0; len < kept->file[f].len; len++, tried++) {
            g->world.file[f].len = len;
            wrong += rig_open(g, false) != HSY_OK ||
                     rig_spent(g, "browser") != EPS ||
                     g->world.file[f].len != kept->file[f].len;
            g->world.file[f] = kept->file[f];
        }
    }
    ok(wrong == 0, "%zu changes of one copy: mended, nothing lost", tried);
    free(kept);
    rig_free(g);
}

static void a_failing_store_stops_everything(void)
{
    for (int left = 0; left < 2; left++) {
        struct rig *g = rig_new();
        uint64_t spent;

        rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
        rig_begin(g);
        g->world.stores_left = left;
        ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_IO,
           "a store fails: no answer");
        g->world.stores_left = -1;
        ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_DAMAGED,
           "and none until it is opened again");
        ok(rig_again(g), "opened again");
        spent = rig_spent(g, "browser");
        ok(spent == (left == 0 ? 0 : EPS), "what was written counts");
        ok(rig_answer(g, 0, 1) == (left == 0 ? HSY_ANSWERED : HSY_ANSWER_KEPT),
           "and the answer is made once");
        ok(rig_spent(g, "browser") == EPS, "and charged once");
        rig_free(g);
    }
}

static void restored_states(void)
{
    struct rig *g = rig_new();
    struct file old[3];
    uint8_t before[4096], after[4096];
    size_t len;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    memcpy(old, g->world.file, sizeof old);
    rig_answer(g, 0, 1);
    rig_day(g, 1);
    rig_next(g, before, &len);
    g->world.file[1] = old[1];
    ok(rig_again(g) && rig_spent(g, "browser") == EPS,
       "one old copy is overruled");
    memcpy(g->world.file, old, sizeof old);
    ok(rig_again(g) && rig_spent(g, "browser") == 0,
       "without an anchor a restored state is not noticed");
    rig_day(g, 0);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "it answers again");
    rig_day(g, 1);
    ok(rig_next(g, after, &len) == HSY_OK && memcmp(before, after, len) == 0,
       "the same bytes");
    rig_free(g);

    g = rig_new();
    g->world.anchored = true;
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    memcpy(old, g->world.file, sizeof old);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED && rig_again(g),
       "with an anchor it answers and opens");
    g->world.anchor += 5;
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_KEPT, "what stands, stands");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_DAMAGED,
       "if the anchor went on without it nothing new is answered");
    g->world.anchor -= 5;
    memcpy(g->world.file, old, sizeof old);
    ok(rig_open(g, false) == HSY_E_DAMAGED, "a restored state is refused");
    memset(g->world.file, 0, sizeof g->world.file);
    ok(rig_open(g, true) == HSY_E_REFUSED,
       "and no new device is made beside an anchor that knows one");
    rig_free(g);
}

static void policies_and_worlds_are_checked(void)
{
    struct rig *g = rig_new();

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    rig_begin(g);
    g->policy.releases = 1;
    ok(rig_open(g, false) == HSY_E_POLICY,
       "a state that is too large for the policy is not cut");
    g->policy.releases = 0;
    ok(rig_open(g, false) == HSY_E_RANGE, "no releases are refused");
    g->policy.releases = 16;
    g->sources[2].name = "browser";
    ok(rig_open(g, false) == HSY_E_RANGE, "two sources of one name are");
    g->sources[2].name = "Usage";
    ok(rig_open(g, false) == HSY_E_RANGE, "and a name with other letters");
    g->sources[2].name = "usage";
    g->face.anchor_read = world_anchor_read;
    ok(rig_open(g, false) == HSY_E_RANGE, "half an anchor is refused");
    g->face.anchor_read = NULL;
    ok(rig_again(g), "all is as before");
    rig_free(g);
}

/* ---- Documents and admission --------------------------------------------- */

static void documents(void)
{
    struct rig *g = rig_new();
    uint8_t *old;
    size_t old_len;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    old = g->bytes;
    old_len = g->len;
    g->bytes = NULL;
    rig_publish(g);
    ok(rig_take(g) == HSY_OK && g->doc.version == 2, "a newer one is taken");
    ok(rig_take(g) == HSY_OK, "and again");
    ok(hsy_device_take(g->dev, &g->doc, old, old_len, &g->err) == HSY_E_OLD,
       "an older one is refused");
    g->version--;
    g->expires++;
    rig_publish(g);
    ok(rig_take(g) == HSY_E_OLD, "another one of the same version is");
    g->bytes[old_len - 1] ^= 1;
    ok(rig_take(g) == HSY_E_SIGNATURE, "a wrong signature is");
    memset(g->signer, 2, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_E_SIGNATURE, "a stranger's is");
    memset(g->signer, 1, HSY_SIGN_KEY);
    memset(g->next_key, 2, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_OK, "the next key is named");
    rig_publish(g);
    ok(rig_take(g) == HSY_OK, "the old key still signs");
    memset(g->signer, 2, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_OK && rig_open(g, false) == HSY_OK &&
           rig_take(g) == HSY_OK,
       "the new key signs, also after opening");
    memset(g->signer, 1, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_E_SIGNATURE, "and then the old one no more");
    memset(g->signer, 2, HSY_SIGN_KEY);
    rig_publish(g);
    g->world.now = (uint64_t)g->expires * DEVICE_DAY;
    ok(rig_take(g) == HSY_E_OLD, "an expired one is refused");
    g->world.clock = HSY_E_IO;
    ok(rig_take(g) == HSY_E_IO, "without a clock none is taken");
    free(old);
    rig_free(g);
}

static void admission(void)
{
    struct rig *g = rig_new();
    hsy_document other;

    rig_task(g, "known", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "foreign", "location", values("grr", 4, EPS), 0);
    rig_task(g, "loud", "browser", values("grr", 4, 2 * EPS + 1), 0);
    rig_task(g, "dear", "browser", values("grr", 4, EPS), 5 * EPS);
    g->task[3].max_changes = 2;
    rig_task(g, "wide", "browser", values("sue", 2048, EPS), 0);
    rig_task(g, "over", "browser", values("grr", 5, EPS), 0);
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_take(g) == HSY_OK, "taken");
    ok(rig_admit(g, 0) == HSY_OK, "a task within the policy is admitted");
    ok(rig_admit(g, 1) == HSY_E_POLICY && strcmp(g->err.field, "source") == 0,
       "an unknown source is not");
    ok(rig_admit(g, 2) == HSY_E_POLICY && g->err.limit == 2 * EPS,
       "nor too much epsilon in one report");
    ok(rig_admit(g, 3) == HSY_E_POLICY && g->err.limit == 8 * EPS &&
           strcmp(g->err.field, "nano_day") == 0,
       "nor what no day can pay for");
    ok(rig_admit(g, 4) == HSY_E_POLICY && g->err.limit == 256,
       "nor reports that do not fit");
    ok(rig_admit(g, 6) == HSY_E_RANGE, "nor a task that is not there");
    other = g->doc;
    other.bytes++;
    ok(hsy_device_admit(g->dev, g->release[0], &other, 0, &g->err) ==
           HSY_E_MISMATCH,
       "nor one of another document");
    rig_day(g, 400);
    ok(rig_admit(g, 5) == HSY_E_OLD, "nor one that is over");
    ok(rig_admit(g, 0) == HSY_OK,
       "one that was admitted before may still send its last");
    rig_free(g);
}

static void room_for_releases(void)
{
    struct rig *g = rig_new();

    g->policy.releases = 2;
    for (uint32_t i = 0; i < 3; i++)
        rig_task(g, (const char *[]){"a", "b", "c"}[i], "browser",
                 values("grr", 3 + i, EPS), 0);
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_take(g) == HSY_OK &&
           rig_admit(g, 0) == HSY_OK && rig_admit(g, 1) == HSY_OK &&
           rig_admit(g, 1) == HSY_OK && rig_admit(g, 2) == HSY_E_POLICY &&
           g->err.limit == 2,
       "as many releases as the policy has room for");
    rig_free(g);
}

/* ---- Answers ------------------------------------------------------------- */

static void states_of_an_answer(void)
{
    struct rig *g = rig_new();
    hsy_truth wrong = {.type = HSY_TRUTH_NUMBER};

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(hsy_device_consent_set(g->dev, HSY_CONSENT_NONE, NULL) == HSY_OK &&
           rig_answer(g, 0, 1) == HSY_ANSWER_NO_CONSENT,
       "without consent nothing is answered");
    hsy_device_consent_set(g->dev, HSY_CONSENT_COLLECT, NULL);
    ok(hsy_device_answer(g->dev, g->release[0], &wrong, NULL, &g->err) ==
               HSY_E_RANGE &&
           rig_spent(g, NULL) == 0,
       "a truth of the wrong type is an error before any charge");
    g->world.clock = HSY_E_IO;
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_IO,
       "without a clock nothing is answered");
    g->world.clock = HSY_OK;
    g->world.now = 0;
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED,
       "a clock in 1970 stands at the document's day");
    rig_day(g, 0);
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_KEPT && rig_spent(g, NULL) == EPS,
       "a second truth changes nothing and costs nothing");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED && rig_spent(g, NULL) == 2 * EPS,
       "the next slot has its own answer and charge");
    rig_day(g, 0);
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_KEPT, "turning the clock back: kept");
    g->world.now = (uint64_t)49710 * DEVICE_DAY; /* 2106 */
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_CLOSED, "in 2106 the task is over");
    g->world.now = UINT64_MAX;
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_CLOSED, "and at the end of time");
    rig_day(g, 2);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED,
       "and neither has moved the device's day");
    ok(world_entries(&g->world, HSY_ENTRY_CHARGE) == 3 &&
           world_entries(&g->world, HSY_ENTRY_ANSWER) == 3,
       "the log has three charges and three answers");
    rig_free(g);
}

static void caps_hold(void)
{
    struct rig *g = rig_new();
    hsy_budget b;
    int answered = 0;

    g->sources[0].nano_lifetime = 5 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, 2 * EPS), 0);
    rig_task(g, "b", "browser", values("grr", 5, EPS), 0);
    rig_task(g, "c", "usage", values("grr", 5, EPS), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "2 of 5");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "4 of 5");
    rig_day(g, 2);
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_EXHAUSTED, "2 more are too many");
    ok(rig_answer(g, 1, 1) == HSY_ANSWERED, "1 more is exactly affordable");
    ok(rig_answer(g, 2, 1) == HSY_ANSWERED, "another source has its own caps");
    for (uint32_t day = 3; day < 300; day++) {
        rig_day(g, day);
        answered += rig_answer(g, 0, 1) == HSY_ANSWERED;
        answered += rig_answer(g, 1, 1) == HSY_ANSWERED;
    }
    ok(answered == 0 && rig_spent(g, "browser") == 5 * EPS,
       "a lifetime cap never renews");
    ok(hsy_device_budget(g->dev, "browser", &b, NULL) == HSY_OK &&
           b.day == DAY0 + 299 && b.spent_day == 0 && b.cap_day == 8 * EPS &&
           b.cap_lifetime == 5 * EPS,
       "the budget says so");
    ok(hsy_device_budget(g->dev, "location", &b, NULL) == HSY_E_UNKNOWN,
       "and knows no other sources");
    rig_free(g);
}

static void day_caps_hold(void)
{
    struct rig *g = rig_new();

    g->sources[0].nano_day = 3 * EPS;
    g->policy.nano_day = 4 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, 2 * EPS), 0);
    rig_task(g, "b", "browser", values("grr", 5, 2 * EPS), 0);
    rig_task(g, "c", "usage", values("grr", 5, 2 * EPS), 0);
    rig_task(g, "d", "settings", values("grr", 5, EPS), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED &&
           rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED,
       "the source's day is spent");
    ok(rig_answer(g, 2, 1) == HSY_ANSWERED &&
           rig_answer(g, 3, 1) == HSY_ANSWER_EXHAUSTED,
       "the device's day is spent");
    rig_day(g, 1);
    ok(rig_answer(g, 1, 1) == HSY_ANSWERED, "the next day has its own");
    ok(rig_spent(g, NULL) == 6 * EPS, "and the lifetime goes on");
    rig_free(g);
}

/* Exhausted once, a slot stays so, even where a later day could pay. */
static void an_exhausted_slot_stays_so(void)
{
    struct rig *g = rig_new();

    g->policy.nano_day = 3 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, 2 * EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 2 * EPS);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED &&
           rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED,
       "the day cannot pay for both");
    rig_day(g, 1);
    ok(rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED && rig_again(g) &&
           rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED,
       "the slot stays exhausted");
    rig_day(g, 10);
    ok(rig_answer(g, 1, 1) == HSY_ANSWERED, "the next slot is answered");
    rig_free(g);
}

static void sampled_slots(void)
{
    struct rig *g = rig_new();
    int in = 0, out = 0, other = 0;
    size_t sent[2];

    g->sources[0].nano_lifetime = g->policy.nano_lifetime = 1000 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].sample = (hsy_ratio){1, 4};
    rig_begin(g);
    for (uint32_t day = 0; day < 300; day++) {
        int state;

        rig_day(g, day);
        state = rig_answer(g, 0, 1);
        in += state == HSY_ANSWERED;
        out += state == HSY_ANSWER_SAMPLED_OUT;
        other += rig_answer(g, 0, 1) !=
                 (state == HSY_ANSWERED ? HSY_ANSWER_KEPT : state);
    }
    /* Binomial(300, 1/4): 75 +- 7.5; 8 standard deviations. */
    ok(in + out == 300 && in > 15 && in < 135 && other == 0,
       "%d of 300 slots are drawn for 1/4, each time the same", in);
    ok(rig_spent(g, "browser") == (uint64_t)in * EPS, "only they are charged");
    rig_send(g, sent);
    ok(sent[0] + sent[1] == 7 && sent[1] > 0,
       "the kept rounds are all sent, as reports or null");
    rig_free(g);
}

/* The report that waits for a release's round on this day. */
static bool held(struct rig *g, uint32_t i, uint32_t day, uint8_t *report,
                 size_t bytes)
{
    const uint32_t k = hsy_device_find(g->dev, g->release[i]);
    const struct device_record *rec = &g->dev->records[k];
    const struct device_round *round = &rec->rounds[day % rec->window];

    if (round->number != day + 1 || round->held != 1)
        return false;
    memcpy(report, device_reports(g->dev, k, round), bytes);
    return true;
}

/* With the two epsilons equal a report is the permanent answer itself. */
static void permanent_answers(void)
{
    struct rig *g = rig_new();
    uint8_t first[4] = {0}, again[4], other[4];
    bool same = true;

    rig_task(g, "one", "browser", values("sue", 32, EPS), EPS);
    rig_task(g, "two", "usage", values("sue", 32, EPS), EPS);
    g->task[1].max_changes = 2;
    rig_begin(g);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED &&
           rig_answer(g, 1, 3) == HSY_ANSWERED,
       "two memoised tasks are answered");
    ok(rig_spent(g, "browser") == EPS && rig_spent(g, "usage") == 2 * EPS,
       "a slot costs max_changes times epsilon, up front");
    held(g, 0, 0, first, 4);
    for (uint32_t day = 1; day < 10; day++) {
        rig_day(g, day);
        same &= rig_answer(g, 0, 3 + day) == HSY_ANSWERED &&
                held(g, 0, day, again, 4) && memcmp(first, again, 4) == 0;
    }
    ok(same, "one permanent answer stands whatever the truth does");
    ok(rig_spent(g, "browser") == EPS, "and nothing more is charged");
    rig_day(g, 10);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED && held(g, 0, 10, again, 4) &&
           memcmp(first, again, 4) != 0 && rig_spent(g, "browser") == 2 * EPS,
       "the next slot has another, and is charged");

    rig_day(g, 20);
    rig_answer(g, 1, 3);
    held(g, 1, 20, first, 4);
    rig_day(g, 21);
    rig_answer(g, 1, 9);
    held(g, 1, 21, other, 4);
    ok(memcmp(first, other, 4) != 0,
       "with two changes a new truth has its own");
    rig_day(g, 22);
    rig_answer(g, 1, 3);
    held(g, 1, 22, again, 4);
    ok(memcmp(first, again, 4) == 0, "and the old truth its old one");
    rig_day(g, 23);
    ok(rig_again(g) && rig_answer(g, 1, 11) == HSY_ANSWERED &&
           held(g, 1, 23, again, 4) && memcmp(first, again, 4) == 0,
       "a third truth reuses the oldest, also after opening again");
    ok(rig_spent(g, "usage") == 4 * EPS, "two slots were charged");
    rig_free(g);
}

/* Every memoised mechanism through the device. */
static void all_chains_answer(void)
{
    static const struct {
        const char *mechanism;
        hsy_kind kind;
        uint64_t nano, permanent;
    } cases[] = {
        {"rr", HSY_KIND_YES_NO, EPS, 2 * EPS},
        {"grr", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"sue", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"oue", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"olh", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"blh", HSY_KIND_STRINGS, EPS, 2 * EPS},
        {"dbitflip", HSY_KIND_BINS, EPS, 2 * EPS},
        {"onebit", HSY_KIND_NUMBER, EPS, 2 * EPS},
        {"rappor", HSY_KIND_STRINGS, 0, 0},
    };
    const size_t n = sizeof cases / sizeof cases[0];
    struct rig *g = rig_new();
    bool good = true;

    g->sources[0].nano_day = g->sources[0].nano_lifetime = 100 * EPS;
    g->policy.nano_day = 100 * EPS;
    for (size_t i = 0; i < n; i++) {
        hsy_spec spec = {.mechanism = cases[i].mechanism,
                         .kind = cases[i].kind,
                         .nano_epsilon = cases[i].nano};

        if (spec.kind == HSY_KIND_VALUES || spec.kind == HSY_KIND_BINS)
            spec.d = 16;
        if (spec.kind == HSY_KIND_NUMBER || spec.kind == HSY_KIND_BINS)
            spec.hi = 1440;
        if (strcmp(cases[i].mechanism, "dbitflip") == 0)
            spec.param[HSY_PARAM_BITS] = 4;
        if (cases[i].nano == 0) {
            spec.design = HSY_DESIGN_RAPPOR;
            spec.chance[0] = (hsy_ratio){1, 2};
            spec.chance[1] = (hsy_ratio){1, 2};
            spec.chance[2] = (hsy_ratio){3, 4};
            spec.param[HSY_PARAM_BITS] = 32;
            spec.param[HSY_PARAM_HASHES] = 2;
            spec.param[HSY_PARAM_COHORTS] = 64;
        }
        rig_task(g, cases[i].mechanism, "browser", spec, cases[i].permanent);
        if (cases[i].nano == 0) {
            g->task[i].permanent = g->scheme[i];
            g->task[i].slot_days = 10;
            g->task[i].round_days = 1;
        }
    }
    rig_begin(g);
    for (size_t k = 0; k < 3 * n; k++) {
        const uint32_t i = (uint32_t)(k % n), day = (uint32_t)(k / n);
        hsy_answer_state state = 0;
        hsy_truth t = {.type = HSY_TRUTH_INDEX};
        uint8_t report[64];

        if (cases[i].kind == HSY_KIND_STRINGS) {
            t.type = HSY_TRUTH_BYTES;
            t.u.bytes.data = "example.org";
            t.u.bytes.len = 11;
        } else if (g->release[i]->scheme->hi != 0) {
            t.type = HSY_TRUTH_NUMBER;
            t.u.number = 700;
        }
        rig_day(g, day);
        good &= hsy_device_answer(g->dev, g->release[i], &t, &state, NULL) ==
                    HSY_OK &&
                state == HSY_ANSWERED &&
                held(g, i, day, report, g->release[i]->scheme->report_bytes) &&
                hsy_check(g->release[i]->scheme, report) == HSY_OK;
    }
    ok(good, "all chains answer with reports of their schemes");
    /* 4 ln 3 = 4.394449154672: rounded up, for 2 hashes and f = 1/2. */
    ok(g->release[n - 1]->nano_slot == 4394449156 ||
           g->release[n - 1]->nano_slot == 4394449155,
       "RAPPOR is charged its permanent answer: %llu",
       (unsigned long long)g->release[n - 1]->nano_slot);
    rig_free(g);
}

/* A task under another name: the same coins, no new charge. */
static void a_renamed_task_is_the_same(void)
{
    struct rig *g = rig_new();
    uint8_t first[4], again[4];
    hsy_release_info a, b;

    rig_task(g, "old-name", "browser", values("sue", 32, EPS), EPS);
    rig_begin(g);
    rig_answer(g, 0, 3);
    held(g, 0, 0, first, 4);
    hsy_release_describe(g->release[0], &a);
    memset(g->task[0].id, 0, sizeof g->task[0].id);
    memcpy(g->task[0].id, "new", 3);
    g->task[0].release = 9;
    g->task[0].end += 40;
    g->task[0].question = "asked another way";
    g->task[0].question_len = 17;
    rig_publish(g);
    ok(rig_tasks(g) && rig_answer(g, 0, 7) == HSY_ANSWER_KEPT,
       "a renamed task has had its answer");
    hsy_release_describe(g->release[0], &b);
    ok(memcmp(a.digest, b.digest, HSY_DIGEST) == 0, "its digest is the same");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 7) == HSY_ANSWERED && held(g, 0, 1, again, 4) &&
           memcmp(first, again, 4) == 0 && rig_spent(g, "browser") == EPS,
       "and the permanent answer too, without a new charge");
    rig_free(g);
}

static void a_lower_epsilon_is_answered_from_the_older(void)
{
    static const char *const mechanisms[] = {"grr", "sue", "oue"};

    for (size_t m = 0; m < 3; m++) {
        struct rig *g = rig_new();
        uint8_t a[4] = {0}, b[4] = {1}, c[4] = {0};

        rig_task(g, "old", "browser", values(mechanisms[m], 30, 2 * EPS), 0);
        rig_task(g, "same", "browser", values(mechanisms[m], 30, 2 * EPS), 0);
        rig_task(g, "low", "browser", values(mechanisms[m], 30, EPS), 0);
        rig_task(g, "lower", "browser", values(mechanisms[m], 30, EPS / 2), 0);
        rig_task(g, "high", "browser", values(mechanisms[m], 30, 2 * EPS - 7),
                 0);
        rig_task(g, "else", "browser", values(mechanisms[m], 29, EPS), 0);
        g->task[1].answers = g->task[1].sends = 2; /* another release */
        rig_begin(g);
        ok(rig_answer(g, 0, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 2 * EPS,
           "%s: the first is charged", mechanisms[m]);
        ok(rig_answer(g, 1, 17) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 2 * EPS,
           "the same epsilon in another plan is free");
        held(g, 0, 0, a, 4);
        ok(held(g, 1, 0, b, 4) &&
               memcmp(a, b, g->release[0]->scheme->report_bytes) == 0,
           "and the same answer, whatever the truth is by now");
        ok(rig_answer(g, 2, 5) == HSY_ANSWERED &&
               rig_answer(g, 3, 5) == HSY_ANSWERED &&
               rig_answer(g, 4, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 2 * EPS && held(g, 2, 0, c, 4),
           "lower ones are free");
        ok(rig_answer(g, 5, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 3 * EPS,
           "another domain is charged in full");
        rig_day(g, 1);
        ok(rig_answer(g, 2, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 4 * EPS &&
               rig_answer(g, 0, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 6 * EPS,
           "in a slot without the older answer it is charged, and a higher "
           "epsilon is");
        rig_free(g);
    }
}

/* Memoised, lowered: the chain hangs on the old key for the whole slot. */
static void a_lowered_slot_stays_so(void)
{
    struct rig *g = rig_new();
    uint8_t a[4], b[4];
    bool same = true;

    rig_task(g, "old", "browser", values("sue", 32, EPS), EPS);
    rig_task(g, "new", "browser", values("sue", 32, EPS), EPS);
    g->task[1].max_changes = 3; /* another release at the same epsilon */
    rig_begin(g);
    rig_answer(g, 0, 3);
    held(g, 0, 0, a, 4);
    for (uint32_t day = 0; day < 10; day++) {
        rig_day(g, day);
        same &= rig_answer(g, 1, 20 + day % 3) == HSY_ANSWERED &&
                held(g, 1, day, b, 4) && memcmp(a, b, 4) == 0;
        if (day == 4)
            same &= rig_again(g);
    }
    ok(same && rig_spent(g, "browser") == EPS,
       "a lowered slot repeats the older answer, free, whatever the truth is");
    rig_free(g);
}

/* Ten answers, of which three go out. */
static void reservoirs(void)
{
    struct rig *g = rig_new();
    size_t count[2];
    int states = 0;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].answers = 10;
    g->task[0].sends = 3;
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    g->task[1].answers = 10;
    g->task[1].sends = 3;
    rig_begin(g);
    for (int i = 0; i < 12; i++)
        states += rig_answer(g, 0, (uint32_t)i % 4) ==
                  (i < 10 ? HSY_ANSWERED : HSY_ANSWER_KEPT);
    ok(states == 12, "ten answers are taken, then the round has them");
    ok(rig_spent(g, "browser") == 3 * EPS, "three are charged");
    rig_answer(g, 1, 1);
    rig_day(g, 1);
    rig_send(g, count);
    ok(count[0] == 4 && count[1] == 2,
       "three go out; where one was answered, one and two nulls");
    rig_free(g);
}

static void truths_outside_the_domain(void)
{
    struct rig *g = rig_new();
    const hsy_spec number = {.mechanism = "onebit",
                             .kind = HSY_KIND_NUMBER,
                             .lo = -5,
                             .hi = 100,
                             .nano_epsilon = EPS};
    hsy_truth t = {.type = HSY_TRUTH_NUMBER};
    uint64_t low, high, a, b;
    hsy_scheme *s;
    hsy_truth item;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].other = 2;
    rig_task(g, "n", "usage", number, 0);
    rig_begin(g);
    s = g->release[0]->scheme;
    item = index_truth(77);
    ok(hsy_truth_total(s, &a, &item, 2, NULL) == HSY_OK && a == 2,
       "an unlisted value is `other`");
    ok(hsy_truth_total(s, &a, &item, HSY_TASK_CLOSED, NULL) == HSY_OK && a == 3,
       "in a closed list the last one");
    ok(rig_answer(g, 0, UINT32_MAX) == HSY_ANSWERED, "and is answered");
    s = g->release[1]->scheme;
    t.u.number = INT64_MIN;
    hsy_truth_total(s, &low, &t, 0, NULL);
    t.u.number = INT64_MAX;
    hsy_truth_total(s, &high, &t, 0, NULL);
    t.u.number = -5;
    hsy_truth_total(s, &a, &t, 0, NULL);
    t.u.number = 100;
    hsy_truth_total(s, &b, &t, 0, NULL);
    ok(low == 0 && a == 0 && high == 105 && b == 105,
       "a number outside its range is at its nearer end");
    for (int64_t x = -5; x <= 100; x++) {
        t.u.number = x;
        hsy_truth_total(s, &a, &t, 0, NULL);
        hsy_truth_code(s, &b, &t, NULL);
        if (a != b)
            break;
        if (x == 100)
            ok(true, "inside the range nothing is changed");
    }
    ok(a == b, "total and plain codes agree");
    rig_free(g);
}

/* ---- The shape of an answer ---------------------------------------------- */

static void no_truth_shows_in_what_is_written(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);
    uint32_t stores = 0, different = 0;
    size_t stored = 0;

    rig_task(g, "a", "browser", values("grr", 64, EPS), 2 * EPS);
    g->task[0].max_changes = 3;
    rig_begin(g);
    rig_answer(g, 0, 0);
    *kept = g->world;
    for (uint32_t truth = 0; truth < 64; truth++) {
        g->world = *kept;
        rig_again(g);
        rig_day(g, 1);
        g->world.stores = 0;
        g->world.stored = 0;
        different += rig_answer(g, 0, truth) != HSY_ANSWERED;
        if (truth != 0)
            different += g->world.stores != stores || g->world.stored != stored;
        stores = g->world.stores;
        stored = g->world.stored;
    }
    ok(different == 0 && stores == 2,
       "64 truths, the same or new: two stores of one size");
    free(kept);
    rig_free(g);
}

static void equal_states_have_equal_bytes(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    *kept = g->world;
    rig_answer(g, 0, 2);
    ok(memcmp(g->world.file[1].bytes, g->world.file[2].bytes,
              g->world.file[1].len) == 0,
       "both copies are the same");
    {
        struct file *once = malloc(sizeof *once);

        *once = g->world.file[1];
        g->world = *kept;
        rig_again(g);
        rig_answer(g, 0, 2);
        ok(once->len == g->world.file[1].len &&
               memcmp(once->bytes, g->world.file[1].bytes, once->len) == 0,
           "and the same history gives the same bytes");
        free(once);
    }
    free(kept);
    rig_free(g);
}

/* ---- Uploads ------------------------------------------------------------- */

static void every_round_sends(void)
{
    struct rig *g = rig_new();
    uint8_t one[4096], two[4096];
    hsy_upload head;
    size_t count[2], len, again;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 1);
    ok(rig_next(g, one, &len) == HSY_E_END, "before the round's end nothing");
    rig_day(g, 1);
    ok(rig_next(g, one, &len) == HSY_OK && rig_again(g) &&
           rig_next(g, two, &again) == HSY_OK && len == again &&
           memcmp(one, two, len) == 0,
       "the same bytes come until they are acknowledged");
    ok(hsy_upload_decode(&head, one, NULL) == HSY_OK &&
           head.epoch == DAY0 + 1 && head.count == 1 &&
           head.checksum == hsy_crc32c(0, one + HSY_UPLOAD_WIRE, head.length) &&
           len == HSY_UPLOAD_WIRE + head.length,
       "an upload is well formed, its epoch the day it is due");
    rig_send(g, count);
    ok(count[0] == 1 && count[1] == 1, "an answer, and a null upload");
    ok(rig_sent(g, one, len) == HSY_OK, "acknowledged twice is no harm");
    one[80] ^= 1;
    ok(rig_sent(g, one, len) == HSY_E_FORMAT, "a changed one is refused");
    ok(rig_again(g) && rig_next(g, one, &len) == HSY_E_END,
       "sent is sent, also after opening");
    rig_day(g, 4);
    rig_send(g, count);
    ok(count[0] == 0 && count[1] == 6, "three silent days: six null uploads");
    hsy_device_consent_set(g->dev, HSY_CONSENT_COLLECT, NULL);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "collected");
    rig_day(g, 5);
    ok(rig_next(g, one, &len) == HSY_E_END, "and not sent");
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    rig_send(g, count);
    ok(count[0] == 1 && count[1] == 1, "until the person agrees");
    rig_free(g);
}

static void old_rounds_are_given_up(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    g->task[1].grace_days = 2;
    rig_begin(g);
    for (uint32_t day = 0; day < 20; day++) {
        rig_day(g, day);
        rig_answer(g, 0, 1);
        if (day < 18)
            rig_answer(g, 1, 1);
    }
    rig_send(g, count);
    ok(count[0] == 7 + 2 && count[1] == 1,
       "of twenty days the last seven, or those within the grace: %zu and "
       "%zu null",
       count[0], count[1]);
    ok(world_entries(&g->world, HSY_ENTRY_DROPPED) == 12 + 10,
       "what was dropped is in the log: %zu",
       world_entries(&g->world, HSY_ENTRY_DROPPED));
    rig_free(g);
}

static void delays(void)
{
    struct rig *g = rig_new();
    uint64_t first = 0, last = 0;
    size_t got = 0, count[2];

    for (int i = 0; i < 16; i++) {
        char id[3] = {'t', (char)('a' + i), 0};

        rig_task(g, id, "browser", values("grr", (uint32_t)(3 + i), EPS), 0);
        g->task[i].delay_seconds = 80000;
    }
    rig_begin(g);
    for (uint64_t s = 0; s < 80000; s += 400) {
        g->world.now = (uint64_t)(DAY0 + 1) * DEVICE_DAY + s;
        rig_send(g, count);
        if (count[1] != 0 && got == 0)
            first = s;
        if (count[1] != 0)
            last = s;
        got += count[1];
    }
    ok(got == 16 && last - first > 20000,
       "16 uploads spread over their delay: %llu to %llu s",
       (unsigned long long)first, (unsigned long long)last);
    rig_free(g);
}

static void admission_starts_the_cadence(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_day(g, 5);
    rig_begin(g);
    rig_send(g, count);
    ok(count[0] + count[1] == 0, "no round before the admission is sent");
    rig_day(g, 6);
    ok(rig_again(g), "opened the next day");
    rig_send(g, count);
    ok(count[0] == 0 && count[1] == 1, "but the round of the admission is");
    rig_free(g);
}

static void the_last_round_is_sent(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].slot_days = 7;
    g->task[0].end = DAY0 + 10; /* the second slot is cut short */
    rig_begin(g);
    rig_day(g, 8);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "answered in the last slot");
    rig_day(g, 10);
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_CLOSED, "the task is over");
    ok(rig_again(g), "and still admitted");
    rig_send(g, count);
    ok(count[0] == 1 && count[1] == 1, "the last round is sent at the end");
    rig_free(g);
}

/* ---- Consent and forgetting ---------------------------------------------- */

static void forgetting(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 1);
    rig_answer(g, 1, 1);
    hsy_device_consent_set(g->dev, HSY_CONSENT_NONE, NULL);
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_KEPT, "the round has had its answer");
    rig_day(g, 1);
    rig_send(g, count);
    ok(count[0] == 0 && count[1] == 2,
       "without consent what waited is deleted; nulls go out");
    rig_answer(g, 0, 1);
    rig_answer(g, 1, 1);
    ok(hsy_device_forget(g->dev, "location", NULL) == HSY_E_UNKNOWN,
       "an unknown source cannot be forgotten");
    ok(hsy_device_forget(g->dev, "browser", NULL) == HSY_OK && rig_again(g),
       "a source is forgotten");
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_CLOSED &&
           rig_answer(g, 1, 1) == HSY_ANSWER_KEPT,
       "its releases are closed, others are not");
    ok(rig_spent(g, "browser") == 2 * EPS, "what was spent stays");
    rig_day(g, 2);
    rig_send(g, count);
    ok(count[0] == 1 && count[1] == 0, "and it sends nothing any more");
    rig_day(g, 30);
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_CLOSED, "for ever");
    ok(hsy_device_forget(g->dev, NULL, NULL) == HSY_OK &&
           rig_answer(g, 1, 1) == HSY_ANSWER_CLOSED,
       "or all of them");
    rig_free(g);
}

/* ---- Begin and end ------------------------------------------------------- */

static void without_waiting(void)
{
    struct rig *g = rig_new();
    hsy_truth t = index_truth(1);
    hsy_answer_state state;
    const uint8_t *bytes;
    uint64_t number;
    size_t len;
    hsy_budget b;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(hsy_device_end(g->dev, HSY_OK, NULL) == HSY_E_RANGE,
       "nothing was begun");
    g->world.stores = 0;
    ok(hsy_device_begin(g->dev, g->release[0], &t, &state, &bytes, &len,
                        &number, &g->err) == HSY_OK &&
           state == HSY_ANSWERED && len > 0 && g->world.stores == 0,
       "begin writes nothing itself");
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_BUSY &&
           hsy_device_budget(g->dev, NULL, &b, NULL) == HSY_E_BUSY &&
           world_entries(&g->world, HSY_ENTRY_ANSWER) == 0,
       "in between everything else is busy, and the log says nothing");
    world_store(&g->world, HSY_FILE_A, bytes, len);
    world_store(&g->world, HSY_FILE_B, bytes, len);
    ok(hsy_device_end(g->dev, HSY_OK, NULL) == HSY_OK &&
           world_entries(&g->world, HSY_ENTRY_ANSWER) == 1,
       "end: then it is answered");
    ok(hsy_device_begin(g->dev, g->release[0], &t, &state, &bytes, &len,
                        &number, &g->err) == HSY_OK &&
           state == HSY_ANSWER_KEPT && len == 0,
       "where nothing is to be written there is nothing to end");
    ok(rig_again(g) && rig_answer(g, 0, 1) == HSY_ANSWER_KEPT,
       "what the program wrote opens");
    rig_day(g, 1);
    hsy_device_begin(g->dev, g->release[0], &t, &state, &bytes, &len, &number,
                     NULL);
    ok(hsy_device_end(g->dev, HSY_E_IO, &g->err) == HSY_E_IO &&
           rig_answer(g, 0, 1) == -1,
       "a write that failed loses the device until it is opened again");
    rig_free(g);
}

/* ---- Coins --------------------------------------------------------------- */

struct hook {
    hsy_device *dev;
    uint32_t calls, fail_at;
};

static hsy_status hook_open(void *ctx, hsy_streams *room, hsy_coins *coins,
                            const hsy_context *context)
{
    struct hook *h = ctx;

    if (++h->calls == h->fail_at)
        return HSY_E_ENTROPY;
    hsy_streams_open(room, h->dev->keys.coins, context);
    *coins = hsy_streams_coins(room);
    return HSY_OK;
}

static void failing_coins_leave_no_trace(void)
{
    struct rig *g = rig_new();
    struct hook h = {0};
    bool good = true;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 2 * EPS);
    g->task[0].sample = (hsy_ratio){999999999, 1000000000};
    rig_begin(g);
    h.dev = g->dev;
    hsy_device_coins(g->dev, hook_open, &h);
    g->world.stores = 0;
    for (uint32_t i = 1; i <= 5; i++) {
        h = (struct hook){.dev = g->dev, .fail_at = i};
        good &= rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_ENTROPY &&
                rig_spent(g, NULL) == 0 && g->world.stores == 0;
    }
    ok(good, "each of five draws may fail: no answer, no charge, no write");
    h = (struct hook){.dev = g->dev};
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED && h.calls == 5,
       "then it is answered with all of them");
    rig_free(g);
}

/* ---- Sizes --------------------------------------------------------------- */

static void a_hundred_tasks(void)
{
    struct rig *g = rig_new();
    struct timespec from, to;
    double us, all = 0;
    bool good = true;

    g->policy.releases = 100;
    g->sources[0].nano_lifetime = g->sources[0].nano_day = 100000 * EPS;
    g->policy.nano_lifetime = g->policy.nano_day = 100000 * EPS;
    for (uint32_t i = 0; i < 100; i++) {
        char id[5] = {'t', (char)('0' + i / 10), (char)('0' + i % 10), 0};

        rig_task(g, id, "browser", values("sue", 1024, EPS + i), 2 * EPS + i);
    }
    rig_begin(g);
    for (uint32_t day = 0; day < 3; day++) {
        rig_day(g, day);
        for (uint32_t i = 100; i-- > 0;) {
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
            good &= rig_answer(g, i, 1) == HSY_ANSWERED;
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
            us = (double)(to.tv_sec - from.tv_sec) * 1e6 +
                 (double)(to.tv_nsec - from.tv_nsec) / 1e3;
            all += us;
        }
    }
    ok(good, "100 tasks with reports of 128 bytes are answered");
    ok(g->world.file[1].len < 65536, "the state takes %zu bytes",
       g->world.file[1].len);
    printf("# an answer takes %.1f us of CPU\n", all / 300);
    rig_free(g);
}

int main(void)
{
    a_device_is_made_once();
    damage_is_not_emptiness();
    one_bad_copy_is_mended();
    a_failing_store_stops_everything();
    restored_states();
    policies_and_worlds_are_checked();
    documents();
    admission();
    room_for_releases();
    states_of_an_answer();
    caps_hold();
    day_caps_hold();
    an_exhausted_slot_stays_so();
    sampled_slots();
    permanent_answers();
    all_chains_answer();
    a_renamed_task_is_the_same();
    a_lower_epsilon_is_answered_from_the_older();
    a_lowered_slot_stays_so();
    reservoirs();
    truths_outside_the_domain();
    no_truth_shows_in_what_is_written();
    equal_states_have_equal_bytes();
    every_round_sends();
    old_rounds_are_given_up();
    delays();
    admission_starts_the_cadence();
    the_last_round_is_sent();
    forgetting();
    without_waiting();
    failing_coins_leave_no_trace();
    a_hundred_tasks();
    return tap_done();
}
