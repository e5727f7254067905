/*
 * fleet_device.c - one simulated device: the real one, its world in memory.
 *
 * In a life of days its clock only goes on. In one that is answered once it
 * takes the document now, is admitted to each task and answers it on the
 * task's day, and is looked at now again: the rounds in between have ended, and
 * what is due goes out, null uploads too. The device's day moves with answers
 * alone, so its clock may stand at now first and go back.
 */
#include "host/client/world.h"
#include "sim/fleet/internal.h"

#include <stdlib.h>
#include <string.h>

#define DEVICE_PLENTY                                                          \
    ((uint64_t)1 << 60)  /* nano-epsilon: caps are no matter                   \
                          */
#define DEVICE_ROUNDS 8u /* that a device keeps at most */

struct fleet_device {
    hsy_memory_world memory; /* first: its callbacks get the device */
    struct fleet *f;
    struct owned owned; /* all of its memory */
    hsy_policy policy;
    hsy_source *sources;
    uint8_t key[HSY_KEY];
    uint64_t number;
    hsy_device *dev;
    hsy_release **releases; /* of the order */
    bool *admitted;         /* which of them */
    const hsy_release **list;
    size_t nlist; /* those that are */
    uint8_t *upload;
    size_t room;
    bool verified; /* the document, once for all */
    bool report;   /* the last upload that was sealed has one in it */
};

/* ---- The world ----------------------------------------------------------- */

static hsy_status fleet_device_entropy(void *ctx, void *buf, size_t len)
{
    const struct fleet_device *d = ctx;

    if (len > sizeof d->key)
        return HSY_E_ENTROPY;
    memcpy(buf, d->key, len);
    return HSY_OK;
}

static bool fleet_device_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                                const uint8_t sig[HSY_SIGNATURE],
                                const uint8_t *bytes, size_t len)
{
    struct fleet_device *d = ctx;

    if (d->f->o.key != NULL && !d->verified)
        d->verified = hsy_sign_verify(key, sig, bytes, len);
    return d->f->o.key == NULL || d->verified;
}

static hsy_status fleet_device_seal(void *ctx, uint8_t *out, size_t len,
                                    const hsy_envelope *e)
{
    struct fleet_device *d = ctx;

    d->report = e->kind == HSY_UPLOAD_REPORTS;
    return hsy_world_seal(NULL, out, len, e);
}

/* ---- Room ---------------------------------------------------------------- */

static hsy_status fleet_device_policy(struct fleet_device *d, hsy_error *err)
{
    const struct fleet *f = d->f;
    hsy_policy *p = &d->policy;

    d->sources = owned_array(&d->owned, f->n, sizeof *d->sources);
    if (d->sources == NULL)
        return host_nomem(err);
    *p = (hsy_policy){.size = sizeof *p,
                      .sources = d->sources,
                      .cap_day = DEVICE_PLENTY,
                      .cap_lifetime = DEVICE_PLENTY,
                      .releases = (uint32_t)f->n + 1};
    memset(p->sign_key, 1, HSY_SIGN_KEY); /* zeros would be nobody's */
    if (f->o.key != NULL)
        memcpy(p->sign_key, f->o.key, HSY_SIGN_KEY);
    for (size_t i = 0; i < f->n; i++) {
        const struct fleet_task *t = &f->tasks[i];
        const size_t bytes =
            DEVICE_ROUNDS * t->task.sends * t->info.report_bytes;
        size_t k = 0;

        while (k < p->nsources && strcmp(d->sources[k].name, t->task.source))
            k++;
        if (k == p->nsources)
            d->sources[p->nsources++] =
                (hsy_source){.name = t->task.source,
                             .cap_answer = DEVICE_PLENTY,
                             .cap_day = DEVICE_PLENTY,
                             .cap_lifetime = DEVICE_PLENTY};
        p->release_bytes = bytes > p->release_bytes ? bytes : p->release_bytes;
    }
    return HSY_OK;
}

