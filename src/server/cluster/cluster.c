/* cluster.c - a node of a cluster from its start to its end. */
#define _GNU_SOURCE
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"
#include "host/base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define CLUSTER_SILENCE 60000u /* milliseconds: then it is said again */

/* Whether this was said a while ago, or never; then it is noted. */
static bool cluster_unsaid(struct cluster *c, const char *event,
                           const char *text)
{
    const size_t room = sizeof c->said / sizeof c->said[0];
    const uint64_t now = steady_ms();
    bool unsaid = true;

    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < room; i++)
        if (strcmp(c->said[i].event, event) == 0 &&
            strcmp(c->said[i].text, text) == 0 &&
            now - c->said[i].at < CLUSTER_SILENCE)
            unsaid = false;
    if (unsaid) {
        const size_t at = c->nsaid++ % room;

        snprintf(c->said[at].event, sizeof c->said[at].event, "%s", event);
        snprintf(c->said[at].text, sizeof c->said[at].text, "%s", text);
        c->said[at].at = now;
    }
    pthread_mutex_unlock(&c->lock);
    return unsaid;
}

void cluster_say(struct cluster *c, const char *event, const char *text)
{
    if (text == NULL)
        text = "";
    if (c->o.say != NULL && cluster_unsaid(c, event, text))
        c->o.say(c->o.ctx, event, text);
}

void cluster_say_shard(struct cluster_shard *s, const char *event,
                       const char *why)
{
    char text[CLUSTER_TEXT];

    snprintf(text, sizeof text, "%.80s: %s", pg_place_name(s->place), why);
    cluster_say(s->c, event, text);
}

/* ---- Whose shard it is --------------------------------------------------- */

static hsy_status cluster_check(struct cluster_shard *s,
                                const struct schema_meta *is, hsy_error *err)
{
    const struct schema_meta *mine = &s->c->meta;

    if (is->shard != s->number)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                         "it is another shard: list shards in the order in "
                         "which they were made");
    if (memcmp(is->cluster, mine->cluster, sizeof is->cluster) != 0 ||
        memcmp(is->key, mine->key, sizeof is->key) != 0)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                         "it belongs to another cluster");
    if (is->rehearsal != s->c->o.rehearsal)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_REHEARSAL,
                         is->rehearsal
                             ? "it was made for a rehearsal, and stays one"
                             : "it counts real uploads: make another for a "
                               "rehearsal");
    return HSY_OK;
}

hsy_status cluster_connect(struct cluster_shard *s, struct pg_link *l,
                           uint64_t *session, hsy_error *err)
{
    struct schema_meta is;
    struct pg_found found;
    hsy_status st;

    pg_place_found(s->place, &found);
    if (found.refused || atomic_load(&s->newer))
        pg_drop(l); /* it may work, but the server's settings are wrong now, or
                       its tables are not ours any more */
    st = pg_connect(l, err);
    if (st != HSY_OK || *session == pg_session(l))
        return st;
    st = schema_read(l, &is, err);
    atomic_store(&s->newer, st == HSY_E_VERSION);
    if (st == HSY_OK && s->number == 0 && s->c->meta.version == 0)
        s->c->meta = is; /* the first look: this is the cluster */
    if (st == HSY_OK)
        st = cluster_check(s, &is, err);
    explicit_bzero(&is, sizeof is);
    if (st == HSY_OK)
        *session = pg_session(l);
    else
        pg_drop(l);
    return st;
}

/* ---- Functions ----------------------------------------------------------- */

static hsy_status cluster_start(struct counting *counting,
                                const struct workers_options *o, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);
    bool good = true;

    c->workers = *o;
    c->started = steady_us();
    for (size_t i = 0; i < c->nshards && good; i++)
        good = cluster_lane_start(&c->shards[i]);
    good = good && cluster_keeper_start(c);
    return good ? HSY_OK
                : host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE,
                            "no threads to be had");
}

static void cluster_times(struct counting *counting, struct workers_times *out)
{
    struct cluster *c = cluster_of(counting);

    pthread_mutex_lock(&c->lock);
    *out = c->times;
    out->checkpoint =
        steady_us() -
        (c->times.checkpoint != 0 ? c->times.checkpoint : c->started);
    pthread_mutex_unlock(&c->lock);
}

/* A lane that waits for its database has not stopped: it has a deadline. */
static void cluster_answer(struct counting *counting, enum counting_half half)
{
    struct cluster *c = cluster_of(counting);

    if (half == COUNTING_FOLDS) {
        pthread_mutex_lock(&c->lock);
        pthread_mutex_unlock(&c->lock);
        return;
    }
    for (size_t i = 0; i < c->nshards; i++) {
        pthread_mutex_lock(&c->shards[i].lock);
        pthread_mutex_unlock(&c->shards[i].lock);
    }
}

