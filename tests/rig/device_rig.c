/* device_rig.c - see device_rig.h. */

#include "rig/device_rig.h"

/* ---- A world of memory --------------------------------------------------- */

static hsy_status world_load(void *ctx, hsy_file file, uint8_t *buf,
                             size_t room, size_t *len)
{
    struct world *w = ctx;
    const struct file *f = &w->file[file];

    if (w->load != HSY_OK && (w->load_only == 0 || w->load_only == (int)file))
        return w->load;
    if (!f->there)
        return HSY_E_EMPTY;
    if (f->len > room)
        return HSY_E_RANGE;
    memcpy(buf, f->bytes, f->len);
    *len = f->len;
    return HSY_OK;
}

hsy_status world_store(void *ctx, hsy_file file, const uint8_t *buf, size_t len)
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

static bool world_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                         const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                         size_t len)
{
    (void)ctx;
    return world_signed(sig, key, bytes, len);
}

hsy_status world_anchor_read(void *ctx, uint64_t *number)
{
    struct world *w = ctx;

    *number = w->anchor;
    return w->anchor_status;
}

static hsy_status world_anchor_raise(void *ctx, uint64_t number)
{
    struct world *w = ctx;

    if (number > w->anchor)
        w->anchor = number;
    return HSY_OK;
}

static void world_log(void *ctx, const hsy_log_entry *entry)
{
    struct world *w = ctx;

    if (w->logged < WORLD_LOG)
        w->log[w->logged++] = *entry;
}

size_t world_entries(const struct world *w, uint32_t kind)
{
    size_t n = 0;

    for (size_t i = 0; i < w->logged; i++)
        n += w->log[i].kind == kind;
    return n;
}

/* ---- A device with its tasks --------------------------------------------- */

struct rig *rig_new(void)
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
                             .cap_day = 16 * EPS,
                             .cap_lifetime = 100 * EPS,
                             .releases = 16};
    memset(g->policy.sign_key, 1, HSY_SIGN_KEY);
    memset(g->signer, 1, HSY_SIGN_KEY);
    g->expires = DAY0 + 1000;
    return g;
}

void rig_free(struct rig *g)
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

hsy_task *rig_task(struct rig *g, const char *id, const char *source,
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

hsy_spec values(const char *mechanism, uint32_t d, uint64_t nano)
{
    return (hsy_spec){.mechanism = mechanism,
                      .kind = HSY_KIND_VALUES,
                      .d = d,
                      .nano_epsilon = nano};
}

hsy_status rig_open(struct rig *g, bool create)
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

void rig_publish(struct rig *g)
{
    hsy_document doc = {.version = ++g->version,
                        .issued = DAY0,
                        .expires = g->expires,
                        .parties = g->parties};

    memcpy(doc.next_key, g->next_key, HSY_SIGN_KEY);
    if (hsy_document_encode(&doc, NULL, 0, &g->len, g->task, g->tasks,
                            &g->err) != HSY_OK) {
        printf("# %s: %s\n", hsy_field_name(g->err.field), g->err.msg);
        exit(1);
    }
    free(g->bytes);
    g->bytes = calloc(1, g->len + HSY_SIGNATURE);
    if (g->bytes == NULL ||
        hsy_document_encode(&doc, g->bytes, g->len, &g->len, g->task, g->tasks,
                            NULL) != HSY_OK)
        exit(1);
    world_sign(g->bytes + g->len, g->signer, g->bytes, g->len);
    g->len += HSY_SIGNATURE;
}

hsy_status rig_take(struct rig *g)
{
    return hsy_device_accept_document(g->dev, &g->doc, g->bytes, g->len,
                                      &g->err);
}

hsy_status rig_admit(struct rig *g, uint32_t i)
{
    hsy_task task;

    if (i < g->doc.tasks) {
        hsy_document_task(&g->doc, &task, i);
        free(g->release[i]);
        g->release[i] = calloc(1, hsy_release_size(&task));
    }
    return hsy_device_admit(g->dev, g->release[i], &g->doc, i, &g->err);
}

bool rig_tasks(struct rig *g)
{
    bool good = rig_take(g) == HSY_OK;

    for (uint32_t i = 0; i < g->tasks && good; i++)
        good = rig_admit(g, i) == HSY_OK;
    if (!good)
        printf("# %s: %s\n", hsy_field_name(g->err.field), g->err.msg);
    return good;
}

void rig_begin(struct rig *g)
{
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_tasks(g) &&
           hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, &g->err) == HSY_OK,
       "a device is made, takes its tasks and has consent");
}

