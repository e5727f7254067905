/* hop.c - a hop from its keys to its end, and how it is. */
#define _GNU_SOURCE
#include "server/shuffle/hop/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"
#include "host/base/threads.h"
#include "host/tasks/keys.h"

#include <stdlib.h>
#include <string.h>

bool hop_stops(struct hop *h)
{
    bool stops;

    pthread_mutex_lock(&h->lock);
    stops = h->stopping;
    pthread_mutex_unlock(&h->lock);
    return stops;
}

hsy_status hop_keys(struct hop *h, struct hops_keys *out)
{
    bool stops;

    pthread_mutex_lock(&h->lock);
    *out = h->keys;
    stops = h->stopping;
    pthread_mutex_unlock(&h->lock);
    return stops ? HSY_E_BUSY : HSY_OK;
}

const uint8_t *hop_shuffler(const struct hop *h)
{
    return h->shuffles ? h->sign_key : NULL;
}

/* ---- Keys ---------------------------------------------------------------- */

static hsy_status hop_read_seal(struct hops_keys *keys, const char *path,
                                hsy_error *err)
{
    struct hops_seal *to = &keys->seal[keys->nseal];
    hsy_status st;

    if (keys->nseal == HOPS_KEYS)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                         "more than two keys that open envelopes");
    st = keys_seal_secret(to->secret, path, err);
    if (st == HSY_OK)
        st = seal_public(to->pub, to->secret);
    keys->nseal += st == HSY_OK;
    return st;
}

static hsy_status hop_read_keys(struct hops_keys *keys,
                                uint8_t secret[HSY_SIGN_SECRET],
                                const struct hop_files *f, const char **about,
                                hsy_error *err)
{
    hsy_status st;

    *keys = (struct hops_keys){.nseal = 0};
    *about = f->sign_key;
    st = keys_secret(secret, f->sign_key, err);
    if (st == HSY_OK) /* which ends in its public half (docs/formats.md) */
        memcpy(keys->sign, secret + HSY_SIGN_SECRET - HSY_SIGN_KEY,
               HSY_SIGN_KEY);
    for (size_t i = 0;
         st == HSY_OK && f->seal_keys != NULL && f->seal_keys[i] != NULL; i++) {
        *about = f->seal_keys[i];
        st = hop_read_seal(keys, f->seal_keys[i], err);
    }
    if (st == HSY_OK && f->receipt_key != NULL) {
        *about = f->receipt_key;
        st = keys_public(keys->collector, f->receipt_key, err);
    }
    return st;
}

hsy_status hop_take_keys(struct hop *h, const struct hop_files *files,
                         const char **about, hsy_error *err)
{
    uint8_t secret[HSY_SIGN_SECRET];
    struct hops_keys keys;
    hsy_status st = hop_read_keys(&keys, secret, files, about, err);

    if (st == HSY_OK &&
        memcmp(keys.sign, h->sign_key, sizeof h->sign_key) != 0) {
        *about = files->sign_key;
        st = host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                       "another key that signs: batches are named by it, so "
                       "only a restart takes it, when none waits");
    }
    if (st == HSY_OK) {
        pthread_mutex_lock(&h->lock);
        h->keys = keys;
        h->rekeyed = true;
        pthread_mutex_unlock(&h->lock);
    }
    explicit_bzero(&keys, sizeof keys);
    explicit_bzero(secret, sizeof secret);
    return st;
}

static void hop_public_of(struct hop_public *out, const struct hops_keys *keys)
{
    memcpy(out->sign, keys->sign, HSY_SIGN_KEY);
    out->nseal = keys->nseal;
    for (size_t i = 0; i < keys->nseal; i++)
        memcpy(out->seal[i], keys->seal[i].pub, HSY_SEAL_KEY);
}

hsy_status hop_files_check(struct hop_public *out,
                           const struct hop_files *files, const char **about,
                           hsy_error *err)
{
    uint8_t secret[HSY_SIGN_SECRET];
    struct hops_keys keys;
    const hsy_status st = hop_read_keys(&keys, secret, files, about, err);

    hop_public_of(out, &keys);
    explicit_bzero(&keys, sizeof keys);
    explicit_bzero(secret, sizeof secret);
    return st;
}

void hop_public(struct hop *h, struct hop_public *out)
{
    pthread_mutex_lock(&h->lock);
    hop_public_of(out, &h->keys);
    pthread_mutex_unlock(&h->lock);
}

/* The key that a task seals for this hop; NULL: none. */
static const uint8_t *hop_sealed_for(const hsy_task *t, hsy_statement *s,
                                     const uint8_t sign_key[HSY_SIGN_KEY],
                                     bool shuffles)
{
    if (t->model != HSY_MODEL_SHUFFLED)
        return NULL;
    if (!shuffles)
        return t->collector_key;
    for (uint32_t place = 1; hops_statement(t, place, s); place++)
        if (memcmp(s->sign_key, sign_key, HSY_SIGN_KEY) == 0)
            return s->seal_key;
    return NULL;
}

