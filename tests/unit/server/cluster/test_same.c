/*
 * test_same.c - one machine and a cluster say the same of the same: every
 * verdict, and every word of every tally (rig/twins.h). With HSY_PG, which
 * names two databases (tests/e2e/cluster_same.t):
 *
 *     test_same            10,000 requests, or 10^6 with HSY_TEST_LONG
 *     test_same N SEED     N of them from a seed
 */
#define _GNU_SOURCE
#include "rig/cluster_db.h"
#include "rig/twins.h"
#include "server/cluster/internal.h"
#include "tap.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define SAME_GROUP 64u /* requests that are handed in together, at most */
#define SAME_CHECK 40u /* groups between looks at all tallies */
#define SAME_KEEP 5u   /* days */
#define SAME_NODES 2u
#define SAME_SIDES (1 + SAME_NODES)

/* One machine, and the nodes of a cluster. */
static struct same {
    struct counting *sides[SAME_SIDES];
    size_t n;
    struct twins t;
    uint64_t differ, requests, uploads, verdicts[INTAKE_VERDICTS];
    uint64_t deliveries, again, merges, documents, retired, looks, doubts;
    char directory[64];
} same;

static _Atomic uint64_t same_now; /* seconds, for all */

static uint64_t same_clock(void *ctx)
{
    (void)ctx;
    return same_now;
}

static bool same_enrols(void *ctx, const char *task)
{
    (void)ctx;
    return strcmp(task, twins_ids[TWINS_ENROLLED]) == 0;
}

static void same_failed(void *ctx, const hsy_error *err)
{
    (void)ctx;
    fprintf(stderr, "the store failed: %s\n", err->msg);
    abort();
}

static void same_differ(const char *what, uint64_t mine, uint64_t other)
{
    if (same.differ++ < 8)
        printf("# %s: %" PRIu64 " on one machine, %" PRIu64 " on many, after "
               "%" PRIu64 " requests\n",
               what, mine, other, same.requests);
}

static void same_equal(const char *what, uint64_t mine, uint64_t other)
{
    if (mine != other)
        same_differ(what, mine, other);
}

/* ---- Opening ------------------------------------------------------------- */

static const struct engine_options same_engine = {.ids_epoch = 1 << 24,
                                                  .fold_bytes = 1 << 26,
                                                  .tally_bytes = 1 << 28,
                                                  .day_words = 2000,
                                                  .keep_days = SAME_KEEP,
                                                  .grace_days = 2,
                                                  .clock_days = 12,
                                                  .driven_clock = true};

static char *same_urls[3]; /* of two shards, and NULL */

static bool same_split(void)
{
    const char *all = getenv("HSY_PG");
    const char *next = all != NULL ? strstr(all, ",postgresql://") : NULL;

    if (next == NULL)
        return false;
    same_urls[0] = strndup(all, (size_t)(next - all));
    same_urls[1] = strdup(next + 1);
    return true;
}

static bool same_empty(const char *url)
{
    char reason[PG_REASON];
    struct pg_place *place;
    bool good = pg_place_open(&place, url, reason, NULL) == HSY_OK &&
                db_do(place, "drop schema if exists hearsay cascade");

    pg_place_close(place);
    return good;
}

static bool same_start(struct counting *c)
{
    const struct workers_options o = {.waiting_bytes = 1 << 26,
                                      .checkpoint_secs = 1,
                                      .write_bytes = 1 << 20,
                                      .now = same_clock,
                                      .look_micros = 15000,
                                      .failed = same_failed};

    return c->ops->start(c, &o, NULL) == HSY_OK;
}

static bool same_cluster(size_t shards, size_t nodes)
{
    char *const urls[] = {same_urls[0], shards > 1 ? same_urls[1] : NULL, NULL};
    struct cluster_options o = {.storage = urls,
                                .rehearsal = true,
                                .now = same_clock,
                                .waiting_bytes = 1 << 26,
                                .keep_days = SAME_KEEP,
                                .enrols = same_enrols};
    static const char *const names[] = {"a", "b"};
    char reason[PG_REASON] = "";
    hsy_error err = {0};
    const char *about;
    size_t made = 0;
    bool good = same_empty(urls[0]) && same_empty(same_urls[1]) &&
                cluster_init(&o, &made, &about, reason, &err) == HSY_OK &&
                made == shards;

    for (size_t i = 0; i < nodes && good; i++) {
        o.node = names[i];
        good = cluster_open(&same.sides[same.n], &o, &same_engine, &about,
                            reason, &err) == HSY_OK &&
               same_start(same.sides[same.n++]);
    }
    if (!good)
        fprintf(stderr, "the cluster: %s %s\n", reason, err.msg);
    return good;
}

