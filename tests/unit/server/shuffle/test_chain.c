/*
 * Tests of src/server/shuffle with the engine and real seals, all parties in
 * one process: devices seal reports, two shufflers and a collector pass them
 * on by pieces. Each report is a cell of its own; wherever the process is
 * killed, every acknowledged one is counted once.
 */
#define _GNU_SOURCE

#include "rig/sanitized.h"
#include "rig/store_disk.h"
#include "rig/store_rig.h"
#include "server/shuffle/hops.h"
#include "tap.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define CHAIN_HOPS 2u
#define CHAIN_PARTIES (CHAIN_HOPS + 1) /* the collector is the last */
#define CHAIN_DAY 20600u
#define CHAIN_MIN 5u
#define CHAIN_CELLS 64u
#define CHAIN_UPLOADS 24u
#define CHAIN_PIECE 700u /* bytes of a delivery's piece: many, and uneven */

static char chain_root[64], chain_at[CHAIN_PARTIES][96];

/* What devices and operators have, made once. */
static struct {
    uint8_t sign[CHAIN_PARTIES][HSY_SIGN_KEY];
    uint8_t secret[CHAIN_PARTIES][HSY_SIGN_SECRET];
    uint8_t pub[CHAIN_PARTIES][SEAL_KEY], key[CHAIN_PARTIES][SEAL_KEY];
    uint8_t statements[CHAIN_HOPS][HSY_STATEMENT_WIRE];
    uint8_t *document;
    size_t document_len;
} chain;

/* Outside of the process: what was acknowledged, and the day. */
static struct {
    bool told[CHAIN_UPLOADS];
    uint32_t day;
} * chain_world;

/* ---- The task ------------------------------------------------------------ */

static void chain_statement(uint32_t place)
{
    hsy_statement s = {.task = "veiled",
                       .release = 1,
                       .place = place,
                       .of = CHAIN_HOPS,
                       .min_batch = CHAIN_MIN,
                       .max_wait = 2,
                       .close_after_seconds = 21600,
                       .from = CHAIN_DAY - 10,
                       .until = CHAIN_DAY + 100,
                       .operated_by = "Example"};
    uint8_t *wire = chain.statements[place - 1];

    memcpy(s.sign_key, chain.sign[place - 1], sizeof s.sign_key);
    memcpy(s.seal_key, chain.pub[place - 1], sizeof s.seal_key);
    if (hsy_statement_encode(wire, &s, NULL) != HSY_OK ||
        hsy_sign(wire + HSY_STATEMENT_SIGNED, wire, HSY_STATEMENT_SIGNED,
                 chain.secret[place - 1]) != HSY_OK)
        ok(false, "a statement is made");
}

static void chain_document(void)
{
    const hsy_document head = {
        .version = 1, .issued = CHAIN_DAY, .expires = CHAIN_DAY + 90};
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = CHAIN_CELLS,
                           .nano_epsilon = HSY_NANO};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    uint8_t wire[HSY_SCHEME_WIRE];
    const hsy_task task = {.id = "veiled",
                           .release = 1,
                           .source = "rig",
                           .question = "Which?",
                           .question_len = 6,
                           .start = CHAIN_DAY - 10,
                           .end = CHAIN_DAY + 100,
                           .slot_days = 1,
                           .max_changes = 1,
                           .answers = 1,
                           .sends = 1,
                           .sample = {1, 1},
                           .other = HSY_TASK_CLOSED,
                           .scheme = wire,
                           .model = HSY_MODEL_SHUFFLED,
                           .flags = HSY_TASK_RELAY,
                           .shufflers = CHAIN_HOPS,
                           .min_batch = CHAIN_MIN,
                           .max_wait = 2,
                           .close_after_seconds = 21600,
                           .assume_honest = {9, 10},
                           .delta = {1, 100000000},
                           .nano_central = HSY_NANO,
                           .statements = chain.statements[0],
                           .collector_key = chain.pub[CHAIN_HOPS]};
    hsy_error err = {0};

    hsy_scheme_init(s, &spec, NULL);
    hsy_scheme_encode(s, wire);
    free(s);
    if (hsy_document_encode(&head, NULL, 0, &chain.document_len, &task, 1,
                            &err) != HSY_OK)
        ok(false, "a document is made: %s", err.msg);
    chain.document = calloc(1, chain.document_len + HSY_SIGNATURE);
    hsy_document_encode(&head, chain.document, chain.document_len,
                        &chain.document_len, &task, 1, NULL);
    chain.document_len += HSY_SIGNATURE;
}