static hsy_status fleet_device_rooms(struct fleet_device *d, hsy_error *err)
{
    const struct fleet *f = d->f;

    d->dev = owned_array(&d->owned, 1, hsy_device_size(&d->policy));
    d->releases = owned_array(&d->owned, f->norder, sizeof *d->releases);
    d->admitted = owned_array(&d->owned, f->norder, sizeof *d->admitted);
    d->list = owned_array(&d->owned, f->norder, sizeof *d->list);
    if (d->owned.failed)
        return host_nomem(err);
    d->room = HSY_UPLOAD_WIRE;
    for (size_t k = 0; k < f->norder; k++) {
        const struct fleet_task *t = &f->tasks[f->order[k]];

        const size_t room = HSY_UPLOAD_WIRE + t->info.report_bytes + 8 +
                            ((size_t)t->task.shufflers + 1) * HSY_SEAL_LAYER;

        d->releases[k] = owned_array(&d->owned, 1, hsy_release_size(&t->task));
        if (room > d->room)
            d->room = room;
    }
    d->upload = owned_array(&d->owned, 1, d->room);
    return owned_all(&d->owned, err);
}

hsy_status fleet_device_new(struct fleet_device **out, struct fleet *f,
                            hsy_error *err)
{
    struct fleet_device *d = calloc(1, sizeof *d);
    hsy_status st;

    if (d == NULL)
        return host_nomem(err);
    *out = d;
    d->f = f;
    /* Nothing that is stored is read again, and nothing is ever restored. */
    hsy_memory_world_init(&d->memory, NULL, 0, 0, 0);
    d->memory.world.anchor_read = NULL;
    d->memory.world.anchor_raise = NULL;
    d->memory.world.entropy = (hsy_rng){fleet_device_entropy, d};
    d->memory.world.verify = fleet_device_verify;
    d->memory.world.seal = fleet_device_seal;
    st = fleet_device_policy(d, err);
    return st == HSY_OK ? fleet_device_rooms(d, err) : st;
}

void fleet_device_free(struct fleet_device *d)
{
    if (d == NULL)
        return;
    if (d->dev != NULL)
        hsy_device_close(d->dev);
    owned_free(&d->owned);
    free(d);
}

/* ---- A life -------------------------------------------------------------- */

/* Write down what it thinks, if that went into a report. */
static void fleet_device_note(struct fleet_task *t, const hsy_truth *truth,
                              size_t place, const hsy_release *r)
{
    hsy_release_info info;
    uint64_t code = place;

    t->answered++;
    if (truth->type == HSY_TRUTH_NUMBER)
        t->sum += (double)truth->u.number;
    if (t->info.kind == HSY_KIND_NUMBER)
        return;
    if (t->info.kind == HSY_KIND_BINS) {
        hsy_release_describe(r, &info);
        hsy_truth_code(info.scheme, &code, truth, NULL);
    }
    t->counts[code < t->ncounts ? code : t->ncounts - 1]++;
}

/* What the person thinks about task k of the order, always the same. */
static void fleet_device_truth(const struct fleet_device *d, size_t k,
                               hsy_truth *truth, size_t *place)
{
    const struct fleet_task *t = &d->f->tasks[d->f->order[k]];
    hsy_stream coins;

    hsy_stream_seed(&coins, d->f->o.seed, d->number * HSY_TASKS_MAX + t->place);
    fleet_law_draw(t, truth, place, &coins);
}

/* Task k, admitted when it is first asked and answered now, the same truth as
 * often as it takes answers. *first: whether this was a new report's. */
static hsy_status fleet_device_answer(struct fleet_device *d, size_t k,
                                      bool *first, hsy_error *err)
{
    const struct fleet_task *t = &d->f->tasks[d->f->order[k]];
    hsy_answer_state state = HSY_ANSWERED;
    hsy_truth truth;
    size_t place;
    hsy_status st = HSY_OK;

    *first = false;
    if (!d->admitted[k])
        st = hsy_device_admit(d->dev, d->releases[k], &d->f->document, t->place,
                              err);
    if (st == HSY_OK && !d->admitted[k]) {
        d->admitted[k] = true;
        d->list[d->nlist++] = d->releases[k];
    }
    fleet_device_truth(d, k, &truth, &place);
    for (uint32_t i = 0;
         st == HSY_OK && state == HSY_ANSWERED && i < t->task.answers; i++) {
        st = hsy_device_answer(d->dev, &state, d->releases[k], &truth, err);
        if (st == HSY_OK && state == HSY_ANSWERED && i == 0)
            *first = true;
    }
    return st;
}

static size_t fleet_device_task(const struct fleet *f, const hsy_upload *head)
{
    size_t i = 0;

    while (i + 1 < f->n && strcmp(f->tasks[i].task.id, head->task) != 0)
        i++;
    return i;
}

