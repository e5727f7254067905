/*
 * transcript.h - everything that a client ever sends, with its exact law.
 *
 * A transcript is all bytes that left the device during a sequence of events:
 * questions, new truths, new days, crashes, restored backups, clocks that jump,
 * other schemes, other names, forks. The client is the real one; its secret
 * coins are enumerated. A coin word is an interval of still possible values; a
 * draw cuts it where the mechanism has an edge and goes on with each piece in
 * turn, so every outcome is played once and weighed with the exact size of the
 * pieces. The same context always has the same word, cut further if it is read
 * in another way: that is all the checker presumes about coins. Coins that
 * depend on no truth (upload ids, delays) are fixed; a client that let them
 * depend on one would be caught by that.
 *
 * Checked for every sequence: probabilities sum up to 1; for every pair of
 * courses of the truth and every transcript the ratio of its probabilities is
 * at most the product of the worst ratios of what was charged; the charges, and
 * all that shows from outside but payloads, are the same for all; the ledger
 * passes no cap, and the log has every charge unless power went; and as long as
 * the truth stands, an upload that comes again has the same bytes.
 *
 * After a restore or a fork two copies answer the same question. If the truth
 * is the same they say the same (promise P3), so two different answers prove
 * that it changed, and no bound holds between a course that changes and one
 * that does not. There, and where a task keeps several answers of a slot, only
 * courses are compared whose values are equal at the same places.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#ifndef WORLD_ROOM
#define WORLD_ROOM 2048u /* lives are copied often */
#endif
#include "chain.h"
#include "device.h"
#include "device_world.h"
#include "mech.h"
#include "prob.h"
#include "tap.h"

#include <gmp.h>

#define TRANSCRIPT_CONTEXTS 40
#define TRANSCRIPT_WORDS 2 /* of one context */
#define TRANSCRIPT_CLASSES 8
#define TRANSCRIPT_SLICED 512u  /* bytes of a bit-sliced draw */
#define TRANSCRIPT_COURSE 8     /* truths in a course */
#define TRANSCRIPT_CLIENT 8192u /* bytes of a client's memory */
#define TRANSCRIPT_ASIDES 7
#define TRANSCRIPT_UPLOADS 96
#define TRANSCRIPT_RELEASES 4 /* two schemes, each under two names */

/* ---- What is played ------------------------------------------------------ */

/* After each event but the first the client is asked. */
enum transcript_event {
    TRANSCRIPT_ASK,
    TRANSCRIPT_TRUTH,
    TRANSCRIPT_DAY,
    TRANSCRIPT_CRASH,
    TRANSCRIPT_RESTORE,
    TRANSCRIPT_BACK,
    TRANSCRIPT_FORWARD,
    TRANSCRIPT_SCHEME,
    TRANSCRIPT_RENAME,
    TRANSCRIPT_FORK,
    TRANSCRIPT_EVENTS
};

static const char transcript_letters[] = "atdcrbfsnk";

struct transcript;

/* A client, its memory and its files in the life that t plays. */
struct transcript_client {
    hsy_status (*create)(struct transcript *t, void *client);
    hsy_status (*open)(struct transcript *t, void *client);
    hsy_status (*answer)(struct transcript *t, void *client, size_t release,
                         uint32_t truth, hsy_answer_state *state);
    /* Of the releases whose bits are set. */
    hsy_status (*next)(struct transcript *t, void *client, uint32_t releases,
                       uint8_t *upload, size_t room, size_t *len);
    hsy_status (*sent)(struct transcript *t, void *client, uint32_t releases,
                       const uint8_t *upload, size_t len);
    uint64_t (*spent)(struct transcript *t, void *client);
};

/* A class of words that a mechanism treats alike. */
struct transcript_class {
    uint64_t first, last;
};

/* What coins of one release do. */
struct transcript_release {
    uint8_t digest[HSY_DIGEST], report_digest[HSY_DIGEST];
    const hsy_scheme *first; /* what meets the truth */
    const hsy_chain *chain;  /* to a report; NULL: it is one */
    hsy_chain lowered;       /* from an older answer, if there can be one */
    uint32_t power;          /* a charge is for so many answers of `first` */
    uint64_t nano;           /* one charge */
};

/* ---- A life: plain data, copied to and fro ------------------------------- */

struct transcript_word {
    uint64_t lo, hi;
    uint64_t last; /* so many words and one are possible; 0: not drawn yet */
};

struct transcript_coin {
    uint64_t key[2];
    struct transcript_word word[TRANSCRIPT_WORDS];
};

struct transcript_upload {
    uint64_t id[2], bytes;
};