static bool same_open(size_t shards, size_t nodes, uint64_t seed)
{
    memset(&same, 0, sizeof same);
    same.t = (struct twins){.random = seed, .release = 1, .day = TWINS_DAY};
    same_now = TWINS_DAY * UINT64_C(86400) + 43200;
    strcpy(same.directory, "/tmp/hearsay-same.XXXXXX");
    return mkdtemp(same.directory) != NULL &&
           counting_local_open(&same.sides[same.n++], same.directory, true,
                               &same_engine, NULL) == HSY_OK &&
           same_start(same.sides[0]) && same_cluster(shards, nodes);
}

static void same_remove(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *file;

    while (d != NULL && (file = readdir(d)) != NULL)
        (void)unlinkat(dirfd(d), file->d_name, 0);
    if (d != NULL)
        closedir(d);
    rmdir(directory);
}

static void same_close(void)
{
    for (size_t i = 0; i < same.n; i++)
        counting_close(same.sides[i]);
    roster_drop(same.t.roster);
    twins_clear(&same.t);
    same_remove(same.directory);
}

/* ---- Until all know ------------------------------------------------------ */

/* Two whole rounds of every keeper: what was there before them is known. */
static void same_wait(void)
{
    for (size_t i = 1; i < same.n; i++) {
        struct cluster *c = cluster_of(same.sides[i]);
        uint64_t from = UINT64_MAX, at = 0;

        while (from == UINT64_MAX || at < from + 2) {
            pthread_mutex_lock(&c->lock);
            at = c->kept;
            pthread_mutex_unlock(&c->lock);
            from = from == UINT64_MAX ? at : from;
            usleep(2000);
        }
    }
}

static void same_day(uint32_t day)
{
    same.t.day = day;
    same_now = day * UINT64_C(86400) + 43200;
    for (size_t i = 0; i < same.n; i++) {
        struct engine_status is = {0};

        while (is.day != day) {
            engine_status(same.sides[i]->view, &is);
            usleep(1000);
        }
    }
    same_wait();
}

static void same_document(void)
{
    struct counting *to =
        same.sides[1 + twins_below(&same.t, 64) % (same.n - 1)];
    size_t len;
    uint8_t *bytes = twins_document(&same.t, &len);

    same_equal("a document",
               same.sides[0]->ops->document(same.sides[0], bytes, len, NULL),
               to->ops->document(to, bytes, len, NULL));
    for (size_t i = 1; i < same.n; i++)
        while (mirror_version(same.sides[i]->view) != same.t.version)
            usleep(1000);
    same_wait();
    free(bytes);
    roster_drop(same.t.roster);
    same.t.roster = engine_roster(same.sides[0]->view);
    same.documents++;
}

/* ---- Requests ------------------------------------------------------------ */

static _Atomic uint32_t same_left;

static void same_done(struct submission *s)
{
    (void)s;
    same_left--;
}

/* Hand in some submissions of a side together, and wait for all. */
static void same_submit(struct counting *c, struct submission *s, size_t n)
{
    same_left = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        s[i].done = same_done;
        while (!counting_submit(c, &s[i]))
            usleep(1000);
    }
    while (same_left != 0)
        usleep(200);
}

/* A database that was slow is asked again, as a device does. */
static void same_again(struct counting *c, struct submission *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool doubt = true;

        while (doubt) {
            doubt = false;
            for (size_t k = 0; k < s[i].in.n; k++)
                doubt |= s[i].in.uploads[k].verdict == INTAKE_DOUBT;
            for (size_t k = 0; doubt && k < s[i].in.n; k++)
                if (s[i].in.uploads[k].verdict == INTAKE_DOUBT)
                    s[i].in.uploads[k].verdict = INTAKE_COUNTED;
            same.doubts += doubt;
            if (doubt)
                same_submit(c, &s[i], 1);
        }
    }
}

