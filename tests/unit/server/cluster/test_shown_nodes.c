/*
 * test_shown_nodes.c - two nodes that show one chain of generations: whatever
 * they answer, nothing tells fewer than min_reports reports apart.
 *
 * Each report has a cell of its own. A cell's signature is made of what every
 * answer, of any node and any range of days, has in it; two reports with the
 * same signature are in the same answers, so these classes are all that a
 * combination of answers can hold. Control: two nodes that keep generations
 * each for itself have smaller ones.
 */
#define _GNU_SOURCE

#include "host/analysis/analysis.h"
#include "rig/cluster_db.h"
#include "rig/engine_rig.h"
#include "rig/with_postgres.h"
#include "server/cluster/shown_many.h"
#include "server/collector/shown/internal.h"
#include "tap.h"

#include <stdio.h>
#include <unistd.h>

#define NODES 2u
#define CELLS 1000u
#define LEAST 20u

struct node {
    struct shown *shown;
    char directory[64];
};

struct world {
    struct rig r;
    struct roster_entry is;
    struct counting counting;
    pthread_mutex_t lock; /* of the engine's folding, and of what follows */
    uint32_t next;        /* the first cell that has no report */
    uint64_t signatures[CELLS];
    bool shown[CELLS]; /* it was in some answer */
    uint64_t answers, refused, days;
    bool sound;
    struct node nodes[NODES];
    struct pg_place *place; /* NULL: the nodes share nothing */
    uint64_t seed;
};

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* ---- Reports ------------------------------------------------------------- */

static struct world w;

static hsy_status look(struct counting *c, uint32_t entry, workers_job *job,
                       void *ctx, hsy_error *err)
{
    hsy_status st;

    (void)entry;
    pthread_mutex_lock(&w.lock);
    st = rig_fold(&w.r);
    if (st == HSY_OK)
        st = job(c->view, ctx, err);
    pthread_mutex_unlock(&w.lock);
    return st;
}

static const struct counting_functions functions = {.name = "rig",
                                                    .look = look};

/* Some reports of today or a day before; now and then a day goes by. */
static void arrive(uint64_t *seed)
{
    struct engine_status status;
    uint32_t n = below(seed, 3) == 0 ? below(seed, 25) : below(seed, 4);

    pthread_mutex_lock(&w.lock);
    if (below(seed, 12) == 0) {
        w.sound &= rig_day(&w.r, RIG_DAY + (uint32_t)++w.days) == HSY_OK;
    }
    engine_status(w.r.e, &status);
    for (; n > 0 && w.next < CELLS; n--, w.next++)
        w.sound &=
            rig_one(&w.r,
                    (struct rig_upload){.kind = HSY_UPLOAD_REPORTS,
                                        .epoch = status.day - below(seed, 2),
                                        .id = w.next + 1,
                                        .n = 1,
                                        .first = w.next}) == INTAKE_COUNTED;
    pthread_mutex_unlock(&w.lock);
}

/* ---- Answers ------------------------------------------------------------- */

static void take(int64_t *words, const struct shown_block *span, bool whole)
{
    const int64_t *cells;
    hsy_scheme_info info;
    hsy_tally view;

    hsy_scheme_describe(w.is.scheme, &info);
    analysis_view(&view, &info, words);
    cells = view.cells;
    pthread_mutex_lock(&w.lock);
    w.answers++;
    for (size_t i = 0; i < CELLS; i++) {
        w.sound &= cells[i] == 0 || cells[i] == 1;
        w.shown[i] |= cells[i] != 0;
        w.signatures[i] =
            (w.signatures[i] ^ (uint64_t)cells[i]) * 6364136223846793005u +
            w.answers;
    }
    /* The view that it came with is of the same generation. */
    w.sound &= !whole || shown_reports(&w.is, words) == span->reports;
    pthread_mutex_unlock(&w.lock);
}

/* What a node answers of these days; 0: of all. Refused: the database was gone
 * for a moment. */
static void ask(struct node *node, uint32_t first, uint32_t last)
{
    int64_t *words = calloc(w.is.words + 1, sizeof *words);
    struct engine_rounds of = {0};
    struct shown_block span;
    const hsy_status st =
        shown_copy(node->shown, &w.is, first, last, words, &of, &span, NULL);

    if (st == HSY_OK)
        take(words, &span, first == 0);
    pthread_mutex_lock(&w.lock);
    w.refused += st == HSY_E_BUSY;
    w.sound &= st == HSY_OK || st == HSY_E_EMPTY || st == HSY_E_BUSY;
    pthread_mutex_unlock(&w.lock);
    rounds_clear(&of.rounds);
    free(words);
}