bool hop_keyless(const hsy_document *doc, const struct hop_public *keys,
                 bool shuffles, char task[HSY_TASK_ID + 1])
{
    for (uint32_t i = 0; i < doc->tasks; i++) {
        const uint8_t *key;
        hsy_statement s;
        hsy_task t;
        size_t k = 0;

        hsy_document_task(doc, &t, i);
        key = hop_sealed_for(&t, &s, keys->sign, shuffles);
        while (key != NULL && k < keys->nseal &&
               memcmp(keys->seal[k], key, HSY_SEAL_KEY) != 0)
            k++;
        if (key != NULL && k == keys->nseal) {
            memcpy(task, t.id, sizeof t.id);
            return true;
        }
    }
    return false;
}

struct hop_places hop_places(const hsy_document *doc,
                             const uint8_t sign_key[HSY_SIGN_KEY])
{
    struct hop_places at = {false, false};

    for (uint32_t i = 0; i < doc->tasks; i++) {
        hsy_statement s;
        hsy_task t;

        hsy_document_task(doc, &t, i);
        for (uint32_t place = 1; hops_statement(&t, place, &s); place++)
            if (memcmp(s.sign_key, sign_key, HSY_SIGN_KEY) == 0) {
                at.any = true;
                at.last |= place == t.shufflers;
            }
    }
    return at;
}

/* ---- Opening ------------------------------------------------------------- */

static hsy_status hop_open_parts(struct hop *h, const char **about,
                                 hsy_error *err)
{
    hsy_status st =
        hop_read_keys(&h->keys, h->secret, &h->options.files, about, err);

    memcpy(h->sign_key, h->keys.sign, sizeof h->sign_key);
    if (st == HSY_OK) {
        *about = h->options.directory;
        st = hop_take_open(h, err);
    }
    if (st == HSY_OK && h->shuffles)
        st = hop_documents_open(h, err);
    if (st == HSY_OK && h->shuffles)
        st = hop_mix_open(h, err);
    if (st == HSY_OK && h->shuffles)
        st = hop_deliver_open(h, about, err);
    return st;
}

hsy_status hop_open(struct hop **out, const struct hop_options *o,
                    const char **about, hsy_error *err)
{
    struct hop *h = calloc(1, sizeof *h);
    hsy_status st;

    *about = NULL;
    if (h == NULL)
        return host_nomem(err);
    h->options = *o;
    h->shuffles = o->next != NULL;
    h->status.shuffles = h->shuffles;
    pthread_mutex_init(&h->lock, NULL);
    st = thread_condition(&h->taker_wakes) && thread_condition(&h->mixer_wakes)
             ? hop_open_parts(h, about, err)
             : host_nomem(err);
    if (st == HSY_OK)
        *out = h;
    else
        hop_close(h);
    return st;
}

/* ---- Threads ------------------------------------------------------------- */

hsy_status hop_start(struct hop *h, hsy_error *err)
{
    h->taker_runs = thread_start(&h->taker, hop_take_main, h);
    if (h->taker_runs && h->shuffles)
        h->mixing_runs = thread_start(&h->mixing, hop_mix_main, h);
    return h->taker_runs && (!h->shuffles || h->mixing_runs)
               ? HSY_OK
               : host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE,
                           "there are no threads left");
}

void hop_stop(struct hop *h)
{
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_broadcast(&h->taker_wakes);
    pthread_cond_broadcast(&h->mixer_wakes);
    pthread_mutex_unlock(&h->lock);
    if (h->sender.client != NULL)
        client_stop(h->sender.client);
    if (h->taker_runs)
        pthread_join(h->taker, NULL);
    if (h->mixing_runs)
        pthread_join(h->mixing, NULL);
    h->taker_runs = h->mixing_runs = false;
    hop_take_none(h);
}

void hop_close(struct hop *h)
{
    if (h == NULL)
        return;
    hop_stop(h);
    for (struct hop_came *next, *c = h->came; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    hop_deliver_close(h);
    mixer_close(h->mixer);
    inbox_close(h->inbox);
    roster_drop(h->mixed);
    pthread_cond_destroy(&h->taker_wakes);
    pthread_cond_destroy(&h->mixer_wakes);
    pthread_mutex_destroy(&h->lock);
    free(h->rows);
    free(h->documents);
    free(h->documents_draft);
    explicit_bzero(h, sizeof *h);
    free(h);
}

/* ---- How it is ----------------------------------------------------------- */

void hop_status(struct hop *h, struct hop_status *out)
{
    pthread_mutex_lock(&h->lock);
    *out = h->status;
    if (h->failing != 0)
        out->waits = 1 + (steady_ms() - h->failing) / 1000;
    pthread_mutex_unlock(&h->lock);
}

struct store_mix *hop_mixes(struct hop *h, size_t *n)
{
    struct store_mix *rows;

    pthread_mutex_lock(&h->lock);
    *n = h->nrows;
    rows = *n == 0 ? NULL : malloc(*n * sizeof *rows);
    if (rows != NULL)
        memcpy(rows, h->rows, *n * sizeof *rows);
    else
        *n = 0;
    pthread_mutex_unlock(&h->lock);
    return rows;
}