/* ---- A party ------------------------------------------------------------- */

struct party {
    size_t number; /* the collector is CHAIN_HOPS */
    struct store *store;
    struct store_state state;
    struct engine *e;
    struct roster *roster;
    struct hops_keys keys;
    struct mixer *mixer;
    struct inbox *inbox;
};

static void chain_moment(void *ctx)
{
    (void)ctx;
    if (++disk.ops == disk.kill_at)
        _exit(9);
}

static hsy_status chain_peel(void *ctx, uint8_t *out, bool *late,
                             const struct mixer_task *task, uint32_t epoch,
                             const uint8_t *id, const uint8_t *envelope)
{
    const struct party *p = ctx;

    return hops_peel(&p->keys, out, late, task, epoch, id, envelope);
}

static bool chain_find(void *ctx, const struct batch_head *head,
                       struct inbox_task *out)
{
    const struct party *p = ctx;

    return hops_find(p->roster, &p->keys, p->number == CHAIN_HOPS, head, out);
}

static hsy_status chain_open(void *ctx, const struct inbox_task *task,
                             uint8_t *item, bool *null, const uint8_t *envelope)
{
    const struct party *p = ctx;
    struct engine_status status;

    engine_status(p->e, &status);
    return hops_open(p->roster, &p->keys, task, status.day, item, null,
                     envelope);
}

static hsy_status chain_here(void *ctx, const struct batch_head *head,
                             bool *here, hsy_error *err)
{
    const struct party *p = ctx;
    struct store_received row;
    hsy_status st = p->store->ops->received(p->store, head->id, &row, err);

    *here = st == HSY_OK;
    if (st == HSY_OK &&
        memcmp(row.digest, head->digest, sizeof row.digest) != 0)
        return HSY_E_MISMATCH;
    return st == HSY_E_EMPTY ? HSY_OK : st;
}

static hsy_status chain_take(void *ctx, struct engine_delivery *d,
                             hsy_error *err)
{
    struct party *p = ctx;
    hsy_status st = engine_receive(p->e, d, err);

    if (st == HSY_OK && d->mix != NULL && !d->known)
        st = mixer_came(p->mixer, d->mix, err);
    return st;
}

static hsy_status party_engine(struct party *p, hsy_error *err)
{
    const struct engine_options o = {.ids_epoch = 1 << 20,
                                     .fold_bytes = 1 << 20,
                                     .tally_bytes = 1 << 24,
                                     .day_words = 2000,
                                     .keep_days = 5,
                                     .grace_days = 2,
                                     .clock_days = 12,
                                     .driven_clock = true};
    hsy_status st = engine_open(&p->e, p->store, &p->state, &o, err);

    if (st == HSY_OK)
        st = engine_set_document(p->e, chain.document, chain.document_len, err);
    if (st == HSY_OK)
        p->roster = engine_roster(p->e);
    return st;
}

static hsy_status party_mixer(struct party *p, hsy_error *err)
{
    static hsy_entropy entropy;
    struct mixer_options o = {.size = sizeof o,
                              .store = p->store,
                              .directory = chain_at[p->number],
                              .peel = chain_peel,
                              .moment = chain_moment,
                              .ctx = p};
    struct mixer_task tasks[4];
    hsy_status st;

    hsy_entropy_init(&entropy);
    o.rng = hsy_entropy_coins(&entropy).secret;
    memcpy(o.key, chain.sign[p->number], sizeof o.key);
    memcpy(o.secret, chain.secret[p->number], sizeof o.secret);
    st = mixer_open(&p->mixer, &o, err);
    return st == HSY_OK
               ? mixer_tasks(p->mixer, tasks,
                             hops_mixer_tasks(tasks, p->roster, &p->keys), err)
               : st;
}