struct transcript_aside {
    struct world_disk disk;
    uint64_t seconds;
    bool asks;
};

struct transcript_life {
    struct world world;
    uint64_t latest; /* seconds */
    bool open;
    bool steady;      /* the truth never changed */
    uint32_t truths;  /* its course, a number to base d */
    uint32_t truth;   /* now */
    uint32_t pattern; /* of its course: which values are equal */
    uint32_t ncourse, course[TRANSCRIPT_COURSE];
    uint32_t release;     /* asked for now */
    uint32_t used;        /* releases ever asked for */
    uint64_t seen, shape; /* all that left; all but its payload */
    uint64_t spent;       /* of this branch, when last looked at */
    uint64_t paid;        /* of all branches */
    uint32_t charges[TRANSCRIPT_RELEASES];
    bool crashed; /* what was logged is not all */
    bool broken;  /* another answer to the same question */
    uint32_t ncoins, nuploads, nasides;
    struct transcript_coin coin[TRANSCRIPT_CONTEXTS];
    struct transcript_upload upload[TRANSCRIPT_UPLOADS];
    _Alignas(16) uint8_t client[TRANSCRIPT_CLIENT];
    struct transcript_aside aside[TRANSCRIPT_ASIDES]; /* last: see _copy */
};

/* Choices of one step, played in all combinations. */
struct transcript_script {
    uint32_t at, n;
    uint32_t chosen[64], options[64];
};

struct transcript_set {
    struct transcript_life *life;
    size_t n, room;
};

/* ---- One check ----------------------------------------------------------- */

struct transcript {
    const char *name;
    const struct transcript_client *client;
    struct transcript_release release[TRANSCRIPT_RELEASES];
    const char *id[TRANSCRIPT_RELEASES]; /* names of tasks */
    uint32_t d;                          /* truths */
    uint32_t length;
    bool same_changes; /* compare only courses that change alike */
    bool anchored;
    uint64_t cap;        /* no branch's ledger may show more */
    uint32_t days;       /* after so many more what is asked for is due */
    device_coins *coins; /* instead of transcript_coins_open: a mutant */
    void *ctx;           /* the client's own */

    struct transcript_life live;
    struct world_disk start; /* a backup of the first day */
    struct transcript_script script;
    jmp_buf crash;
    struct world_pending pending;

    /* Found so far. */
    uint64_t sequences, outcomes;
    uint32_t uneven, beyond, unbalanced, misshapen, unpaid, redrawn, refused;
    bool tight;  /* some ratio equals its bound, and that is above 1 */
    double most; /* the largest log of a ratio */
    char worst[16];
};

static inline void transcript_copy(struct transcript_life *to,
                                   const struct transcript_life *from)
{
    memcpy(to, from,
           offsetof(struct transcript_life, aside) +
               from->nasides * sizeof from->aside[0]);
}

/* The next choice among n. */
static inline uint32_t transcript_choose(struct transcript *t, uint32_t n)
{
    struct transcript_script *s = &t->script;

    if (s->at == s->n) {
        if (s->n == 64) {
            puts("Bail out! more choices than a step has");
            exit(1);
        }
        s->chosen[s->n] = 0;
        s->options[s->n++] = n;
    }
    return s->chosen[s->at++];
}

/* The next combination; false after the last. */
static inline bool transcript_again(struct transcript_script *s)
{
    s->at = 0;
    while (s->n > 0 && ++s->chosen[s->n - 1] == s->options[s->n - 1])
        s->n--;
    return s->n > 0;
}

static inline void transcript_set_add(struct transcript_set *set,
                                      const struct transcript_life *life)
{
    if (set->n == set->room) {
        set->room = 2 * set->room + 8;
        set->life = realloc(set->life, set->room * sizeof *set->life);
        if (set->life == NULL) {
            puts("Bail out! out of memory");
            exit(1);
        }
    }
    transcript_copy(&set->life[set->n++], life);
}

/* Take len bytes into a running digest: quick, and no adversary is near. */
static inline void transcript_mix(uint64_t *digest, const void *data,
                                  size_t len)
{
    const uint8_t *bytes = data;
    uint64_t x = *digest ^ len;

    for (size_t at = 0; at < len; at += 8) {
        uint64_t word = 0;

        memcpy(&word, bytes + at, len - at < 8 ? len - at : 8);
        x = (x ^ word) * 0x9e3779b97f4a7c15u;
        x ^= x >> 32;
        x *= 0xd6e8feb86659fd93u;
        x ^= x >> 29;
    }
    *digest = x;
}

/* ---- Coins --------------------------------------------------------------- */