static void same_verdicts(const struct twins_request *q,
                          const struct submission *mine,
                          const struct submission *other)
{
    same_equal("the outcome", mine->outcome, other->outcome);
    for (size_t i = 0; i < mine->in.n; i++) {
        const enum intake_verdict is = mine->in.uploads[i].verdict;
        const enum intake_verdict was = other->in.uploads[i].verdict;

        same.uploads++;
        same.verdicts[is]++;
        if (is != was &&
            !(same.doubts != 0 && is == INTAKE_COUNTED && was == INTAKE_AGAIN))
            same_differ("a verdict", is, was);
        twins_settle(&same.t, q, i, is);
    }
}

/* Requests as one group on each side. late: the day ends between reading and
 * counting. */
static void same_group(bool late)
{
    static struct twins_request asked[SAME_GROUP];
    static struct submission s[2][SAME_GROUP];
    const size_t n = 1 + twins_below(&same.t, SAME_GROUP);
    struct counting *const who[2] = {
        same.sides[0], same.sides[1 + twins_below(&same.t, 64) % (same.n - 1)]};

    memset(s, 0, sizeof s);
    for (size_t i = 0; i < n; i++) {
        twins_ask(&same.t, &asked[i]);
        for (size_t k = 0; k < 2; k++) {
            struct roster *roster = engine_roster(who[k]->view);

            if (!twins_read(&asked[i], &s[k][i], roster,
                            engine_days(who[k]->view)))
                same_differ("a request that is not read", i, k);
            roster_drop(roster);
        }
    }
    if (late)
        same_day(same.t.day + 1 + twins_below(&same.t, 3));
    for (size_t k = 0; k < 2; k++)
        same_submit(who[k], s[k], n);
    same_again(who[1], s[1], n);
    for (size_t i = 0; i < n; i++) {
        same_verdicts(&asked[i], &s[0][i], &s[1][i]);
        intake_clear(&s[0][i].in);
        intake_clear(&s[1][i].in);
        free(asked[i].body);
    }
    same.requests += n;
}

/* ---- What operators and shufflers do ------------------------------------- */

static struct counting *same_node(void)
{
    return same.sides[1 + twins_below(&same.t, 64) % (same.n - 1)];
}

static void same_receive(void)
{
    static struct twins_parcel p;
    struct engine_delivery d[2];
    struct store_received rows[2];
    struct counting *const who[2] = {same.sides[0], same_node()};
    hsy_status st[2];

    twins_deliver(&same.t, &p);
    for (size_t k = 0; k < 2; k++) {
        d[k] = p.d;
        st[k] = who[k]->ops->receive(who[k], &d[k], NULL);
    }
    same_equal("a batch", st[0], st[1]);
    same.deliveries++;
    if (st[0] == HSY_OK) {
        same_equal("whether it is known", d[0].known, d[1].known);
        same_equal("what it took", d[0].taken, d[1].taken);
        same_equal("its nulls", d[0].nulls, d[1].nulls);
        same_equal("what came again", d[0].again, d[1].again);
        same_equal("what did not open", d[0].unopened, d[1].unopened);
        same.again += d[0].again;
    }
    for (size_t k = 0; k < 2; k++)
        st[k] = who[k]->ops->received(who[k], p.d.id, &rows[k], NULL);
    same_equal("whether it is here", st[0], st[1]);
    if (st[0] == HSY_OK && st[1] == HSY_OK)
        same_equal("its row", rows[0].n + (rows[0].again << 32),
                   rows[1].n + (rows[1].again << 32));
}

static void same_merge(void)
{
    static uint8_t *last;
    static size_t last_len;
    struct counting *const who[2] = {same.sides[0], same_node()};
    const struct roster_entry *is =
        roster_at(same.t.roster,
                  twins_below(&same.t, (uint32_t)roster_count(same.t.roster)));
    hsy_status st[2];

    if (last == NULL || twins_below(&same.t, 3) != 0) {
        free(last);
        last = twins_tally(&same.t, is, &last_len);
    }
    for (size_t k = 0; k < 2; k++)
        st[k] = who[k]->ops->merge(who[k], is->number, last, last_len, NULL);
    same_equal("a merge", st[0], st[1]);
    same.merges += st[0] == HSY_OK;
}

