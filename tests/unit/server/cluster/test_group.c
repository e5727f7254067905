/* Tests of src/server/cluster/cluster_group.c: what is new in a group, and what
 * is written of it, without a database. */
#include "rig/engine_rig.h"
#include "server/cluster/internal.h"
#include "tap.h"

#define GROUP_MOST 16u

static struct rig rig;

/* A submission with some uploads, as a lane holds it. */
struct ask {
    struct submission s;
    struct intake_upload uploads[GROUP_MOST];
    uint8_t payloads[GROUP_MOST][RIG_PAYLOAD];
    struct cluster_piece pieces[GROUP_MOST];
    struct cluster_ticket t;
};

/* Uploads of cells, the id of each in `ids`: all bytes of a name, so that its
 * columns are known. */
static void ask_fill(struct ask *a, const uint8_t *ids, const uint32_t *cells,
                     size_t n)
{
    memset(a, 0, sizeof *a);
    a->s.in.uploads = a->uploads;
    a->s.in.n = n;
    a->t = (struct cluster_ticket){
        .submission = &a->s, .npieces = n, .pieces = a->pieces};
    for (size_t i = 0; i < n; i++) {
        const struct rig_upload of = {.task = cells[i] % 2,
                                      .epoch = RIG_DAY,
                                      .kind = 1,
                                      .id = ids[i],
                                      .n = 1,
                                      .first = cells[i]};

        rig_fill(&rig, &a->uploads[i], a->payloads[i], &of);
        a->pieces[i].upload = &a->uploads[i];
        memset(&a->pieces[i].name, 0, sizeof a->pieces[i].name);
        a->pieces[i].name.id[7] = ids[i];
        a->pieces[i].name.content[0] = (uint8_t)cells[i];
    }
}

static void group_of(struct group *g, struct ask *a, size_t n)
{
    group_begin(g);
    for (size_t i = 0; i < n; i++)
        ok(group_add(g, &a[i].t, 0), "a request joins a group");
    ok(group_sort(g), "and the group is sorted");
    for (size_t i = 0; i < g->n; i++)
        g->items[i].may = INTAKE_COUNTED;
}

/* ---- Order --------------------------------------------------------------- */

static void rows_are_locked_in_one_order(void)
{
    static struct ask a[2];
    struct group g = {0};
    bool sorted = true;

    ask_fill(&a[0], (const uint8_t[]){9, 3, 200}, (const uint32_t[]){1, 2, 3},
             3);
    ask_fill(&a[1], (const uint8_t[]){5, 3}, (const uint32_t[]){4, 5}, 2);
    a[1].uploads[0].head.epoch = RIG_DAY - 1;
    a[0].pieces[2].shard = 1;
    group_of(&g, a, 2);
    is_u64(g.n, 4, "what goes to another shard is not in it");
    for (size_t i = 1; i < g.n; i++)
        sorted &= g.items[i - 1].epoch < g.items[i].epoch ||
                  (g.items[i - 1].epoch == g.items[i].epoch &&
                   g.items[i - 1].id <= g.items[i].id);
    ok(sorted && g.items[0].epoch == RIG_DAY - 1, "by epoch, then by id");
    ok(group_epoch(&g, 0) == 1 && group_epoch(&g, 1) == 3,
       "epochs follow each other");
    ok(!g.items[1].follows && g.items[2].follows && !g.items[3].follows &&
           g.items[1].order < g.items[2].order,
       "of one id the first that came is first");
    group_free(&g);
}

/* ---- Verdicts ------------------------------------------------------------ */

static void verdicts_follow_the_first(void)
{
    static struct ask a;
    struct group g = {0};

    /* 1: new, again, other; 2: there with the same; 3: there with other; 4:
     * refused, the same again, and with other bytes; 5: neither. */
    ask_fill(&a, (const uint8_t[]){1, 1, 1, 2, 3, 4, 4, 4, 5},
             (const uint32_t[]){10, 10, 11, 12, 13, 14, 14, 15, 16}, 9);
    group_of(&g, &a, 1);
    group_new(&g, 0, g.n, g.items[0].id);
    group_there(&g, 0, g.n, g.items[3].id, g.items[3].rest);
    group_there(&g, 0, g.n, g.items[4].id, g.items[4].rest + 1);
    group_there(&g, 0, g.n, g.items[0].id, 7); /* it is new: not believed */
    group_new(&g, 0, g.n, 12345);              /* nobody's */
    g.items[5].may = INTAKE_FULL;
    group_judge(&g);
    ok(g.items[0].verdict == INTAKE_COUNTED &&
           g.items[1].verdict == INTAKE_AGAIN &&
           g.items[2].verdict == INTAKE_CONFLICT,
       "the first is counted, the same again, another a conflict");
    ok(g.items[3].verdict == INTAKE_AGAIN &&
           g.items[4].verdict == INTAKE_CONFLICT,
       "what is there: by its bytes");
    ok(g.items[5].verdict == INTAKE_FULL && g.items[6].verdict == INTAKE_FULL &&
           g.items[7].verdict == INTAKE_DOUBT,
       "what is refused is refused again, and other bytes are to come again");
    ok(g.items[8].verdict == INTAKE_DOUBT,
       "neither new nor there is never acknowledged");
    group_free(&g);
}