static hsy_status party_inbox(struct party *p, hsy_error *err)
{
    struct inbox_options o = {.size = sizeof o,
                              .directory = chain_at[p->number],
                              .find = chain_find,
                              .open = chain_open,
                              .here = chain_here,
                              .take = chain_take,
                              .ctx = p};

    memcpy(o.secret, chain.secret[p->number], sizeof o.secret);
    return inbox_open(&p->inbox, &o, err);
}

static hsy_status party_open(struct party *p, size_t number)
{
    hsy_error err = {0};
    hsy_status st;

    *p = (struct party){.number = number};
    memcpy(p->keys.sign, chain.sign[number], sizeof p->keys.sign);
    memcpy(p->keys.collector, chain.sign[CHAIN_HOPS], sizeof p->keys.collector);
    memcpy(p->keys.seal[0].pub, chain.pub[number], SEAL_KEY);
    memcpy(p->keys.seal[0].secret, chain.key[number], SEAL_KEY);
    p->keys.nseal = 1;
    st = store_sqlite_open(&p->store, &p->state, chain_at[number], true, &err);
    if (st == HSY_OK)
        st = party_engine(p, &err);
    if (st == HSY_OK && number != CHAIN_HOPS)
        st = party_mixer(p, &err);
    if (st == HSY_OK && number != 0)
        st = party_inbox(p, &err);
    if (st != HSY_OK)
        ok(false, "party %zu opens: %s", number, err.msg);
    return st;
}

static void party_close(struct party *p)
{
    mixer_close(p->mixer);
    inbox_close(p->inbox);
    engine_close(p->e);
    roster_drop(p->roster);
    if (p->store != NULL)
        p->store->ops->close(p->store);
    *p = (struct party){.number = p->number};
}

/* ---- Devices ------------------------------------------------------------- */

/* Upload i: its epoch, and what it is. */
static uint32_t chain_epoch(size_t i)
{
    return CHAIN_DAY + (i < 13 ? 0 : i < 16 ? 1 : 2);
}

enum { CHAIN_NULL = 3, CHAIN_BROKEN = 7, CHAIN_ODD = 11 };

/* Whom a device seals for: one was given a document with another key of the
 * collector, whose terms differ too (chain_upload). */
static void chain_pubs(uint8_t pubs[CHAIN_PARTIES][SEAL_KEY], size_t i)
{
    static const uint8_t secret[SEAL_KEY] = {0x77};

    memcpy(pubs, chain.pub, sizeof chain.pub);
    if (i == CHAIN_ODD && seal_public(pubs[CHAIN_HOPS], secret) != HSY_OK)
        ok(false, "there is another key");
}

/* Sealed as a device does; a retry has the same bytes. */
static uint8_t *chain_upload(const struct roster_entry *e, size_t i,
                             size_t *len)
{
    uint8_t *wire = calloc(1, HSY_UPLOAD_WIRE + e->sealed_bytes);
    const uint8_t report = (uint8_t)i;
    uint8_t packed[8], seed[SEAL_SEED] = {(uint8_t)i};
    uint8_t pubs[CHAIN_PARTIES][SEAL_KEY], terms[HSY_DIGEST];
    hsy_upload head = {.kind = HSY_UPLOAD_SEALED,
                       .task = "veiled",
                       .release = 1,
                       .epoch = chain_epoch(i),
                       .count = 1,
                       .length = (uint32_t)e->sealed_bytes};
    struct seal_place at = {.task = "veiled",
                            .release = 1,
                            .digest = e->digest,
                            .epoch = head.epoch,
                            .id = head.id,
                            .terms = terms};

    memcpy(terms, e->terms, sizeof terms);
    terms[0] ^= i == CHAIN_ODD;
    memcpy(head.digest, e->digest, sizeof head.digest);
    memset(head.id, (int)i + 1, sizeof head.id);
    hsy_pack(e->scheme, packed, &report, 1);
    chain_pubs(pubs, i);
    if (seal_onion(wire + HSY_UPLOAD_WIRE, (const uint8_t(*)[SEAL_KEY])pubs,
                   CHAIN_PARTIES, &at, seed,
                   i == CHAIN_NULL ? SEAL_NULL : SEAL_REPORT, packed,
                   hsy_packed_size(e->scheme, 1)) != HSY_OK)
        ok(false, "a report is sealed");
    if (i == CHAIN_BROKEN)
        wire[HSY_UPLOAD_WIRE + 60] ^= 1;
    head.checksum = hsy_crc32c(0, wire + HSY_UPLOAD_WIRE, (size_t)head.length);
    hsy_upload_encode(wire, &head, NULL);
    *len = HSY_UPLOAD_WIRE + e->sealed_bytes;
    return wire;
}

