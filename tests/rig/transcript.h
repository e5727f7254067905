/*
 * transcript.h - everything that a client ever sends, with its exact law.
 *
 * This file has the types and the coins, transcript_events.h what may happen to
 * a device, transcript_check.h the laws and the verdict.
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
 * What was charged is counted once, also where a fork has copied the ledger:
 * the copies give the same answers. Only where a slot has several answers may
 * each copy give others; then each copy's ledger counts (by_branch).
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
#include "lib/core/prob.h"
#include "lib/device/internal.h"
#include "lib/scheme/permanent.h"
#include "lib/scheme/scheme.h"
#include "rig/device_world.h"
#include "tap.h"

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
    const hsy_scheme *first;   /* what meets the truth */
    const hsy_permanent *memo; /* to a report; NULL: it is one */
    hsy_permanent lowered;     /* from an older answer, if there can be one */
    uint32_t power;            /* a charge is for so many answers of `first` */
    uint64_t nano;             /* one charge */
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
    uint32_t charges[TRANSCRIPT_RELEASES];
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
    uint32_t charges[TRANSCRIPT_RELEASES]; /* in all */
    uint32_t own[TRANSCRIPT_RELEASES];     /* in the ledger of this branch */
    bool crashed;                          /* what was logged is not all */
    bool broken; /* another answer to the same question */
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
    uint32_t start;                      /* the release that is asked first */
    uint32_t d;                          /* truths */
    uint32_t length;
    bool same_changes; /* compare only courses that change alike */
    bool by_branch;    /* every branch's whole ledger counts */
    bool sampled;      /* which answer is sent depends on how many there are */
    bool anchored;
    uint64_t cap;        /* no branch's ledger may show more */
    uint32_t days;       /* after so many more what is asked for is due */
    device_coins *coins; /* instead of transcript_coins_open: a mutant */
    void *ctx;           /* the client's own */

    struct transcript_life live;
    struct world_disk backup; /* a backup of the first day */
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
            out, s->coin.unit * (code == 1 ? s->bits.own : s->bits.other),
            s->coin.last);
    if (at == 0)
        return transcript_edge(out, s->two.choice.blanket, s->coin.last);
    return transcript_below(out, s->two.choice.bound);
}

/* The same of the second step: permanent_flip, permanent_output. */
static inline size_t transcript_permanent(struct transcript_class *out,
                                          const hsy_permanent *c, size_t at)
{
    const struct mech_permanent *mech = c->report->mech->client->permanent;

    if (at == 0)
        return transcript_edge(out, c->step, UINT64_MAX);
    return transcript_below(out, mech->part(c->report).count);
}

/* One context's secret coins, being read. */
struct transcript_hand {
    struct transcript *t;
    const hsy_scheme *scheme;  /* what the coins are for: this, */
    const hsy_permanent *memo; /* or a step of this */
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
           w->lo >= (h->memo != NULL ? h->memo->step
                                     : h->scheme->two.choice.blanket);
}

/* The piece of a word that is gone on with. */
static inline uint64_t transcript_draw(struct transcript_hand *h)
{
    struct transcript_class cut[TRANSCRIPT_CLASSES], piece[TRANSCRIPT_CLASSES];
    struct transcript_word *w;
    size_t n, pieces = 0;
    uint64_t last = 0;

    n = h->memo != NULL ? transcript_permanent(cut, h->memo, h->at)
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
 * each the other way round, the last one first (kernels->bernoulli_bits). */
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
static inline hsy_status
transcript_coins_keyed(struct transcript *t, hsy_keyed *room, hsy_coins *coins,
                       const hsy_context *context, const hsy_context *keyed)
{
    static const uint8_t key[HSY_KEY] = {7};
    static struct transcript_hand hands[16];
    static size_t turn;
    struct transcript_hand *h = &hands[turn++ % 16];
    const bool report = strcmp(context->purpose, DEVICE_PURPOSE_REPORT) == 0;
    const bool lower = strcmp(context->purpose, DEVICE_PURPOSE_LOWERED) == 0;
    const struct transcript_release *r;

    *coins = hsy_keyed_coins(room);
    if (!report && !lower &&
        strcmp(context->purpose, DEVICE_PURPOSE_PERMANENT) != 0) {
        hsy_keyed_open(room, key, keyed);
        return HSY_OK;
    }
    hsy_keyed_clear(room); /* what a truth names is never published */
    r = transcript_find(t, context->digest);
    *h = (struct transcript_hand){.t = t,
                                  .scheme = r->first,
                                  .memo = report  ? r->memo
                                          : lower ? &r->lowered
                                                  : NULL,
                                  .code = context->truth};
    h->coin = transcript_context(&t->live, keyed);
    coins->secret = (hsy_rng){transcript_fill, h};
    return HSY_OK;
}

static inline hsy_status transcript_coins_open(void *ctx, hsy_keyed *room,
                                               hsy_coins *coins,
                                               const hsy_context *context)
{
    return transcript_coins_keyed(ctx, room, coins, context, context);
}

#endif