/* ---- Quotas -------------------------------------------------------------- */

static void quotas_go_to_who_came_first(void)
{
    static struct ask a[2];
    struct group g = {0};
    bool right = true;

    /* Later ids came first. */
    ask_fill(&a[0], (const uint8_t[]){9, 8, 7}, (const uint32_t[]){2, 4, 6}, 3);
    ask_fill(&a[1], (const uint8_t[]){6, 5}, (const uint32_t[]){8, 10}, 2);
    for (size_t i = 0; i < 2; i++) {
        a[i].s.quota = 4;
        a[i].s.token[0] = 1;
        for (size_t k = 0; k < a[i].s.in.n; k++)
            a[i].uploads[k].enrolled = true;
    }
    a[1].uploads[1].enrolled = false;
    group_of(&g, a, 2);
    ok(group_quotas(&g) && g.nquotas == 1, "one token, one row");
    for (size_t i = 0; i < g.n; i++)
        group_new(&g, 0, g.n, g.items[i].id);
    g.quotas[0].used = 2;
    group_spend(&g);
    group_judge(&g);
    for (size_t i = 0; i < g.n; i++) {
        const int64_t id = g.items[i].id;

        right &=
            g.items[i].verdict ==
            (id == 9 || id == 8 || id == 5 ? INTAKE_COUNTED : INTAKE_QUOTA);
    }
    ok(right, "two are left of the quota, and go to the first two");
    is_u64((uint64_t)g.quotas[0].added, 2, "which is what the row gets");
    ok(group_slots(&g) && g.nslots == 1 && g.slots[0].enrolled == 2 &&
           g.slots[0].ids == 1 && g.slots[0].reports == 3,
       "and only they are written");
    group_free(&g);
}

static void tokens_and_epochs_are_apart(void)
{
    static struct ask a[3];
    struct group g = {0};

    for (size_t i = 0; i < 3; i++) {
        const uint8_t id = (uint8_t)(1 + i);
        const uint32_t cell = (uint32_t)(2 * i);

        ask_fill(&a[i], &id, &cell, 1);
        a[i].s.quota = 1;
        a[i].s.token[0] = (uint8_t)(i == 1 ? 2 : 1);
        a[i].uploads[0].enrolled = true;
    }
    a[2].uploads[0].head.epoch = RIG_DAY - 1;
    group_of(&g, a, 3);
    ok(group_quotas(&g) && g.nquotas == 3, "a row a token and epoch");
    for (size_t i = 0; i < g.n; i++)
        g.items[i].fresh = true;
    group_spend(&g);
    ok(g.items[0].may == INTAKE_COUNTED && g.items[1].may == INTAKE_COUNTED &&
           g.items[2].may == INTAKE_COUNTED,
       "each has its own");
    group_free(&g);
}

/* ---- Slots --------------------------------------------------------------- */

static void slots_say_nothing_of_who_came_when(void)
{
    static struct ask a, b;
    struct group g = {0}, h = {0};
    bool same;

    ask_fill(&a, (const uint8_t[]){1, 2, 3, 4}, (const uint32_t[]){8, 2, 4, 6},
             4);
    ask_fill(&b, (const uint8_t[]){4, 3, 2, 1}, (const uint32_t[]){2, 8, 6, 4},
             4);
    a.uploads[3].head.kind = b.uploads[2].head.kind = HSY_UPLOAD_NULL;
    group_of(&g, &a, 1);
    group_of(&h, &b, 1);
    for (size_t i = 0; i < 4; i++)
        g.items[i].fresh = h.items[i].fresh = true;
    ok(group_slots(&g) && group_slots(&h), "slots are made");
    same = g.nslots == 1 && h.nslots == 1 && g.slots[0].len == h.slots[0].len &&
           memcmp(g.slots[0].bytes, h.slots[0].bytes, g.slots[0].len) == 0;
    ok(same && g.slots[0].reports == 3 && g.slots[0].nulls == 1,
       "the same reports in another order, with other ids: the same bytes");
    group_begin(&g);
    is_u64(g.nslots, 0, "a new group has none");
    group_free(&g);
    group_free(&h);
}

int main(void)
{
    if (!rig_open(&rig))
        return 1;
    rows_are_locked_in_one_order();
    verdicts_follow_the_first();
    quotas_go_to_who_came_first();
    tokens_and_epochs_are_apart();
    slots_say_nothing_of_who_came_when();
    rig_close(&rig);
    return tap_done();
}