static uint32_t chain_most(void *ctx, struct intake_upload *u)
{
    (void)ctx;
    (void)u;
    return 1;
}

/* All uploads of a day that were not acknowledged yet, to the first shuffler;
 * one of those that were comes again. */
static hsy_status chain_send(struct party *p, uint32_t day)
{
    const struct roster_entry *e = roster_at(p->roster, 0);
    const struct intake_gate gate = {.most = chain_most,
                                     .shuffler = chain.sign[0]};
    hsy_error err = {0};
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < CHAIN_UPLOADS; i++) {
        struct submission s = {.next = NULL};
        size_t len;
        uint8_t *body;

        if (chain_epoch(i) != day || (chain_world->told[i] && i % 5 != 0))
            continue;
        body = chain_upload(e, i, &len);
        st = intake_read(&s.in, p->roster, engine_days(p->e), &gate,
                         INTAKE_BINARY, body, len, &err);
        if (st == HSY_OK)
            st = engine_admit(p->e, &s, &err);
        if (st == HSY_OK && s.in.uploads[0].verdict > INTAKE_AGAIN)
            st = HSY_E_REFUSED;
        chain_world->told[i] = chain_world->told[i] || st == HSY_OK;
        intake_clear(&s.in);
    }
    return st;
}

/* ---- Delivery ------------------------------------------------------------ */

static hsy_status chain_pieces(struct party *from, struct party *to,
                               const struct mixer_parcel *parcel,
                               struct inbox_answer *a, hsy_error *err)
{
    const uint64_t heads = (uint64_t)(from->number + 1) * BATCH_HEAD;
    uint8_t bytes[STORE_HEADS];
    hsy_status st =
        mixer_parcel_read(from->mixer, parcel, bytes, 0, heads, err);

    if (st == HSY_OK)
        st = inbox_begin(to->inbox, bytes, heads, a, err);
    while (st == HSY_OK && !a->done && heads + a->at < parcel->bytes) {
        const uint64_t left = parcel->bytes - heads - a->at;
        const size_t n = left < CHAIN_PIECE ? (size_t)left : CHAIN_PIECE;

        st = mixer_parcel_read(from->mixer, parcel, bytes, heads + a->at, n,
                               err);
        chain_moment(NULL);
        if (st == HSY_OK)
            st = inbox_piece(to->inbox, parcel->id, a->at, bytes, n, err);
        a->at += n;
    }
    return st;
}

static hsy_status chain_deliver(struct party *from, struct party *to)
{
    struct mixer_parcel parcel;
    hsy_error err = {0};
    hsy_status st = HSY_OK;

    while (st == HSY_OK && mixer_parcel(from->mixer, NULL, &parcel)) {
        struct inbox_answer a = {.done = false};

        st = chain_pieces(from, to, &parcel, &a, &err);
        if (st == HSY_OK && !a.done)
            st = inbox_end(to->inbox, parcel.id, &a, &err);
        chain_moment(NULL); /* the receipt may be lost */
        if (st == HSY_OK)
            st = mixer_acked(from->mixer, parcel.id, a.receipt, &err);
    }
    if (st != HSY_OK)
        ok(false, "a batch is delivered to %zu: %s", to->number, err.msg);
    return st;
}