/* Task k's truth goes into the counts. */
static void fleet_device_count(struct fleet_device *d, size_t k)
{
    hsy_truth truth;
    size_t place;

    fleet_device_truth(d, k, &truth, &place);
    fleet_device_note(&d->f->tasks[d->f->order[k]], &truth, place,
                      d->releases[k]);
}

/* An upload was handed on: in a life of days that is when a truth counts. */
static void fleet_device_handed(struct fleet_device *d, size_t task)
{
    size_t k = 0;

    while (k + 1 < d->f->norder && d->f->order[k] != task)
        k++;
    fleet_device_count(d, k);
}

/* What an upload is about. */
static hsy_status fleet_device_read(const struct fleet_device *d,
                                    struct fleet_upload *u, hsy_error *err)
{
    const hsy_status st = hsy_upload_decode(&u->head, u->bytes, err);

    if (st != HSY_OK)
        return st;
    u->task = fleet_device_task(d->f, &u->head);
    u->report = u->head.kind == HSY_UPLOAD_SEALED
                    ? d->report
                    : u->head.kind == HSY_UPLOAD_REPORTS;
    return HSY_OK;
}

/* Everything that is due now, or has been for a while. */
static hsy_status fleet_device_send(struct fleet_device *d, fleet_each *each,
                                    void *ctx, hsy_error *err)
{
    hsy_status st;

    for (;;) {
        struct fleet_upload u = {.bytes = d->upload};

        st = hsy_device_next(d->dev, d->upload, d->room, &u.len, d->list,
                             d->nlist, err);
        if (st != HSY_OK)
            return st == HSY_E_END ? HSY_OK : st;
        st = fleet_device_read(d, &u, err);
        if (st == HSY_OK)
            st = each(ctx, &u, err);
        if (st == HSY_OK && d->f->o.days != 0 && u.report)
            fleet_device_handed(d, u.task);
        if (st == HSY_OK)
            st = hsy_device_sent(d->dev, d->list, d->nlist, d->upload, u.len,
                                 err);
        if (st != HSY_OK)
            return st;
    }
}

hsy_status fleet_device_begin(struct fleet_device *d, uint64_t number,
                              uint64_t now, hsy_error *err)
{
    struct sim_device coins;
    hsy_document doc;
    hsy_status st;

    sim_device_init(&coins, NULL, d->f->o.seed, number);
    memcpy(d->key, coins.key, sizeof d->key);
    d->number = number;
    d->memory.seconds = now;
    d->nlist = 0;
    memset(d->admitted, 0, d->f->norder * sizeof *d->admitted);
    st = hsy_device_create(d->dev, &d->policy, &d->memory.world, err);
    if (st == HSY_OK)
        st = hsy_device_consent_set(d->dev, HSY_CONSENT_SEND, err);
    if (st == HSY_OK)
        st = hsy_device_accept_document(d->dev, &doc, d->f->bytes,
                                        d->f->document.len, err);
    return st;
}

hsy_status fleet_device_live(struct fleet_device *d, uint64_t number,
                             fleet_each *each, void *ctx, hsy_error *err)
{
    const uint64_t now = d->f->o.now;
    hsy_status st = fleet_device_begin(d, number, now, err);

    for (size_t k = 0; st == HSY_OK && k < d->f->norder; k++) {
        bool first;

        d->memory.seconds =
            (uint64_t)d->f->tasks[d->f->order[k]].day * FLEET_DAY + FLEET_NOON;
        st = fleet_device_answer(d, k, &first, err);
        if (first)
            fleet_device_count(d, k);
    }
    d->memory.seconds = now;
    if (st == HSY_OK)
        st = fleet_device_send(d, each, ctx, err);
    hsy_device_close(d->dev);
    return st;
}

hsy_status fleet_device_day(struct fleet_device *d, uint64_t now, bool answers,
                            fleet_each *each, void *ctx, hsy_error *err)
{
    const uint64_t day = now / FLEET_DAY;
    hsy_status st;

    d->memory.seconds = now;
    st = fleet_device_send(d, each, ctx, err);
    for (size_t k = 0; st == HSY_OK && answers && k < d->f->norder; k++) {
        const hsy_task *t = &d->f->tasks[d->f->order[k]].task;
        bool first;

        if (day >= t->start && day < t->end)
            st = fleet_device_answer(d, k, &first, err);
    }
    return st;
}
