/* examine.c - what is wrong with a configuration, as far as that shows without
 * a store and without serving; and with the databases that it names. */
#define _DEFAULT_SOURCE
#include "server/collector/serve.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "host/tasks/expiry.h"
#include "host/tasks/keys.h"
#include "host/tasks/task_cost.h"
#include "host/tasks/task_file.h"
#include "server/cluster/cluster.h"
#include "server/intake/roster.h"
#include "server/shuffle/hops.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define EXAMINE_DAY 86400u
#define EXAMINE_PEM (1u << 20) /* bytes of a certificate or key */

struct examine {
    const struct config *config;
    serve_tell *tell;
    void *ctx;
    struct gateway *gateway; /* without keys, if they cannot be read */
    bool signs;              /* there is a key that signs: */
    struct hop_public keys;
    size_t wrong;
};

static void examine_say(struct examine *c, struct serve_finding found)
{
    c->wrong += found.what >= SERVE_WRONG;
    c->tell(c->ctx, &found);
}

/* A file that was not read, for a reason in err or errno. */
static void examine_file(struct examine *c, enum serve_found what,
                         const char *path, hsy_status st, const hsy_error *err)
{
    const int number = errno;
    struct serve_finding found = {
        .what = what, .about = path, .number = (uint64_t)number, .err = *err};

    found.err.status = st;
    if (st != HSY_OK)
        examine_say(c, found);
}

/* ---- The document -------------------------------------------------------- */

/* A closed task under a wrong name leaves the right one open. */
static void examine_enrolled(struct examine *c, const struct task_file *doc)
{
    for (char **task = c->config->enrolled; task != NULL && *task != NULL;
         task++)
        if (task_file_find(doc, *task) == doc->n)
            examine_say(c, (struct serve_finding){.what = SERVE_UNASKED,
                                                  .about = *task});
}

static void examine_expiry(struct examine *c, const hsy_document *doc)
{
    const uint64_t today = (uint64_t)time(NULL) / EXAMINE_DAY;
    const enum expiry when = expiry_of(doc->expires, today);

    if (when == EXPIRY_PAST)
        examine_say(c, (struct serve_finding){.what = SERVE_EXPIRED});
    else if (when == EXPIRY_NEAR)
        examine_say(c, (struct serve_finding){.what = SERVE_EXPIRES,
                                              .number = doc->expires - today});
}

/* What the tallies will take in the end. */
static void examine_memory(struct examine *c, const hsy_document *doc)
{
    const struct config *f = c->config;
    struct roster *none = roster_new(), *r = NULL;
    uint64_t need;

    if (none != NULL && roster_extend(&r, none, doc, NULL) == HSY_OK) {
        need = roster_tally_bytes(r, f->day_words,
                                  f->keep_days > f->grace_days ? f->keep_days
                                                               : f->grace_days);
        if (need > f->tally_bytes)
            examine_say(c, (struct serve_finding){.what = SERVE_MEMORY,
                                                  .number = (need >> 20) + 1});
    }
    roster_drop(r);
    roster_drop(none);
}

/* As a document is taken: each shuffler must have said what it has it say, and
 * batches must give the privacy that it claims. */
static void examine_statements(struct examine *c, const hsy_document *doc)
{
    hsy_error err = {0};
    uint32_t task;

    if (!hops_agree(doc, &task))
        examine_file(c, SERVE_NO_DOCUMENT, c->config->document,
                     host_fail_at(&err, HSY_E_SIGNATURE, HSY_FIELD_STATEMENT,
                                  "a shuffler's statement is not signed by it",
                                  HSY_UNIT_TASK, task + 1),
                     &err);
    else if (c->config->next != NULL &&
             !hops_in_time(doc, c->config->grace_days, &task))
        examine_file(c, SERVE_NO_DOCUMENT, c->config->document,
                     host_fail_at(&err, HSY_E_RANGE, HSY_FIELD_MAX_WAIT,
                                  HOPS_TOO_LATE, HSY_UNIT_TASK, task + 1),
                     &err);
    else
        examine_file(c, SERVE_NO_DOCUMENT, c->config->document,
                     task_model_check(doc, &err), &err);
}

/* What the document has for this part of a chain. */
static void examine_places(struct examine *c, const hsy_document *doc)
{
    const bool shuffles = c->config->next != NULL;
    const struct hop_places at = hop_places(doc, c->keys.sign);
    char task[HSY_TASK_ID + 1];

    if ((c->signs || c->config->sign_key == NULL) &&
        hop_keyless(doc, &c->keys, shuffles, task))
        examine_say(
            c, (struct serve_finding){.what = SERVE_KEYLESS, .about = task});
    if (!shuffles || !c->signs)
        return;
    if (!at.any)
        examine_say(c, (struct serve_finding){.what = SERVE_NO_PLACE});
    if (at.last && c->config->receipt_key == NULL)
        examine_say(c, (struct serve_finding){.what = SERVE_NO_RECEIPT});
}

static void examine_signed(struct examine *c, const struct task_file *doc,
                           const uint8_t key[HSY_SIGN_KEY])
{
    const size_t len = doc->doc.len - HSY_SIGNATURE;

    if (!hsy_sign_verify(key, doc->bytes + len, doc->bytes, len)) {
        examine_say(c, (struct serve_finding){.what = SERVE_UNSIGNED});
        return;
    }
    examine_statements(c, &doc->doc);
    examine_enrolled(c, doc);
    examine_expiry(c, &doc->doc);
    if (c->config->next == NULL)
        examine_memory(c, &doc->doc);
    if (c->gateway != NULL && gateway_unnamed(c->gateway, &doc->doc))
        examine_say(c, (struct serve_finding){.what = SERVE_UNNAMED});
    examine_places(c, &doc->doc);
}