static hsy_status cluster_backup(struct counting *counting,
                                 const char *directory,
                                 const struct store_beside *beside,
                                 hsy_error *err)
{
    (void)counting;
    (void)directory;
    (void)beside;
    return host_fail(err, HSY_E_REFUSED, HOST_FIELD_BACKUP,
                     "what a cluster counts is in its databases: back them up "
                     "with PostgreSQL's own tools (docs/cluster.md)");
}

static hsy_status cluster_stop(struct counting *counting, hsy_error *err)
{
    struct cluster *c = cluster_of(counting);

    (void)err;
    for (size_t i = 0; i < c->nshards; i++)
        cluster_lane_stop(&c->shards[i]);
    cluster_keeper_stop(c);
    return HSY_OK;
}

static void cluster_shard_close(struct cluster_shard *s)
{
    pg_link_free(s->link);
    pg_link_free(s->keeper);
    pg_link_free(s->desk);
    pg_place_close(s->place);
    group_free(&s->group);
    free(s->counts.all);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
}

static void cluster_close(struct counting *counting)
{
    struct cluster *c = cluster_of(counting);

    for (size_t i = 0; i < c->nshards; i++)
        cluster_shard_close(&c->shards[i]);
    engine_close(counting->view);
    for (size_t i = 0; i < c->nseen; i++)
        free(c->seen[i].rounds);
    free(c->seen);
    free(c->widths);
    free(c->whole_from);
    free(c->homes);
    fold_space_clear(&c->fold_desk);
    fold_space_clear(&c->fold_keeper);
    pthread_mutex_destroy(&c->rules);
    pthread_mutex_destroy(&c->routes);
    pthread_mutex_destroy(&c->desk);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    explicit_bzero(&c->meta, sizeof c->meta);
    free(c);
}

const struct counting_functions cluster_functions = {
    .name = "cluster",
    .start = cluster_start,
    .submit = cluster_submit,
    .times = cluster_times,
    .document = cluster_document,
    .merge = cluster_merge,
    .received = cluster_received,
    .receive = cluster_receive,
    .keep = cluster_keep,
    .figures = cluster_figures,
    .retire = cluster_retire,
    .look = cluster_look,
    .answer = cluster_answer,
    .backup = cluster_backup,
    .stop = cluster_stop,
    .close = cluster_close};

/* ---- Opening ------------------------------------------------------------- */

struct cluster *cluster_new(const struct cluster_options *o)
{
    size_t n = 0;
    struct cluster *c;

    while (o->storage[n] != NULL)
        n++;
    c = calloc(1, sizeof *c + n * sizeof c->shards[0]);
    if (c == NULL)
        return NULL;
    c->base.ops = &cluster_functions;
    c->o = *o;
    c->nshards = n;
    snprintf(c->node, sizeof c->node, "%s", o->node);
    c->o.node = c->node;
    pthread_mutex_init(&c->rules, NULL);
    pthread_mutex_init(&c->routes, NULL);
    pthread_mutex_init(&c->desk, NULL);
    pthread_mutex_init(&c->lock, NULL);
    (void)thread_condition(&c->wake);
    for (size_t i = 0; i < n; i++) {
        struct cluster_shard *s = &c->shards[i];

        s->c = c;
        s->number = (uint32_t)i;
        s->end = &s->first;
        pthread_mutex_init(&s->lock, NULL);
        (void)thread_condition(&s->wake);
    }
    return c;
}

static hsy_status cluster_shard_open(struct cluster_shard *s, const char *url,
                                     char reason[PG_REASON], hsy_error *err)
{
    hsy_status st = pg_place_open(&s->place, url, reason, err);

    if (st != HSY_OK)
        return st;
    s->status.name = pg_place_name(s->place);
    s->link = pg_link_new(s->place);
    s->keeper = pg_link_new(s->place);
    s->desk = pg_link_new(s->place);
    return s->link != NULL && s->keeper != NULL && s->desk != NULL
               ? HSY_OK
               : host_nomem(err);
}

static hsy_status cluster_too_many(hsy_error *err)
{
    return host_fail_limit(err, HSY_E_RANGE, HOST_FIELD_STORE,
                           "more shards than a cluster can have",
                           CLUSTER_SHARDS);
}

hsy_status cluster_places(struct cluster *c, const char **about,
                          char reason[PG_REASON], hsy_error *err)
{
    hsy_status st = HSY_OK;

    *about = "storage";
    if (c->nshards == 0 || c->nshards > CLUSTER_SHARDS)
        return cluster_too_many(err);
    for (size_t i = 0; i < c->nshards && st == HSY_OK; i++)
        st = cluster_shard_open(&c->shards[i], c->o.storage[i], reason, err);
    return st;
}