/* Words below base, cut at one edge. */
static inline size_t transcript_edge(struct transcript_class *out,
                                     uint64_t edge, uint64_t last)
{
    size_t n = 0;

    if (edge > 0)
        out[n++] = (struct transcript_class){0, edge - 1};
    if (edge <= last)
        out[n++] = (struct transcript_class){edge, last};
    return n;
}

/* Words of hsy_prob_below. */
static inline size_t transcript_below(struct transcript_class *out,
                                      uint64_t bound)
{
    hsy_u128 excess = hsy_prob_excess(bound);

    for (uint64_t v = 0; v < bound; v++) {
        hsy_u128 from = ((hsy_u128)v << 64) + excess;
        hsy_u128 to = (((hsy_u128)v + 1) << 64) - 1;

        out[v].first = (uint64_t)((from + bound - 1) / bound);
        out[v].last = (uint64_t)(to / bound);
    }
    return (size_t)bound;
}

/* What word number `at` means to a scheme that is told code: rr and grr. */
static inline size_t transcript_scheme(struct transcript_class *out,
                                       const hsy_scheme *s, uint64_t code,
                                       size_t at)
{
    if (strcmp(s->mech->row.name, "rr") == 0)
        return transcript_edge(
            out, s->coin.unit * (code == 1 ? s->own : s->other), s->coin.last);
    if (at == 0)
        return transcript_edge(out, s->choice.blanket, s->coin.last);
    return transcript_below(out, s->choice.bound);
}

/* The same of the second step of a chain: chain_flip, chain_output. */
static inline size_t transcript_chain(struct transcript_class *out,
                                      const hsy_chain *c, size_t at)
{
    const struct mech_chain *chain = c->report->mech->chain;

    if (at == 0)
        return transcript_edge(out, c->step, UINT64_MAX);
    return transcript_below(out, chain->part(c->report).count);
}

/* One context's secret coins, being read. */
struct transcript_hand {
    struct transcript *t;
    const hsy_scheme *scheme; /* what the coins are for: this, */
    const hsy_chain *chain;   /* or a step of this */
    uint64_t code;
    size_t coin, at;
};

/* Whether the word before says that this one is not looked at: grr and its
 * chain keep what they have, and draw a uniform value nevertheless
 * (test_exact_law.c has both words). */
static inline bool transcript_idle(const struct transcript_hand *h)
{
    const struct transcript_word *w = h->t->live.coin[h->coin].word;

    return h->at == 1 &&
           w->lo >=
               (h->chain != NULL ? h->chain->step : h->scheme->choice.blanket);
}

/* The piece of a word that is gone on with. */
static inline uint64_t transcript_draw(struct transcript_hand *h)
{
    struct transcript_class cut[TRANSCRIPT_CLASSES], piece[TRANSCRIPT_CLASSES];
    struct transcript_word *w;
    size_t n, pieces = 0;
    uint64_t last = 0;

    n = h->chain != NULL ? transcript_chain(cut, h->chain, h->at)
                         : transcript_scheme(cut, h->scheme, h->code, h->at);
    if (h->at == TRANSCRIPT_WORDS || n == 0) {
        puts("Bail out! more coins than a step has");
        exit(1);
    }
    if (transcript_idle(h))
        return h->at++, cut[0].first;
    w = &h->t->live.coin[h->coin].word[h->at++];
    for (size_t i = 0; i < n; i++)
        last += cut[i].last - cut[i].first + 1;
    if (w->last == 0)
        *w = (struct transcript_word){0, UINT64_MAX, last - 1};
    for (size_t i = 0; i < n; i++) {
        uint64_t lo = cut[i].first > w->lo ? cut[i].first : w->lo;
        uint64_t hi = cut[i].last < w->hi ? cut[i].last : w->hi;

        if (lo <= hi)
            piece[pieces++] = (struct transcript_class){lo, hi};
    }
    n = pieces > 1 ? transcript_choose(h->t, (uint32_t)pieces) : 0;
    w->lo = piece[n].first;
    w->hi = piece[n].last;
    return h->at % 2 != 0 ? w->lo : w->hi;
}

/* A word, or a word digit by digit: 64 planes whose first lane are its digits,
 * each the other way round, the last one first (kernels->slice). */
static inline hsy_status transcript_fill(void *ctx, void *buf, size_t len)
{
    uint64_t word = transcript_draw(ctx);
    uint8_t *out = buf;

    if (len != 8 && len != TRANSCRIPT_SLICED) {
        puts("Bail out! coins of another size than a step has");
        exit(1);
    }
    memset(out, 0, len);
    for (size_t k = 0; k < 8 && len == 8; k++)
        out[k] = (uint8_t)(word >> 8 * k);
    for (size_t j = 0; j < 64 && len != 8; j++)
        out[8 * j] = (uint8_t)(~word >> j & 1);
    return HSY_OK;
}