static void ask_all(struct node *node)
{
    struct shown_block *blocks = NULL;
    size_t n = 0;

    ask(node, 0, 0);
    if (shown_blocks(node->shown, &w.is, true, &blocks, &n) == HSY_OK)
        for (size_t k = 0; k < n; k++)
            ask(node, blocks[k].first, blocks[n - 1].last);
    free(blocks);
}

static void renew(struct node *node)
{
    const hsy_status st = shown_renew(node->shown, &w.is, NULL);

    pthread_mutex_lock(&w.lock);
    w.sound &= st == HSY_OK || st == HSY_E_BUSY;
    pthread_mutex_unlock(&w.lock);
}

/* ---- Lives --------------------------------------------------------------- */

static bool begin(struct pg_place *place, uint64_t seed)
{
    bool good;

    w = (struct world){.place = place, .seed = seed, .sound = true};
    pthread_mutex_init(&w.lock, NULL);
    good = rig_open(&w.r) &&
           (place == NULL || db_do(place, "truncate shown, shown_cells"));
    w.is = *roster_at(w.r.roster, 0);
    w.is.task.min_reports = LEAST;
    w.counting = (struct counting){&functions, w.r.e};
    for (size_t i = 0; i < NODES && good; i++) {
        struct node *node = &w.nodes[i];
        struct shown_options o = {.data = node->directory,
                                  .engine = w.r.e,
                                  .counting = &w.counting,
                                  .day_words = 2000,
                                  .keep_days = 5};

        snprintf(node->directory, sizeof node->directory,
                 "/tmp/hearsay-node.XXXXXX");
        good = mkdtemp(node->directory) != NULL &&
               (place == NULL ||
                shown_many_open(&o.keep, place, NULL) == HSY_OK) &&
               shown_open(&node->shown, &o, NULL) == HSY_OK;
    }
    return good;
}

static void end(void)
{
    for (size_t i = 0; i < NODES; i++) {
        char path[80];

        snprintf(path, sizeof path, "%s/shown.db", w.nodes[i].directory);
        shown_close(w.nodes[i].shown);
        unlink(path);
        rmdir(w.nodes[i].directory);
    }
    rig_close(&w.r);
    pthread_mutex_destroy(&w.lock);
}

static int order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The smallest class of what was shown, and how many there are. */
static uint64_t smallest(unsigned *classes)
{
    uint64_t shown[CELLS], least = UINT64_MAX;
    size_t n = 0, from = 0;

    for (size_t i = 0; i < CELLS; i++)
        if (w.shown[i])
            shown[n++] = w.signatures[i];
    qsort(shown, n, sizeof *shown, order);
    *classes = 0;
    for (size_t i = 1; i <= n; i++)
        if (i == n || shown[i] != shown[from]) {
            least = i - from < least ? i - from : least;
            from = i;
            ++*classes;
        }
    return least;
}

/* In turns that a seed chooses. */
static void one_thread(struct pg_place *place, uint64_t seed)
{
    unsigned classes = 0;
    uint64_t least;

    if (!ok(begin(place, seed), "two nodes are opened"))
        return;
    while (w.next < CELLS) {
        struct node *node = &w.nodes[below(&w.seed, NODES)];

        arrive(&w.seed);
        if (below(&w.seed, 3) == 0)
            renew(node);
        if (below(&w.seed, 3) == 0)
            ask_all(node);
        if (below(&w.seed, 20) == 0)
            (void)shown_refresh(node->shown, NULL);
    }
    least = smallest(&classes);
    if (place != NULL)
        ok(w.sound && least >= LEAST && classes > 10,
           "%u answers, %u classes, the least of %u reports",
           (unsigned)w.answers, classes, (unsigned)least);
    else
        ok(w.sound && least < LEAST,
           "nodes that share nothing have one of %u: this test could see it",
           (unsigned)least);
    end();
}

/* ---- At once ------------------------------------------------------------- */

static void *lives(void *ctx)
{
    struct node *node = ctx;
    uint32_t next = 0;

    while (next < CELLS) {
        renew(node);
        ask_all(node);
        (void)shown_refresh(node->shown, NULL);
        pthread_mutex_lock(&w.lock);
        next = w.next;
        pthread_mutex_unlock(&w.lock);
    }
    return NULL;
}