/* A failure is of this shard. The cluster may be closed before it is told. */
static void cluster_blame(const struct cluster_shard *s, const char **about,
                          char reason[PG_REASON])
{
    static char text[256];

    snprintf(text, sizeof text, "%s", pg_place_name(s->place));
    snprintf(reason, PG_REASON, "%s", pg_reason(s->keeper));
    *about = text;
}

/* The view needs the key, which is in shard 0. */
static hsy_status cluster_view(struct cluster *c,
                               const struct engine_options *engine,
                               hsy_error *err)
{
    static const struct mirror_functions does = {
        .document = cluster_put_document,
        .close_epochs = cluster_close_epochs,
        .retire = cluster_put_retired};
    struct cluster_shard *s = &c->shards[0];
    hsy_status st = cluster_connect(s, s->keeper, &s->keeper_session, err);

    return st == HSY_OK
               ? mirror_open(&c->base.view, c->meta.key, engine, &does, c, err)
               : st;
}

hsy_status cluster_open(struct counting **out, const struct cluster_options *o,
                        const struct engine_options *engine, const char **about,
                        char reason[PG_REASON], hsy_error *err)
{
    struct cluster *c = cluster_new(o);
    size_t shard = 0;
    hsy_status st;

    *out = NULL;
    reason[0] = '\0';
    if (c == NULL)
        return host_nomem(err);
    st = cluster_places(c, about, reason, err);
    if (st == HSY_OK) {
        st = cluster_view(c, engine, err);
        if (st == HSY_OK)
            st = cluster_first_look(c, &shard, err);
        if (st != HSY_OK)
            cluster_blame(&c->shards[shard], about, reason);
    }
    if (st != HSY_OK) {
        cluster_close(&c->base);
        return st;
    }
    *out = &c->base;
    return HSY_OK;
}

/* ---- For others --------------------------------------------------------- */

struct pg_place *cluster_place(struct counting *counting, size_t shard)
{
    return cluster_of(counting)->shards[shard].place;
}

const char *cluster_file(struct counting *counting, size_t i)
{
    const struct cluster *c = cluster_of(counting);

    if (counting->ops != &cluster_functions)
        return NULL;
    for (size_t s = 0; s < c->nshards; s++)
        for (unsigned which = 0; which < PG_FILES; which++) {
            const char *file = pg_place_file(c->shards[s].place, which);

            if (file != NULL && i-- == 0)
                return file;
        }
    return NULL;
}

/* ---- Making one ---------------------------------------------------------- */

/* Of an epoch that nobody uses yet, so many shards; from the beginning where
 * there are none. With shard 0's link. */
static hsy_status cluster_widen(struct cluster *c, struct pg_link *l,
                                hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(l, NULL, err,
               "insert into widths select case when (select count(*) from "
               "widths) = 0 then 0 else days.day + 3 end, $1 from days where "
               "one = 1 and $1 > coalesce((select max(shards) from widths), "
               "0) and ($2 or days.day = 0 or " CLUSTER_DAY_HOLDS
               ") on conflict (epoch) do update set shards = excluded.shards",
               "io", (int32_t)c->nshards, c->o.rehearsal);

    if (st == HSY_OK)
        st = pg_ask(l, &r, err, "select max(shards) from widths", "");
    if (st == HSY_OK && pg_get(r, 0, 0) < (int64_t)c->nshards)
        st = host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                       "its days are behind its clock, and uploads of later "
                       "ones may have come: add a shard when a node has "
                       "closed them");
    pg_rows_free(r);
    return st;
}

/* Whether a shard can be what the list says; nothing is made before all can.
 * What is in shard 0 stays. */
static hsy_status cluster_init_look(struct cluster *c, size_t i, hsy_error *err)
{
    struct cluster_shard *s = &c->shards[i];
    struct schema_meta is;
    struct pg_rows *r = NULL;
    hsy_status st = pg_connect(s->keeper, err);

    if (st == HSY_OK)
        st = schema_read(s->keeper, &is, err);
    if (st == HSY_E_EMPTY)
        return HSY_OK;
    if (st == HSY_OK && i != 0 && c->meta.version == 0)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                         "it is a shard of a cluster, whose first shard must "
                         "be listed first");
    if (st != HSY_OK || i != 0)
        return st;
    c->meta = is;
    st = pg_ask(s->keeper, &r, err,
                "select coalesce(max(shards), 0) from widths", "");
    if (st == HSY_OK && pg_get(r, 0, 0) > (int64_t)c->nshards)
        st = host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                       "the cluster has more shards than 'storage' lists");
    pg_rows_free(r);
    return st;
}