/* The place of a context's words. */
static inline size_t transcript_context(struct transcript_life *life,
                                        const hsy_context *c)
{
    uint64_t key[2] = {1, 2};

    for (size_t i = 0; i < 2; i++) {
        transcript_mix(&key[i], c->purpose, strlen(c->purpose));
        transcript_mix(&key[i], c->source, c->source_len);
        transcript_mix(&key[i], c->digest, HSY_DIGEST);
        transcript_mix(&key[i], &c->slot, sizeof c->slot);
        transcript_mix(&key[i], &c->truth, sizeof c->truth);
    }
    for (size_t i = 0; i < life->ncoins; i++)
        if (memcmp(life->coin[i].key, key, sizeof key) == 0)
            return i;
    if (life->ncoins == TRANSCRIPT_CONTEXTS) {
        puts("Bail out! more contexts than expected");
        exit(1);
    }
    memset(&life->coin[life->ncoins], 0, sizeof life->coin[0]);
    memcpy(life->coin[life->ncoins].key, key, sizeof key);
    return life->ncoins++;
}

/* The release whose coins these are. */
static inline const struct transcript_release *
transcript_find(const struct transcript *t, const uint8_t digest[HSY_DIGEST])
{
    for (size_t i = 0; i < TRANSCRIPT_RELEASES; i++)
        if (memcmp(t->release[i].digest, digest, HSY_DIGEST) == 0 ||
            memcmp(t->release[i].report_digest, digest, HSY_DIGEST) == 0)
            return &t->release[i];
    puts("Bail out! coins for a release that is not known");
    exit(1);
}

/*
 * Coins of `context`, with words that are found under `keyed`: the same, unless
 * a mutant forgets part of it.
 */
static inline hsy_status transcript_coins_keyed(struct transcript *t,
                                                hsy_streams *room,
                                                hsy_coins *coins,
                                                const hsy_context *context,
                                                const hsy_context *keyed)
{
    static const uint8_t key[HSY_KEY] = {7};
    static struct transcript_hand hands[16];
    static size_t turn;
    struct transcript_hand *h = &hands[turn++ % 16];
    const bool report = strcmp(context->purpose, DEVICE_PURPOSE_REPORT) == 0;
    const bool lower = strcmp(context->purpose, DEVICE_PURPOSE_LOWERED) == 0;
    const struct transcript_release *r;

    *coins = hsy_streams_coins(room);
    if (!report && !lower &&
        strcmp(context->purpose, DEVICE_PURPOSE_PERMANENT) != 0) {
        hsy_streams_open(room, key, keyed);
        return HSY_OK;
    }
    hsy_streams_clear(room); /* what a truth names is never published */
    r = transcript_find(t, context->digest);
    *h = (struct transcript_hand){.t = t,
                                  .scheme = r->first,
                                  .chain = report  ? r->chain
                                           : lower ? &r->lowered
                                                   : NULL,
                                  .code = context->truth};
    h->coin = transcript_context(&t->live, keyed);
    coins->secret = (hsy_rng){transcript_fill, h};
    return HSY_OK;
}

static inline hsy_status transcript_coins_open(void *ctx, hsy_streams *room,
                                               hsy_coins *coins,
                                               const hsy_context *context)
{
    return transcript_coins_keyed(ctx, room, coins, context, context);
}

/* ---- Events -------------------------------------------------------------- */

static inline void transcript_shown(struct transcript *t, uint64_t what)
{
    transcript_mix(&t->live.shape, &what, sizeof what);
}

/* An upload has left: its header is shape, all of it is the transcript. */
static inline void transcript_left(struct transcript *t, const uint8_t *bytes,
                                   size_t len)
{
    struct transcript_life *life = &t->live;
    struct transcript_upload u = {{0}, 0};
    hsy_upload head;

    transcript_mix(&life->seen, bytes, len);
    if (len < HSY_UPLOAD_WIRE ||
        hsy_upload_decode(&head, bytes, NULL) != HSY_OK)
        return;
    head.checksum = 0;
    transcript_shown(t, head.kind);
    transcript_mix(&life->shape, head.task, sizeof head.task);
    transcript_mix(&life->shape, head.id, sizeof head.id);
    transcript_mix(&life->shape, head.digest, sizeof head.digest);
    transcript_shown(t, (uint64_t)head.epoch << 32 | head.release);
    transcript_shown(t, (uint64_t)head.count << 32 | len);
    if (head.kind != 1)
        return; /* a null upload is no answer */
    if (life->nasides > 0 && (life->used & 3) != 0 && (life->used & 12) != 0)
        return; /* a branch may have an older answer to lower, another none */
    memcpy(u.id, head.id, sizeof u.id);
    transcript_mix(&u.bytes, bytes, len);
    for (size_t i = 0; i < life->nuploads; i++)
        if (memcmp(life->upload[i].id, u.id, sizeof u.id) == 0) {
            life->broken |= life->steady && life->upload[i].bytes != u.bytes;
            return;
        }
    if (life->nuploads < TRANSCRIPT_UPLOADS)
        life->upload[life->nuploads++] = u;
}