bool rig_again(struct rig *g)
{
    return rig_open(g, false) == HSY_OK && rig_tasks(g);
}

hsy_truth index_truth(uint32_t index)
{
    hsy_truth t = {.type = HSY_TRUTH_INDEX};

    t.u.index = index;
    return t;
}

hsy_release *rig_tuple(struct rig *g)
{
    const hsy_spec item = {.size = sizeof item,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = 8,
                           .nano_epsilon = EPS};
    uint8_t block[1024], wire[HSY_SCHEME_WIRE];
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "joint",
                     .kind = HSY_KIND_TUPLE,
                     .nano_epsilon = EPS};
    hsy_release *r = calloc(1, RIG_RELEASE);
    struct device_record *rec;
    hsy_task task;
    size_t len = 0;

    task = *rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    hsy_attribute_encode(
        block, sizeof block, &len,
        &(hsy_attribute){.name = "x", .name_len = 1, .spec = item}, NULL);
    hsy_attribute_encode(
        block, sizeof block, &len,
        &(hsy_attribute){.name = "y", .name_len = 1, .spec = item}, NULL);
    spec.labels = block;
    spec.labels_len = len;
    rig_wire(wire, &spec);
    task.scheme = wire;
    task.labels = block;
    task.labels_len = len;
    ok(r != NULL && hsy_release_init(r, &task, &g->err) == HSY_OK,
       "a release of tuples");
    rec = &g->dev->records[g->dev->nrecords];
    *rec = g->dev->records[0];
    memcpy(rec->digest, r->digest, HSY_DIGEST);
    rec->report_bytes = (uint32_t)r->scheme->report_bytes;
    ok(rec->window * device_round_bytes(rec) <= g->dev->policy.release_bytes,
       "its reports fit");
    hsy_state_add_record(g->dev);
    return r;
}

int rig_answer(struct rig *g, uint32_t i, uint32_t truth)
{
    hsy_truth t = index_truth(truth);
    hsy_answer_state state = 0;
    hsy_status st =
        hsy_device_answer(g->dev, &state, g->release[i], &t, &g->err);

    return st == HSY_OK ? (int)state : -1;
}

uint64_t rig_spent(struct rig *g, const char *source)
{
    hsy_budget b;

    return hsy_device_budget(g->dev, &b, source, NULL) == HSY_OK
               ? b.spent_lifetime
               : UINT64_MAX;
}

void rig_day(struct rig *g, uint32_t day)
{
    g->world.now = (uint64_t)(DAY0 + day) * DEVICE_DAY + 3600;
}

hsy_status rig_next(struct rig *g, uint8_t *upload, size_t *len)
{
    return hsy_device_next(g->dev, upload, 4096, len,
                           (const hsy_release *const *)g->release, g->tasks,
                           &g->err);
}

hsy_status rig_sent(struct rig *g, const uint8_t *upload, size_t len)
{
    return hsy_device_sent(g->dev, (const hsy_release *const *)g->release,
                           g->tasks, upload, len, &g->err);
}

void rig_send(struct rig *g, size_t count[2])
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

struct rig *rig_golden(void)
{
    struct rig *g = rig_new();
    uint8_t upload[4096];
    size_t len;

    rig_task(g, "fresh", "browser", values("grr", 4, EPS), 0);
    g->task[0].answers = 3;
    g->task[0].sends = 2;
    rig_task(g, "kept", "usage", values("sue", 20, EPS), 2 * EPS);
    g->task[1].max_changes = 2;
    rig_task(g, "lower", "usage", values("sue", 20, EPS), EPS);
    rig_begin(g);
    for (uint32_t day = 0; day < 3; day++) {
        rig_day(g, day);
        for (uint32_t i = 0; i < 3; i++)
            rig_answer(g, i, day);
    }
    if (rig_next(g, upload, &len) != HSY_OK ||
        rig_sent(g, upload, len) != HSY_OK)
        exit(1);
    return g;
}