/* Sessions end at any moment, some while they commit. */
static void cut(void)
{
    db_do(w.place,
          "select count(pg_terminate_backend(pid)) from pg_stat_activity where "
          "usename = current_user and pid <> pg_backend_pid()");
}

static void at_once(struct pg_place *place, uint64_t seed, bool cuts)
{
    pthread_t threads[NODES];
    unsigned classes = 0;
    uint64_t least;
    uint32_t next = 0;

    if (!ok(begin(place, seed), "two nodes are opened"))
        return;
    for (size_t i = 0; i < NODES; i++)
        pthread_create(&threads[i], NULL, lives, &w.nodes[i]);
    while (next < CELLS) {
        arrive(&w.seed);
        if (cuts && below(&w.seed, 4) == 0)
            cut();
        usleep(5000);
        pthread_mutex_lock(&w.lock);
        next = w.next;
        pthread_mutex_unlock(&w.lock);
    }
    for (size_t i = 0; i < NODES; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < NODES; i++)
        ask_all(&w.nodes[i]);
    least = smallest(&classes);
    ok(w.sound && least >= LEAST && classes != 0,
       "%s: %u answers, %u refused, %u classes, the least of %u reports",
       cuts ? "sessions end" : "at once", (unsigned)w.answers,
       (unsigned)w.refused, classes, (unsigned)least);
    end();
}

/* ---- Forgetting ---------------------------------------------------------- */

static hsy_status of_day(struct node *node, uint32_t first, uint32_t last)
{
    int64_t *words = calloc(w.is.words + 1, sizeof *words);
    struct engine_rounds of = {0};
    struct shown_block span;
    const hsy_status st =
        shown_copy(node->shown, &w.is, first, last, words, &of, &span, NULL);

    rounds_clear(&of.rounds);
    free(words);
    return st;
}

static void admit(uint32_t n)
{
    for (; n > 0; n--, w.next++)
        w.sound &= rig_one(&w.r, (struct rig_upload){.kind = HSY_UPLOAD_REPORTS,
                                                     .epoch = RIG_DAY,
                                                     .id = w.next + 1,
                                                     .n = 1,
                                                     .first = w.next}) ==
                   INTAKE_COUNTED;
}

/* What one node forgets no other shows, or builds upon. */
static void forgets(struct pg_place *place)
{
    struct node *a, *b;

    if (!ok(begin(place, 1), "two nodes are opened"))
        return;
    a = &w.nodes[0];
    b = &w.nodes[1];
    admit(30);
    renew(a);
    ok(eq_u64(shown_generation(a->shown, w.is.number), 1) &&
           eq_status(of_day(b, RIG_DAY, RIG_DAY), HSY_OK) &&
           eq_u64(shown_count(b->shown, w.is.number, 1).reports, 30),
       "who is asked for a tally shows what another has put");
    ok(eq_status(shown_forget(a->shown, RIG_DAY + 1, NULL), HSY_OK) &&
           eq_status(of_day(b, RIG_DAY, RIG_DAY), HSY_E_EMPTY) &&
           eq_status(of_day(a, RIG_DAY, RIG_DAY), HSY_E_EMPTY) &&
           eq_status(of_day(b, 0, 0), HSY_OK),
       "a block that one forgets is forgotten by all");
    admit(30);
    renew(b);
    ok(eq_status(shown_refresh(a->shown, NULL), HSY_OK) &&
           eq_u64(shown_count(a->shown, w.is.number, 1).reports, 60) && w.sound,
       "the next generation is seen by a look, too");
    ok(db_do(place, "truncate shown, shown_cells") &&
           eq_status(of_day(b, 0, 0), HSY_E_EMPTY),
       "nothing is shown of what is not there");
    end();
}

int main(int argc, char **argv)
{
    struct pg_place *place;

    (void)argc;
    (void)with_postgres(argv, 1);
    place = db_open();
    one_thread(NULL, 1);
    ok(getenv("HSY_PG") == NULL || place != NULL, "the database, if any");
    for (uint64_t seed = 1; place != NULL && seed <= 6; seed++)
        one_thread(place, seed);
    for (uint64_t seed = 1; place != NULL && seed <= 4; seed++)
        at_once(place, seed, seed > 2);
    if (place != NULL)
        forgets(place);
    pg_place_close(place);
    return tap_done();
}