/* Send what is due. */
static inline void transcript_send(struct transcript *t)
{
    struct transcript_life *life = &t->live;
    uint8_t upload[HSY_UPLOAD_WIRE + 64];
    size_t len;

    for (unsigned i = 0; life->open && i < 64; i++) {
        hsy_status st = t->client->next(t, life->client, life->used, upload,
                                        sizeof upload, &len);

        transcript_shown(t, (uint64_t)st);
        if (st != HSY_OK)
            return;
        transcript_left(t, upload, len);
        transcript_shown(t, (uint64_t)t->client->sent(t, life->client,
                                                      life->used, upload, len));
    }
}

/* What the ledger has more than when it was last looked at was charged for the
 * release that is asked for. */
static inline void transcript_settle(struct transcript *t)
{
    struct transcript_life *life = &t->live;
    const uint64_t nano = t->release[life->release].nano;
    uint64_t spent, more;

    if (!life->open)
        return;
    spent = t->client->spent(t, life->client);
    more = spent > life->spent ? spent - life->spent : 0;
    t->unpaid += spent < life->spent || spent > t->cap || more % nano != 0;
    life->charges[life->release] += (uint32_t)(more / nano);
    life->paid += more;
    life->spent = spent;
}

static inline void transcript_ask(struct transcript *t)
{
    struct transcript_life *life = &t->live;
    hsy_answer_state state = 0;
    hsy_status st;

    if (!life->open)
        return;
    life->used |= 1u << life->release;
    st = t->client->answer(t, life->client, life->release, life->truth, &state);
    transcript_shown(t, (uint64_t)st << 8 | (uint64_t)state);
    transcript_settle(t);
}

static inline void transcript_open(struct transcript *t)
{
    hsy_status st = t->client->open(t, t->live.client);

    t->live.open = st == HSY_OK;
    t->refused += st != HSY_OK;
    transcript_shown(t, (uint64_t)st);
}

/* Go on with other files: their ledger is another branch's. */
static inline void transcript_switch(struct transcript *t,
                                     const struct world_disk *disk)
{
    t->live.world.disk = *disk;
    transcript_open(t);
    if (t->live.open)
        t->live.spent = t->client->spent(t, t->live.client);
}

/* Power cuts during the first or the second copy: nothing, half or all of it
 * was written. */
static const struct {
    uint32_t at;
    struct world_cut cut;
} transcript_cuts[] = {
    {1, {0, WORLD_OLD}}, {1, {0x55, WORLD_NEW}}, {1, {UINT64_MAX, WORLD_NEW}},
    {2, {0, WORLD_OLD}}, {2, {0xaa, WORLD_NEW}}, {2, {UINT64_MAX, WORLD_NEW}}};

/* The power goes while the client answers; then it is opened again. */
static inline void transcript_crash(struct transcript *t, uint32_t which)
{
    struct world *w = &t->live.world;

    w->cut_at = transcript_cuts[which % 6].at;
    w->crash = &t->crash;
    w->pending = &t->pending;
    if (setjmp(t->crash) == 0) {
        transcript_ask(t);
    } else {
        world_tear(&w->disk, &t->pending, &transcript_cuts[which % 6].cut);
        t->live.crashed = true;
    }
    w->cut_at = 0;
    transcript_open(t);
    transcript_settle(t);
}

/* Keep the device as it stands: it goes on by itself at the end. */
static inline void transcript_aside(struct transcript *t, bool asks)
{
    struct transcript_life *life = &t->live;
    struct transcript_aside *a = &life->aside[life->nasides++];

    a->disk = life->world.disk;
    a->seconds = life->world.seconds;
    a->asks = asks;
}

/* The course of the truth goes on with this value. Two courses have the same
 * pattern if values are equal in one where they are equal in the other. */
static inline void transcript_truth(struct transcript_life *life, uint32_t d,
                                    uint32_t truth)
{
    uint32_t first = 0;

    life->course[life->ncourse++] = truth;
    while (life->course[first] != truth)
        first++;
    life->truth = truth;
    life->truths = life->truths * d + truth;
    life->pattern = life->pattern * TRANSCRIPT_COURSE + first;
    life->steady &= first == 0;
}