static hsy_status chain_steps(struct party *p)
{
    hsy_error err = {0};
    hsy_status st = HSY_OK;
    bool more = true;

    while (st == HSY_OK && more)
        st = mixer_step(p->mixer, &more, &err);
    return st;
}

/* ---- A life -------------------------------------------------------------- */

static hsy_status chain_tell(struct party *p, uint32_t day, uint32_t hours)
{
    const struct engine_time now = {
        .wall = (uint64_t)day * 86400 + (uint64_t)hours * 3600,
        .steady = (uint64_t)day * 86400 + (uint64_t)hours * 3600};

    return engine_tell(p->e, now, NULL);
}

static hsy_status chain_decide(struct party *p, uint32_t day)
{
    struct engine_status status;
    struct mixer_time now = {.wall = (uint64_t)day * 86400 + 7 * 3600};
    hsy_error err;

    engine_status(p->e, &status);
    now.day = status.day;
    now.seq = status.seq;
    now.closed = engine_days(p->e).first - 1;
    return mixer_decide(p->mixer, &now, &err);
}

static hsy_status chain_day(struct party *p, uint32_t day)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < CHAIN_PARTIES; i++)
        st = chain_tell(&p[i], day, 12);
    if (st == HSY_OK)
        st = chain_send(&p[0], day);
    for (size_t i = 0; st == HSY_OK && i < CHAIN_PARTIES; i++)
        st = chain_tell(&p[i], day + 1, 7);
    for (size_t i = 0; st == HSY_OK && i < CHAIN_HOPS; i++) {
        st = chain_decide(&p[i], day + 1);
        if (st == HSY_OK)
            st = chain_steps(&p[i]);
        if (st == HSY_OK)
            st = chain_deliver(&p[i], &p[i + 1]);
        if (st == HSY_OK)
            st = chain_steps(&p[i]);
    }
    return st;
}

static hsy_status chain_live(struct party *p)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < CHAIN_PARTIES; i++)
        p[i] = (struct party){.number = i};
    for (size_t i = 0; st == HSY_OK && i < CHAIN_PARTIES; i++)
        st = party_open(&p[i], i);
    for (; st == HSY_OK && chain_world->day < CHAIN_DAY + 3;
         chain_world->day += st == HSY_OK)
        st = chain_day(p, chain_world->day);
    return st;
}

static void chain_close(struct party *p)
{
    for (size_t i = 0; i < CHAIN_PARTIES; i++)
        party_close(&p[i]);
}

static bool chain_killed(uint64_t at)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        static struct party p[CHAIN_PARTIES];
        hsy_status st;

        disk_reset();
        disk.kill_at = at;
        st = chain_live(p);
        chain_close(p);
        _exit(st == HSY_OK ? 0 : 1);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
        ok(false, "a life ended otherwise at operation %llu",
           (unsigned long long)at);
    return WIFEXITED(status) && WEXITSTATUS(status) == 9;
}

static void chain_fresh(void)
{
    static const char *const parts[] = {"mixed", "incoming"};

    for (size_t i = 0; i < CHAIN_PARTIES; i++) {
        for (size_t k = 0; k < 2; k++) {
            char path[512];

            snprintf(path, sizeof path, "%s/%s", chain_at[i], parts[k]);
            rig_remove(path);
        }
        rig_remove(chain_at[i]);
        mkdir(chain_at[i], 0700);
    }
    memset(chain_world, 0, sizeof *chain_world);
    chain_world->day = CHAIN_DAY;
    disk_reset();
}

/* ---- What must be true --------------------------------------------------- */