static void examine_document(struct examine *c)
{
    const struct config *f = c->config;
    uint8_t key[HSY_SIGN_KEY];
    struct task_file doc = {0};
    hsy_error err = {0};
    hsy_status known = HSY_E_EMPTY, st;

    if (f->public_key != NULL) {
        known = keys_public(key, f->public_key, &err);
        examine_file(c, SERVE_NO_KEY, f->public_key, known, &err);
    }
    if (f->document == NULL)
        return;
    st = task_file_document(&doc, f->document, &err);
    examine_file(c, SERVE_NO_DOCUMENT, f->document, st, &err);
    if (st == HSY_OK && known == HSY_OK)
        examine_signed(c, &doc, key);
    task_file_clear(&doc);
}

/* ---- Other files --------------------------------------------------------- */

/* As a store wants it, if it is there; whose it must be depends on who runs the
 * collector. */
static void examine_data(struct examine *c)
{
    const char *data = c->config->data;
    struct stat is;

    if (data == NULL)
        return; /* a cluster's node */
    if (stat(data, &is) == -1) {
        if (errno != ENOENT)
            examine_file(c, SERVE_NO_FILE, data, HSY_E_IO, &(hsy_error){0});
    } else if (!S_ISDIR(is.st_mode)) {
        examine_say(c, (struct serve_finding){.what = SERVE_NO_DIRECTORY});
    } else if ((is.st_mode & 077) != 0) {
        examine_say(c, (struct serve_finding){.what = SERVE_OPEN_DIRECTORY});
    }
}

static void examine_pem(struct examine *c, const char *path)
{
    uint8_t *bytes = NULL;
    hsy_error err = {0};
    size_t len;

    if (path != NULL)
        examine_file(c, SERVE_NO_FILE, path,
                     file_whole(&bytes, &len, path, EXAMINE_PEM, &err), &err);
    free(bytes);
}

/* Checks that each file can be read, then that they belong together. */
static void examine_tls(struct examine *c)
{
    const struct config *f = c->config;
    const size_t before = c->wrong;
    struct serve_trouble t = {0};
    struct pem_pair tls;

    examine_pem(c, f->tls_cert);
    examine_pem(c, f->tls_key);
    if (f->tls_cert == NULL || f->tls_key == NULL || c->wrong != before)
        return;
    if (serve_read_tls(&tls, f, &t) != HSY_OK)
        examine_say(
            c, (struct serve_finding){.what = SERVE_TROUBLE, .trouble = &t});
    pem_forget(&tls);
}

static void examine_gateway(struct examine *c)
{
    const char *about = "gateway_keys";
    hsy_error err = {0};
    hsy_status st = gateway_new(&c->gateway, &err);

    if (st == HSY_OK)
        st = gateway_take_keys(c->gateway, c->config->gateway_keys, &about,
                               &err);
    examine_file(c, SERVE_NO_KEY, about, st, &err);
}

static void examine_chain(struct examine *c)
{
    const struct hop_files files = serve_hop_files(c->config);
    const char *about = "sign_key";
    hsy_error err = {0};
    hsy_status st;

    if (files.sign_key == NULL)
        return;
    st = hop_files_check(&c->keys, &files, &about, &err);
    c->signs = st == HSY_OK;
    examine_file(c, SERVE_NO_KEY, about, st, &err);
}

/* ---- The databases of a cluster ------------------------------------------ */

static void examine_shard(void *ctx, const struct cluster_finding *is)
{
    struct examine *c = ctx;
    struct serve_trouble t = {.err = is->err};
    const uint64_t apart =
        (uint64_t)(is->behind > 0 ? is->behind : -is->behind) / EXAMINE_DAY;

    if (is->st != HSY_OK) {
        serve_cluster_fail(&t, is->st, is->name, is->reason);
        examine_say(
            c, (struct serve_finding){.what = SERVE_TROUBLE, .trouble = &t});
        return;
    }
    if (!is->replicated)
        examine_say(
            c, (struct serve_finding){.what = SERVE_ALONE, .about = is->name});
    if (apart != 0 && c->config->rehearsal == NULL)
        examine_say(c, (struct serve_finding){.what = SERVE_APART,
                                              .about = is->name,
                                              .number = apart});
}

static void examine_cluster(struct examine *c)
{
    const struct cluster_options o = {.storage = c->config->storage,
                                      .node = "check",
                                      .rehearsal =
                                          c->config->rehearsal != NULL};

    if (config_many(c->config))
        cluster_examine(&o, examine_shard, c);
}

/* One of those that a configuration names. */
static void examine_directory(struct examine *c, const struct config *one)
{
    struct serve_trouble t = {0};

    if (serve_directories(one, &t) != HSY_OK)
        examine_say(
            c, (struct serve_finding){.what = SERVE_TROUBLE, .trouble = &t});
}

size_t serve_examine(const struct config *f, serve_tell *tell, void *ctx)
{
    struct examine c = {.config = f, .tell = tell, .ctx = ctx};

    examine_gateway(&c);
    examine_chain(&c);
    examine_document(&c);
    examine_data(&c);
    examine_cluster(&c);
    examine_directory(&c, &(struct config){.backups = f->backups});
    examine_directory(&c, &(struct config){.candidates = f->candidates});
    examine_tls(&c);
    examine_pem(&c, f->next_ca);
    gateway_free(c.gateway);
    return c.wrong;
}