static inline void transcript_event(struct transcript *t, uint32_t event,
                                    uint32_t number)
{
    struct transcript_life *life = &t->live;

    switch (event) {
    case TRANSCRIPT_TRUTH:
        transcript_truth(life, t->d, transcript_choose(t, t->d));
        break;
    case TRANSCRIPT_DAY:
        life->world.seconds += WORLD_DAY;
        break;
    case TRANSCRIPT_CRASH:
        transcript_crash(t, number);
        break;
    case TRANSCRIPT_RESTORE:
        transcript_aside(t, false);
        transcript_switch(t, &t->start);
        break;
    case TRANSCRIPT_BACK:
        life->world.seconds -= 2 * WORLD_DAY;
        break;
    case TRANSCRIPT_FORWARD:
        life->world.seconds += 2 * WORLD_DAY;
        break;
    case TRANSCRIPT_SCHEME:
        life->release ^= 2;
        break;
    case TRANSCRIPT_RENAME:
        life->release ^= 1;
        break;
    case TRANSCRIPT_FORK:
        transcript_aside(t, true);
        break;
    default:
        break;
    }
    if (life->world.seconds > life->latest)
        life->latest = life->world.seconds;
    transcript_ask(t);
    transcript_send(t);
}

static inline void transcript_finish(struct transcript *t)
{
    t->live.world.seconds = t->live.latest + (uint64_t)t->days * WORLD_DAY;
    transcript_send(t);
}

/* Everything that is still to come: of this device, then of its doubles. */
static inline void transcript_end(struct transcript *t)
{
    struct transcript_life *life = &t->live;

    transcript_finish(t);
    for (size_t i = 0; i < life->nasides; i++) {
        life->world.seconds = life->aside[i].seconds;
        transcript_switch(t, &life->aside[i].disk);
        if (life->aside[i].asks)
            transcript_ask(t);
        transcript_finish(t);
    }
    t->unpaid += life->world.calls.charged > life->paid ||
                 (!life->crashed && life->world.calls.charged != life->paid);
}

/* ---- Laws ---------------------------------------------------------------- */

/* One transcript under one course of the truth. */
struct transcript_point {
    uint64_t seen;
    uint32_t truths, pattern;
    mpz_t num, den;
};

/* num / den is the chance of the coins of a life. */
static inline void transcript_weigh(struct transcript_point *p,
                                    const struct transcript_life *life)
{
    mpz_t x;

    mpz_init(x);
    mpz_set_ui(p->num, 1);
    mpz_set_ui(p->den, 1);
    for (size_t i = 0; i < life->ncoins; i++)
        for (size_t k = 0; k < TRANSCRIPT_WORDS; k++) {
            const struct transcript_word *w = &life->coin[i].word[k];

            if (w->last == 0)
                continue;
            mpz_set_ui(x, w->hi - w->lo);
            mpz_add_ui(x, x, 1);
            mpz_mul(p->num, p->num, x);
            mpz_set_ui(x, w->last);
            mpz_add_ui(x, x, 1);
            mpz_mul(p->den, p->den, x);
        }
    mpz_clear(x);
}

static inline void transcript_add(mpz_t num, mpz_t den, const mpz_t n,
                                  const mpz_t d)
{
    if (mpz_cmp(den, d) == 0) {
        mpz_add(num, num, n);
        return;
    }
    mpz_mul(num, num, d);
    mpz_addmul(num, den, n);
    mpz_mul(den, den, d);
}

struct transcript_law {
    struct transcript_point *point;
    size_t n, room;
    uint64_t shape;
    uint32_t charges[TRANSCRIPT_RELEASES];
    bool alike; /* only courses with the same pattern are compared */
};

static inline int transcript_order(const void *a, const void *b)
{
    const struct transcript_point *p = a, *q = b;

    if (p->seen != q->seen)
        return p->seen < q->seen ? -1 : 1;
    return (p->truths > q->truths) - (p->truths < q->truths);
}

/* Sort, and put equal ones together. */
static inline void transcript_join(struct transcript_law *l)
{
    size_t n = 0;

    qsort(l->point, l->n, sizeof *l->point, transcript_order);
    for (size_t i = 1; i < l->n; i++) {
        struct transcript_point *to = &l->point[n], *from = &l->point[i];

        if (transcript_order(to, from) == 0) {
            transcript_add(to->num, to->den, from->num, from->den);
            mpz_clears(from->num, from->den, NULL);
        } else {
            l->point[++n] = *from;
        }
    }
    l->n = l->n == 0 ? 0 : n + 1;
}