/* The cells of the collector, which has everything. NULL, or what is wrong. */
static const char *chain_cells(struct party *c)
{
    const struct roster_entry *e = roster_at(c->roster, 0);
    int64_t *words = calloc(e->words, sizeof *words);
    const int64_t *cells;
    const char *wrong = NULL;
    hsy_error err = {0};
    hsy_tally t;
    bool more = true;

    while (more && engine_fold(c->e, &more, &err) == HSY_OK)
        ;
    hsy_tally_init(&t, e->scheme, words);
    cells = t.cells;
    if (engine_copy(c->e, 0, 0, 0, words, &err) != HSY_OK)
        wrong = "there is no tally";
    for (size_t i = 0; wrong == NULL && i < CHAIN_UPLOADS; i++) {
        const int64_t want =
            i != CHAIN_NULL && i != CHAIN_BROKEN && i != CHAIN_ODD;

        if (cells[i] != want)
            wrong = cells[i] < want ? "one is lost" : "one came twice";
    }
    free(words);
    return wrong;
}

/* Those of the first day, and of the two after it together; what the task says
 * of them goes along. */
static const char *chain_batches(struct party *c)
{
    const struct roster_entry *e = roster_at(c->roster, 0);
    struct engine_rounds of = {.unknown = 0};
    const hsy_batches *row = of.batches.list;
    const char *wrong = NULL;

    if (engine_rounds(&of, c->e, e, 0, 0, NULL) != HSY_OK || of.batches.n != 1)
        wrong = "it is not known in which batches they came";
    else if (row->batches != 2 || row->least != 10 || row->reports != 21)
        wrong = "the batches are others than there were";
    else if (row->honest.num != 9 || row->delta.den != 100000000 ||
             row->nano_central != HSY_NANO)
        wrong = "the task promised something else";
    rounds_clear(&of.rounds);
    return wrong;
}

static const char *chain_wrong(void)
{
    struct store_count counts[4];
    struct party c;
    const char *wrong;
    uint64_t nulls = 0;
    size_t n;

    for (size_t i = 0; i < CHAIN_UPLOADS; i++)
        if (!chain_world->told[i])
            return "one was never acknowledged";
    if (party_open(&c, CHAIN_HOPS) != HSY_OK)
        return "the collector does not open";
    wrong = chain_cells(&c);
    if (wrong == NULL)
        wrong = chain_batches(&c);
    n = engine_counts(c.e, 0, counts, 4);
    for (size_t i = 0; i < n && i < 4; i++)
        nulls += counts[i].nulls;
    if (wrong == NULL && nulls != 1)
        wrong = "the null upload is not counted as one";
    party_close(&c);
    for (size_t i = 0; wrong == NULL && i < CHAIN_HOPS; i++)
        if (rig_sql(chain_at[i], "record.db", "SELECT count(*) FROM batches") !=
            0)
            wrong = "a shuffler has kept envelopes";
    return wrong;
}

/* What the first shuffler says of the first day's batch, as the collector keeps
 * it: its head follows the second one's. */
static bool chain_dropped(void)
{
    uint8_t id[STORE_BATCH_ID], heads[STORE_HEADS];
    struct batch_head first = {.n = 0};
    hsy_error err = {0};
    size_t len = 0;
    struct party c;
    bool dropped;

    if (party_open(&c, CHAIN_HOPS) != HSY_OK)
        return false;
    batch_id(id, chain.sign[CHAIN_HOPS - 1], "veiled", 1, CHAIN_DAY, 0);
    dropped = c.store->ops->heads(c.store, id, heads, &len, &err) == HSY_OK &&
              eq_u64(len, CHAIN_HOPS * BATCH_HEAD) &&
              batch_head_read(&first, heads + BATCH_HEAD, &err) == HSY_OK &&
              eq_u64(first.in, 13) && eq_u64(first.n, 11) &&
              eq_u64(first.unopened, 2);
    party_close(&c);
    return dropped;
}

static void a_quiet_life(void)
{
    const char *wrong;

    chain_fresh();
    ok(!chain_killed(0), "a life without a kill");
    wrong = chain_wrong();
    ok(wrong == NULL, "each report is counted once: %s",
       wrong == NULL ? "yes" : wrong);
    is_int(rig_sql(chain_at[CHAIN_HOPS], "record.db",
                   "SELECT count(*) FROM received"),
           2, "in two batches: three of the second day waited");
    is_int(rig_sql(chain_at[0], "record.db",
                   "SELECT n FROM mixes WHERE epoch = 20600"),
           11, "of the first day 11 opened");
    ok(chain_dropped(), "the broken one and the one for an odd key are dropped "
                        "by the first shuffler, and counted");
    is_int(rig_sql(chain_at[CHAIN_HOPS], "record.db",
                   "SELECT sum(unopened) FROM received"),
           0, "neither comes to the collector");
}