static void same_retire(void)
{
    struct counting *const who[2] = {same.sides[0], same_node()};
    const char *task = twins_ids[twins_below(&same.t, TWINS_VEILED)];
    const uint32_t release = 1 + twins_below(&same.t, same.t.release);
    hsy_status st[2];
    uint64_t n[2] = {0, 0};

    for (size_t k = 0; k < 2; k++)
        st[k] = who[k]->ops->retire(who[k], task, release, &n[k], NULL);
    same_equal("a retirement", st[0], st[1]);
    same_equal("how many were retired", n[0], n[1]);
    same.retired += n[0];
    same_wait();
}

/* ---- Tallies ------------------------------------------------------------- */

/* What a look finds of an entry in some days. */
struct same_found {
    const struct roster_entry *is;
    uint32_t first, last;
    hsy_status st;
    int64_t *words;
    uint64_t unknown, reports, nrounds, batches, counts;
};

static uint64_t same_mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3u + (hash >> 29);
}

static uint64_t same_counts_of(const struct store_count *all, size_t n)
{
    uint64_t hash = n;

    for (size_t i = 0; i < n; i++)
        hash = same_mix(same_mix(same_mix(hash, all[i].epoch), all[i].reports),
                        all[i].nulls);
    return hash;
}

static hsy_status same_job(struct engine *e, void *ctx, hsy_error *err)
{
    struct same_found *f = ctx;
    struct engine_rounds rounds = {.unknown = 0};
    struct engine_batches *batches = NULL;
    struct store_count *folded = NULL;
    size_t n = 0;

    f->st = engine_copy(e, f->is->number, f->first, f->last, f->words, err);
    if (engine_rounds(&rounds, e, f->is, f->first, f->last, err) == HSY_OK) {
        f->unknown = rounds.unknown;
        f->reports = rounds.rounds.reports;
        f->nrounds = rounds.rounds.n;
        f->batches = batches_reports(&rounds.batches);
        rounds_clear(&rounds.rounds);
    }
    if (engine_batches(&batches, &n, e, f->is->number, true, err) == HSY_OK)
        for (size_t i = 0; i < n; i++) {
            f->batches = same_mix(f->batches, batches[i].epoch);
            f->batches = same_mix(f->batches, batches[i].sum.batches);
            f->batches = same_mix(f->batches, batches[i].sum.reports);
            f->batches = same_mix(f->batches, batches[i].nulls);
            f->batches = same_mix(f->batches, batches[i].unopened);
        }
    free(batches);
    if (engine_folded(&folded, &n, e, f->is->number, err) == HSY_OK)
        f->counts = same_counts_of(folded, n);
    free(folded);
    return HSY_OK;
}

static void same_look(struct counting *c, struct same_found *f,
                      const struct roster_entry *is, uint32_t first,
                      uint32_t last)
{
    hsy_status st = HSY_E_BUSY;

    *f = (struct same_found){.is = is, .first = first, .last = last};
    f->words = calloc(is->words, sizeof *f->words);
    while (st == HSY_E_BUSY)
        st = counting_look(c, is->number, same_job, f, NULL);
    same_equal("a look", HSY_OK, st);
}

static void same_tally(const struct roster_entry *is, uint32_t first,
                       uint32_t last)
{
    const bool retired = engine_is_retired(same.sides[0]->view, is->number);
    struct same_found mine, other;

    same_look(same.sides[0], &mine, is, first, last);
    for (size_t i = 1; i < same.n; i++) {
        same_look(same.sides[i], &other, is, first, last);
        same_equal("counts", mine.counts, other.counts);
        same_equal("batches", mine.batches, other.batches);
        /* The tallies of what is retired go at the next checkpoint. */
        if (!retired) {
            same_equal("a tally", mine.st, other.st);
            same_equal("words of a tally", 0,
                       memcmp(mine.words, other.words,
                              is->words * sizeof *mine.words) != 0);
            same_equal("reports", mine.reports, other.reports);
            same_equal("unknown", mine.unknown, other.unknown);
            same_equal("rounds", mine.nrounds, other.nrounds);
        }
        free(other.words);
        same.looks++;
    }
    free(mine.words);
}