static inline void transcript_law_add(struct transcript *t,
                                      struct transcript_law *l,
                                      const struct transcript_life *life)
{
    struct transcript_point *p;

    if (l->n == l->room) {
        l->room = 2 * l->room + 64;
        l->point = realloc(l->point, l->room * sizeof *l->point);
        if (l->point == NULL) {
            puts("Bail out! out of memory");
            exit(1);
        }
    }
    if (l->n == 0) {
        l->shape = life->shape;
        l->alike = t->same_changes || life->nasides > 0;
        memcpy(l->charges, life->charges, sizeof l->charges);
    }
    t->misshapen += l->shape != life->shape;
    t->unbalanced += memcmp(l->charges, life->charges, sizeof l->charges) != 0;
    t->redrawn += life->broken;
    p = &l->point[l->n++];
    *p = (struct transcript_point){
        life->seen, life->truths, life->pattern, {{0}}, {{0}}};
    mpz_inits(p->num, p->den, NULL);
    transcript_weigh(p, life);
}

/* e^(what was charged): each charge at the worst ratio of its scheme. */
static inline void transcript_bound(const struct transcript *t,
                                    const struct transcript_law *l, mpz_t num,
                                    mpz_t den)
{
    hsy_factor factors[4];
    size_t count;
    mpz_t x;

    mpz_init(x);
    mpz_set_ui(num, 1);
    mpz_set_ui(den, 1);
    for (size_t i = 0; i < TRANSCRIPT_RELEASES; i++) {
        const struct transcript_release *r = &t->release[i];
        unsigned long power = (unsigned long)l->charges[i] * r->power;

        if (power == 0)
            continue;
        hsy_law_worst(r->first, factors, &count);
        for (size_t k = 0; k < count; k++) {
            mpz_set_ui(x, factors[k].num);
            mpz_pow_ui(x, x, power);
            mpz_mul(num, num, x);
            mpz_set_ui(x, factors[k].den);
            mpz_pow_ui(x, x, power);
            mpz_mul(den, den, x);
        }
    }
    mpz_clear(x);
}

static inline double transcript_log(const mpz_t x)
{
    long e;
    double m = mpz_get_d_2exp(&e, x);

    return log(m) + (double)e * log(2);
}

/* P[a] / P[b] against the bound. */
static inline void transcript_pair(struct transcript *t,
                                   const struct transcript_point *a,
                                   const struct transcript_point *b,
                                   const mpz_t num, const mpz_t den)
{
    mpz_t left, right;
    double ratio;
    int sign;

    mpz_inits(left, right, NULL);
    mpz_mul(left, a->num, b->den);
    mpz_mul(right, b->num, a->den);
    ratio = transcript_log(left) - transcript_log(right);
    if (ratio > t->most)
        t->most = ratio;
    mpz_mul(left, left, den);
    mpz_mul(right, right, num);
    sign = mpz_cmp(left, right);
    t->beyond += sign > 0;
    t->tight |= sign == 0 && mpz_cmp(num, den) > 0;
    mpz_clears(left, right, NULL);
}

/* All pairs of courses with this transcript, points from and up to to. One that
 * cannot have it while another can is beyond any bound. */
static inline void transcript_compare(struct transcript *t,
                                      const struct transcript_law *l,
                                      size_t from, size_t to,
                                      const uint32_t *courses, const mpz_t num,
                                      const mpz_t den)
{
    for (size_t i = from; i < to; i++) {
        uint32_t alike = 0;

        for (size_t k = from; k < to; k++) {
            const struct transcript_point *a = &l->point[i], *b = &l->point[k];

            if (l->alike && a->pattern != b->pattern)
                continue;
            alike++;
            if (i != k)
                transcript_pair(t, a, b, num, den);
        }
        t->beyond += alike != courses[l->point[i].truths];
    }
}

/* How many courses of the truth each one is compared with, itself included. */
static inline uint32_t *transcript_courses(const struct transcript_law *l,
                                           uint32_t all)
{
    uint32_t *pattern = trial_memory(all * sizeof *pattern);
    uint32_t *courses = trial_memory(all * sizeof *courses);

    for (size_t i = 0; i < l->n; i++)
        pattern[l->point[i].truths] = l->point[i].pattern;
    for (uint32_t a = 0; a < all; a++)
        for (uint32_t b = 0; b < all; b++)
            courses[a] += !l->alike || pattern[a] == pattern[b];
    free(pattern);
    return courses;
}