static void killed_anywhere(void)
{
    const bool every = getenv("HSY_TEST_LONG") != NULL;
    const uint64_t step = every ? 1 : TEST_SANITIZED ? 211 : 17;
    const char *wrong = NULL;
    uint64_t kills = 0, at = 1;

    for (; wrong == NULL; at += step) {
        chain_fresh();
        if (!chain_killed(at))
            break;
        kills++;
        if (chain_killed(1 + at * 7 % 151))
            kills++;
        chain_killed(0);
        wrong = chain_wrong();
    }
    ok(wrong == NULL && kills > 8,
       "killed %llu times, up to operation %llu: %s", (unsigned long long)kills,
       (unsigned long long)at, wrong == NULL ? "lost 0, doubled 0" : wrong);
}

/* ---- Replays ------------------------------------------------------------- */

/* A batch of place `hops` as shufflers send it, whoever they work with. */
struct copy {
    uint32_t hops;
    uint8_t *bytes;
    size_t len;
};

static struct copy copied(struct party *from)
{
    struct copy c = {.hops = (uint32_t)from->number + 1};
    struct mixer_parcel parcel;

    if (!mixer_parcel(from->mixer, NULL, &parcel) ||
        (c.bytes = malloc(parcel.bytes)) == NULL ||
        mixer_parcel_read(from->mixer, &parcel, c.bytes, 0, parcel.bytes,
                          NULL) != HSY_OK)
        ok(false, "shuffler %u has a batch", c.hops);
    c.len = parcel.bytes;
    return c;
}

/* All shufflers up to it sign it with another epoch and part. */
static void sign_again(struct copy *c, uint32_t epoch, uint32_t part)
{
    for (uint32_t place = 1; place <= c->hops; place++) {
        uint8_t *at = c->bytes + (place == c->hops ? 0 : place) * BATCH_HEAD;
        struct batch_head h;
        hsy_error err;

        batch_head_read(&h, at, &err);
        h.epoch = epoch;
        h.part = part;
        batch_id(h.id, chain.sign[place - 1], h.task, 1, epoch, part);
        if (place == c->hops)
            hsy_blake2b(h.digest, sizeof h.digest, c->bytes + BATCH_HEAD,
                        c->len - BATCH_HEAD, NULL, 0);
        batch_head_write(at, &h, chain.secret[place - 1], &err);
    }
}

static hsy_status offer(struct party *to, const struct copy *c)
{
    const size_t heads = c->hops * BATCH_HEAD;
    struct inbox_answer a;
    struct batch_head h;
    hsy_error err;
    hsy_status st = batch_head_read(&h, c->bytes, &err);

    if (st == HSY_OK)
        st = inbox_begin(to->inbox, c->bytes, heads, &a, &err);
    if (st == HSY_OK)
        st = inbox_piece(to->inbox, h.id, 0, c->bytes + heads, c->len - heads,
                         &err);
    return st == HSY_OK ? inbox_end(to->inbox, h.id, &a, &err) : st;
}

/* Reports and null uploads that the collector has counted. */
static uint64_t counted(struct party *collector)
{
    struct store_count counts[16];
    const size_t n = engine_counts(collector->e, 0, counts, 16);
    uint64_t all = 0;

    for (size_t i = 0; i < n && i < 16; i++)
        all += counts[i].reports + counts[i].nulls;
    return all;
}

/* The clocks of all go on to a day. */
static void go_on(struct party *p, uint32_t *today, uint32_t day)
{
    for (; *today < day; ++*today)
        for (size_t i = 0; i < CHAIN_PARTIES; i++)
            if (chain_tell(&p[i], *today + 1, 7) != HSY_OK ||
                (i < CHAIN_HOPS && chain_decide(&p[i], *today + 1) != HSY_OK))
                ok(false, "the clock of party %zu goes on", i);
}