static void same_check(void)
{
    struct store_count counts[2][64];

    for (size_t k = 0; k < roster_count(same.t.roster); k++) {
        const struct roster_entry *is = roster_at(same.t.roster, k);

        const uint32_t day = same.t.day - twins_below(&same.t, SAME_KEEP);

        same_tally(is, 0, 0);
        same_tally(is, day, day);
        same_tally(is, same.t.day - 2, same.t.day);
    }
    same_wait(); /* what any thread may ask is of the keeper's last round */
    for (size_t k = 0; k < roster_count(same.t.roster); k++)
        for (size_t i = 1; i < same.n; i++) {
            const size_t n =
                engine_counts(same.sides[0]->view, (uint32_t)k, counts[0], 64);
            const size_t m =
                engine_counts(same.sides[i]->view, (uint32_t)k, counts[1], 64);

            same_equal("days that are counted", n, m);
            if (n == m)
                same_equal("counts of days",
                           same_counts_of(counts[0], n < 64 ? n : 64),
                           same_counts_of(counts[1], n < 64 ? n : 64));
        }
}

/* ---- A life -------------------------------------------------------------- */

static void same_step(void)
{
    const uint32_t what = twins_below(&same.t, 24);

    if (what == 0)
        same_day(same.t.day + 1);
    if (what == 1 || what == 2)
        same_merge();
    for (uint32_t i = twins_below(&same.t, 3); i != 0; i--)
        same_receive();
    if (what == 3 && same.t.release < 5) {
        same.t.release++;
        same_document();
    }
    if (what == 4 || what == 5)
        same_retire();
    same_group(what == 6);
}

static void same_run(size_t shards, size_t nodes, uint64_t n, uint64_t seed)
{
    uint64_t groups = 0;

    if (!same_open(shards, nodes, seed)) {
        ok(false, "one machine, and %zu nodes on %zu shards", nodes, shards);
        same_close();
        return;
    }
    same_document();
    same_day(TWINS_DAY);
    while (same.requests < n && same.differ == 0) {
        same_step();
        if (++groups % SAME_CHECK == 0)
            same_check();
    }
    same_check();
    is_u64(same.differ, 0,
           "%zu node%s on %zu shard%s say what one machine says of %" PRIu64
           " uploads in %" PRIu64 " requests, %" PRIu64 " looks",
           nodes, nodes == 1 ? "" : "s", shards, shards == 1 ? "" : "s",
           same.uploads, same.requests, same.looks);
    printf("# counted %" PRIu64 ", again %" PRIu64 ", conflict %" PRIu64
           ", closed %" PRIu64 ", early %" PRIu64 ", quota %" PRIu64
           ", token %" PRIu64 ", many %" PRIu64 "; %" PRIu64
           " batches with %" PRIu64 " envelopes again, %" PRIu64
           " merges, %" PRIu64 " documents, %" PRIu64 " retired, %" PRIu64
           " days, %" PRIu64 " asked once more\n",
           same.verdicts[INTAKE_COUNTED], same.verdicts[INTAKE_AGAIN],
           same.verdicts[INTAKE_CONFLICT], same.verdicts[INTAKE_CLOSED],
           same.verdicts[INTAKE_EARLY], same.verdicts[INTAKE_QUOTA],
           same.verdicts[INTAKE_TOKEN], same.verdicts[INTAKE_MANY],
           same.deliveries, same.again, same.merges, same.documents,
           same.retired, (uint64_t)(same.t.day - TWINS_DAY), same.doubts);
    ok(same.verdicts[INTAKE_COUNTED] > same.uploads / 4 &&
           same.verdicts[INTAKE_AGAIN] > 20 &&
           same.verdicts[INTAKE_CONFLICT] > 20 &&
           same.verdicts[INTAKE_CLOSED] > 20 &&
           same.verdicts[INTAKE_QUOTA] > 20 && same.again > 5 &&
           same.merges != 0 && same.documents > 1 && same.t.day > TWINS_DAY,
       "of all sorts there were some");
    same_close();
}

int main(int argc, char **argv)
{
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10)
                       : getenv("HSY_TEST_LONG") != NULL ? 1000000
                                                         : 10000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    if (!same_split()) {
        tap_skip("HSY_PG does not name two databases");
        return tap_done();
    }
    same_run(1, 1, n / 4, seed);
    same_run(1, 2, n / 4, seed + 1);
    same_run(2, 2, n - 2 * (n / 4), seed + 2);
    free(same_urls[0]);
    free(same_urls[1]);
    return tap_done();
}