/* The chances of every course sum up to 1. */
static inline void transcript_sums(struct transcript *t,
                                   const struct transcript_law *l, uint32_t all)
{
    mpz_t *num = trial_memory(2 * all * sizeof *num), *den = num + all;

    for (uint32_t a = 0; a < all; a++) {
        mpz_init(num[a]);
        mpz_init_set_ui(den[a], 1);
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct transcript_point *p = &l->point[i];

        transcript_add(num[p->truths], den[p->truths], p->num, p->den);
    }
    for (uint32_t a = 0; a < all; a++) {
        t->uneven += mpz_cmp(num[a], den[a]) != 0;
        mpz_clears(num[a], den[a], NULL);
    }
    free(num);
}

static inline void transcript_judge(struct transcript *t,
                                    struct transcript_law *l, uint32_t all)
{
    uint32_t *courses;
    mpz_t num, den;

    mpz_inits(num, den, NULL);
    t->outcomes += l->n;
    transcript_join(l);
    transcript_sums(t, l, all);
    transcript_bound(t, l, num, den);
    courses = transcript_courses(l, all);
    for (size_t from = 0, to; from < l->n; from = to) {
        for (to = from; to < l->n && l->point[to].seen == l->point[from].seen;)
            to++;
        transcript_compare(t, l, from, to, courses, num, den);
    }
    free(courses);
    for (size_t i = 0; i < l->n; i++)
        mpz_clears(l->point[i].num, l->point[i].den, NULL);
    mpz_clears(num, den, NULL);
}

/* ---- All sequences ------------------------------------------------------- */

static inline uint32_t transcript_faults(const struct transcript *t)
{
    return t->uneven + t->beyond + t->unbalanced + t->misshapen + t->unpaid +
           t->redrawn;
}

/* Play out every life to its end, and judge. */
static inline void transcript_check(struct transcript *t,
                                    const struct transcript_set *set,
                                    const char *word, uint32_t courses)
{
    struct transcript_law l = {0};

    for (size_t i = 0; i < set->n; i++) {
        t->script.n = t->script.at = 0;
        do {
            transcript_copy(&t->live, &set->life[i]);
            transcript_end(t);
            transcript_law_add(t, &l, &t->live);
        } while (transcript_again(&t->script));
    }
    transcript_judge(t, &l, courses);
    free(l.point);
    t->sequences++;
    if (transcript_faults(t) != 0 && t->worst[0] == '\0')
        snprintf(t->worst, sizeof t->worst, "%s", word);
}

static inline struct transcript_set
transcript_step(struct transcript *t, const struct transcript_set *from,
                uint32_t event, uint32_t number)
{
    struct transcript_set to = {0};

    for (size_t i = 0; i < from->n; i++) {
        t->script.n = t->script.at = 0;
        do {
            transcript_copy(&t->live, &from->life[i]);
            transcript_event(t, event, number);
            transcript_set_add(&to, &t->live);
        } while (transcript_again(&t->script));
    }
    return to;
}

/* word holds the events so far, as letters. */
static inline void transcript_extend(struct transcript *t,
                                     const struct transcript_set *set,
                                     char *word, size_t depth, uint32_t number,
                                     uint32_t courses)
{
    if (depth == t->length)
        return;
    for (uint32_t e = 0; e < TRANSCRIPT_EVENTS; e++) {
        uint32_t next = number * TRANSCRIPT_EVENTS + e;
        uint32_t all = e == TRANSCRIPT_TRUTH ? courses * t->d : courses;
        struct transcript_set to = transcript_step(t, set, e, next + next / 10);

        word[depth] = transcript_letters[e];
        word[depth + 1] = '\0';
        transcript_check(t, &to, word, all);
        transcript_extend(t, &to, word, depth + 1, next, all);
        free(to.life);
    }
}

/* Every sequence up to t->length, from a new device that is asked once. */
static inline void transcript_run(struct transcript *t)
{
    struct transcript_set first = {0}, asked;
    char word[16] = "";

    memset(&t->live, 0, sizeof t->live);
    world_init(&t->live.world, 1);
    t->live.open = t->live.steady = true;
    if (t->client->create(t, t->live.client) != HSY_OK) {
        puts("Bail out! no client");
        exit(1);
    }
    t->start = t->live.world.disk;
    for (uint32_t truth = 0; truth < t->d; truth++) {
        t->live.ncourse = t->live.truths = 0;
        transcript_truth(&t->live, t->d, truth);
        transcript_set_add(&first, &t->live);
    }
    asked = transcript_step(t, &first, TRANSCRIPT_ASK, 0);
    transcript_check(t, &asked, "", t->d);
    transcript_extend(t, &asked, word, 0, 0, t->d);
    free(asked.life);
    free(first.life);
}

#endif