/* Envelopes in a batch that the second shuffler makes of another. */
static uint64_t passed_on(struct party *second)
{
    struct mixer_parcel parcel = {.n = 0};

    return chain_steps(second) == HSY_OK &&
                   mixer_parcel(second->mixer, NULL, &parcel)
               ? parcel.n
               : 0;
}

#define CHAIN_END (CHAIN_DAY / SEAL_PERIOD_DAYS * SEAL_PERIOD_DAYS + 31)

/* The first batch arrives on a day, and comes again on others. */
static void replayed(uint32_t arrives)
{
    const uint32_t next = CHAIN_END + SEAL_PERIOD_DAYS;
    const uint32_t days[] = {arrives, arrives + 1, next, next + 1, next + 112};
    struct party p[CHAIN_PARTIES];
    uint32_t today = CHAIN_DAY, twice = 0;
    struct copy sent[CHAIN_HOPS];

    chain_fresh();
    for (size_t i = 0; i < CHAIN_PARTIES; i++)
        if (party_open(&p[i], i) != HSY_OK ||
            chain_tell(&p[i], today, 12) != HSY_OK)
            return;
    chain_send(&p[0], today);
    go_on(p, &today, today + 1);
    chain_steps(&p[0]);
    sent[0] = copied(&p[0]);
    go_on(p, &today, arrives);
    chain_deliver(&p[0], &p[1]);
    is_u64(passed_on(&p[1]), 11, "day %u: the second shuffler mixes a batch",
           arrives);
    sent[1] = copied(&p[1]);
    chain_deliver(&p[1], &p[CHAIN_HOPS]);
    is_u64(counted(&p[CHAIN_HOPS]), 11, "all of it is counted");
    for (uint32_t i = 0; i < 2 * sizeof days / sizeof *days; i++) {
        go_on(p, &today, days[i / 2]);
        for (size_t k = 0; k < CHAIN_HOPS; k++) {
            sign_again(&sent[k], i % 2 == 0 ? CHAIN_DAY : today - 1, 1 + i);
            offer(&p[k + 1], &sent[k]);
        }
        twice += passed_on(&p[1]) != 0 || counted(&p[CHAIN_HOPS]) != 11;
    }
    is_u64(twice, 0,
           "again on %zu days, under its own epoch and a new one: the second "
           "shuffler mixes none of it, and the collector counts none twice",
           sizeof days / sizeof *days);
    is_int(rig_sql(chain_at[CHAIN_HOPS], "record.db",
                   "SELECT count(*) FROM received WHERE unopened = 11"),
           4, "two periods later the collector opens none of it");
    is_int(rig_sql(chain_at[1], "record.db",
                   "SELECT coalesce(sum(n), 0) FROM mixes WHERE state = 7"),
           11, "nor does the shuffler, once it has forgotten the envelopes");
    chain_close(p);
    free(sent[0].bytes);
    free(sent[1].bytes);
}

int main(void)
{
    if (!rig_root(chain_root))
        return 1;
    chain_world = mmap(NULL, sizeof *chain_world, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < CHAIN_PARTIES; i++) {
        snprintf(chain_at[i], sizeof chain_at[i], "%s/%zu", chain_root, i);
        if (hsy_sign_keypair(chain.sign[i], chain.secret[i]) != HSY_OK ||
            seal_keypair(chain.pub[i], chain.key[i]) != HSY_OK)
            return 1;
    }
    for (uint32_t place = 1; place <= CHAIN_HOPS; place++)
        chain_statement(place);
    chain_document();
    disk_begin();

    a_quiet_life();
    replayed(CHAIN_DAY + 1);
    replayed(CHAIN_END + SEAL_PERIOD_DAYS - 1);
    killed_anywhere();

    chain_fresh();
    for (size_t i = 0; i < CHAIN_PARTIES; i++)
        rmdir(chain_at[i]);
    rmdir(chain_root);
    free(chain.document);
    return tap_done();
}
