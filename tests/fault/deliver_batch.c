/*
 * deliver_batch.c - what shufflers do to a collector's data, without them.
 *
 *     deliver_batch statement FILE TASK RELEASE PLACE OF MIN_BATCH UNTIL
 *     deliver_batch batch DATA TASK DAY EPOCH REPORTS NULLS NUMBER
 *
 * The first writes a shuffler's statement, signed by a key of its own. The
 * second puts a batch into the data of a collector that does not run, as its
 * engine takes one from a shuffler: reports of people of whom each third has
 * the last value, one of two, and nulls. NUMBER is the batch's, of which each
 * comes once.
 */
#include "hearsay.h"
#include "hearsay/host.h"
#include "server/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *why)
{
    fprintf(stderr, "deliver_batch: %s\n", why);
    exit(1);
}

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

/* ---- A statement --------------------------------------------------------- */

static void statement(char **argv)
{
    hsy_statement s = {.release = number(argv[2]),
                       .place = number(argv[3]),
                       .of = number(argv[4]),
                       .min_batch = number(argv[5]),
                       .max_wait = 2,
                       .close_after_seconds = 21600,
                       .from = 1,
                       .until = number(argv[6]),
                       .operated_by = "Example"};
    uint8_t secret[HSY_SIGN_SECRET], wire[HSY_STATEMENT_WIRE];
    FILE *out = fopen(argv[0], "wb");

    snprintf(s.task, sizeof s.task, "%s", argv[1]);
    memset(s.seal_key, (int)(8 + s.place), sizeof s.seal_key);
    if (hsy_sign_keypair(s.sign_key, secret) != HSY_OK ||
        hsy_statement_encode(wire, &s, NULL) != HSY_OK ||
        hsy_sign(wire + HSY_STATEMENT_SIGNED, wire, HSY_STATEMENT_SIGNED,
                 secret) != HSY_OK ||
        out == NULL || fwrite(wire, 1, sizeof wire, out) != sizeof wire ||
        fclose(out) != 0)
        die("no statement");
}

/* ---- A batch ------------------------------------------------------------- */

struct parcel {
    struct engine_delivery d;
    uint8_t *items;
    uint8_t (*names)[16];
    bool *null;
};

/* Each envelope's name is its place, and the batch's number. */
static void fill(struct parcel *p, const struct roster_entry *e,
                 uint32_t reports, uint32_t nulls, uint32_t id)
{
    static const uint8_t no_heads[8];
    static hsy_entropy entropy;
    const size_t item = hsy_packed_size(e->scheme, 1), n = reports + nulls;
    uint8_t report[8] = {0};
    hsy_coins coins;

    hsy_entropy_init(&entropy);
    coins = hsy_entropy_coins(&entropy);
    p->items = calloc(n, item);
    p->names = calloc(n, sizeof *p->names);
    p->null = calloc(n, sizeof *p->null);
    if (p->items == NULL || p->names == NULL || p->null == NULL)
        die("out of memory");
    for (uint32_t i = 0; i < n; i++) {
        const hsy_truth truth = {.type = HSY_TRUTH_INDEX,
                                 .u.index = i % 3 == 2};

        memcpy(p->names[i], &i, sizeof i);
        memcpy(p->names[i] + 4, &id, sizeof id);
        p->null[i] = i >= reports;
        if (p->null[i])
            continue;
        if (hsy_randomize(e->scheme, report, &truth, &coins, NULL) != HSY_OK)
            die("no report");
        hsy_pack(e->scheme, p->items + i * item, report, 1);
    }
    p->d = (struct engine_delivery){.entry = e->number,
                                    .heads = no_heads,
                                    .heads_len = sizeof no_heads,
                                    .type = STORE_REPORTS,
                                    .n = n,
                                    .item = item,
                                    .items = p->items,
                                    .names = (const uint8_t(*)[16])p->names,
                                    .null = p->null};
    memcpy(p->d.id, &id, sizeof id);
    memcpy(p->d.digest, &id, sizeof id);
}

static const struct roster_entry *entry_of(struct roster *r, const char *task)
{
    for (size_t i = 0; i < roster_count(r); i++)
        if (strcmp(roster_at(r, i)->task.id, task) == 0)
            return roster_at(r, i);
    die("no such task");
    return NULL;
}

static void batch(char **argv)
{
    const struct engine_options o = {.ids_epoch = 1 << 20,
                                     .fold_bytes = 1 << 26,
                                     .tally_bytes = 1 << 28,
                                     .day_words = 1 << 16,
                                     .keep_days = 100,
                                     .grace_days = 3,
                                     .clock_days = 12,
                                     .driven_clock = true};
    const uint64_t now = (uint64_t)number(argv[2]) * 86400 + 43200;
    struct store_state state;
    struct parcel p = {.items = NULL};
    struct store *store = NULL;
    struct engine *e = NULL;
    struct roster *roster;
    hsy_error err = {.msg = "no data"};

    if (store_sqlite_open(&store, &state, argv[0], false, &err) != HSY_OK ||
        engine_open(&e, store, &state, &o, &err) != HSY_OK ||
        engine_tell(e, (struct engine_time){now, now}, &err) != HSY_OK)
        die(err.msg);
    roster = engine_roster(e);
    fill(&p, entry_of(roster, argv[1]), number(argv[4]), number(argv[5]),
         number(argv[6]));
    p.d.epoch = number(argv[3]);
    if (engine_receive(e, &p.d, &err) != HSY_OK)
        die(err.msg);
    engine_close(e);
    roster_drop(roster);
    store->ops->close(store);
    free(p.items);
    free(p.names);
    free(p.null);
}

int main(int argc, char **argv)
{
    if (argc == 9 && strcmp(argv[1], "statement") == 0)
        statement(argv + 2);
    else if (argc == 9 && strcmp(argv[1], "batch") == 0)
        batch(argv + 2);
    else
        die("statement FILE TASK RELEASE PLACE OF MIN_BATCH UNTIL, or batch "
            "DATA TASK DAY EPOCH REPORTS NULLS NUMBER");
    return 0;
}