static hsy_status cluster_init_shard(struct cluster *c, size_t i, size_t *made,
                                     hsy_error *err)
{
    bool fresh = false;
    hsy_status st;

    c->meta.shard = (uint32_t)i;
    st = schema_make(c->shards[i].keeper, &c->meta, &fresh, err);
    *made += st == HSY_OK && fresh;
    return st;
}

hsy_status cluster_init(const struct cluster_options *o, size_t *made,
                        const char **about, char reason[PG_REASON],
                        hsy_error *err)
{
    struct cluster *c = cluster_new(o);
    hsy_status st;

    *made = 0;
    reason[0] = '\0';
    if (c == NULL)
        return host_nomem(err);
    c->meta.rehearsal = o->rehearsal;
    st = cluster_places(c, about, reason, err);
    if (st == HSY_OK && (getrandom(c->meta.cluster, sizeof c->meta.cluster,
                                   0) != (ssize_t)sizeof c->meta.cluster ||
                         getrandom(c->meta.key, sizeof c->meta.key, 0) !=
                             (ssize_t)sizeof c->meta.key))
        st = host_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                       "the system gives no random bytes");
    for (size_t i = 0; i < 2 * c->nshards && st == HSY_OK; i++) {
        const struct cluster_shard *s = &c->shards[i % c->nshards];

        st = i < c->nshards ? cluster_init_look(c, i, err)
                            : cluster_init_shard(c, i - c->nshards, made, err);
        if (st != HSY_OK)
            cluster_blame(s, about, reason);
    }
    if (st == HSY_OK)
        st = cluster_widen(c, c->shards[0].keeper, err);
    cluster_close(&c->base);
    return st;
}

/* ---- Looking at one ------------------------------------------------------ */

/* It is a shard of the cluster that the first one was of which could be read.
 */
static hsy_status examine_whose(struct cluster_shard *s, hsy_error *err)
{
    struct schema_meta is;
    hsy_status st = schema_read(s->keeper, &is, err);

    if (st == HSY_OK && s->c->meta.version == 0)
        s->c->meta = is;
    if (st == HSY_OK)
        st = cluster_check(s, &is, err);
    explicit_bzero(&is, sizeof is);
    return st;
}

/* What a node needs beyond that: to make tables, and all shards. */
static hsy_status examine_rights(struct cluster_shard *s,
                                 struct cluster_finding *f)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(s->keeper, &r, &f->err,
               "select has_schema_privilege('hearsay', 'create')::int4, "
               "(current_setting('synchronous_standby_names') <> '')::int4, "
               "extract(epoch from clock_timestamp())::int8, "
               "coalesce((select max(shards) from widths), 0)",
               "");

    if (st != HSY_OK)
        return st;
    f->replicated = pg_get(r, 0, 1) != 0;
    f->behind = (int64_t)time(NULL) - pg_get(r, 0, 2);
    if (pg_get(r, 0, 0) == 0)
        st = host_fail(&f->err, HSY_E_REFUSED, HOST_FIELD_STORE,
                       "its role may not make tables there: let it own the "
                       "schema 'hearsay'");
    else if (pg_get(r, 0, 3) > (int64_t)s->c->nshards)
        st = host_fail(&f->err, HSY_E_REFUSED, HOST_FIELD_STORE,
                       "the cluster has more shards than 'storage' lists");
    pg_rows_free(r);
    return st;
}

static hsy_status examine_shard(struct cluster_shard *s, const char *url,
                                struct cluster_finding *f)
{
    hsy_status st = cluster_shard_open(s, url, f->reason, &f->err);

    if (st != HSY_OK)
        return st;
    f->name = pg_place_name(s->place);
    st = pg_connect(s->keeper, &f->err);
    if (st == HSY_OK)
        st = examine_whose(s, &f->err);
    if (st == HSY_OK)
        st = examine_rights(s, f);
    snprintf(f->reason, sizeof f->reason, "%s",
             st != HSY_OK ? pg_reason(s->keeper) : "");
    return st;
}

void cluster_examine(const struct cluster_options *o, cluster_tell *tell,
                     void *ctx)
{
    struct cluster *c = cluster_new(o);

    struct cluster_finding f = {.st = HSY_OK};

    if (c == NULL)
        f.st = host_nomem(&f.err);
    else if (c->nshards > CLUSTER_SHARDS)
        f.st = cluster_too_many(&f.err);
    if (f.st != HSY_OK)
        tell(ctx, &f);
    for (size_t i = 0; c != NULL && i < c->nshards; i++) {
        f = (struct cluster_finding){.name = NULL};
        f.st = examine_shard(&c->shards[i], o->storage[i], &f);
        tell(ctx, &f);
    }
    if (c != NULL)
        cluster_close(&c->base);
}
