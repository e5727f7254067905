/* gather.c - report streams and tally files into one tally. */
#define _DEFAULT_SOURCE
#include "cli/base/gather.h"

#include "host/format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GATHER_CHUNK 32768u       /* most reports unpacked at once */
#define GATHER_BYTES (256u << 10) /* most bytes of them */

/* item says where. */
static int gather_fail(const char *name, const struct container_item *item,
                       const hsy_error *err)
{
    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->status == HSY_E_IO && errno != 0)
        return cli_fail("%s: %s", name, strerror(errno));
    return cli_fail_at(name, item->unit, err);
}

/* ---- Schemes ------------------------------------------------------------- */

/* An empty tally and room for a chunk of reports. */
static bool gather_allocate(struct gather *g)
{
    size_t words = hsy_tally_words(g->scheme);
    size_t n = GATHER_BYTES / g->info.report_bytes / 8 * 8;

    g->chunk = n < 8 ? 8 : n > GATHER_CHUNK ? GATHER_CHUNK : n;
    g->memory = calloc(words, sizeof *g->memory);
    g->reports = malloc(g->chunk * g->info.report_bytes);
    if (g->memory == NULL || g->reports == NULL)
        return false;
    hsy_tally_init(&g->tally, g->scheme, g->memory);
    return true;
}

/* The file's labels, with what stands before them. */
static bool gather_block(struct gather *g, const uint8_t *labels)
{
    if (g->info.labels_len == 0)
        return true;
    g->block = malloc(g->info.labels_len);
    if (g->block != NULL)
        memcpy(g->block, labels, g->info.labels_len);
    return g->block != NULL;
}

static int gather_begin(struct gather *g, struct container_reader *r,
                        const struct container_item *item, const char *name)
{
    hsy_error err = {0};

    g->scheme = container_keep_scheme(r);
    g->first = name;
    hsy_scheme_info(g->scheme, &g->info);
    if (!gather_block(g, item->labels))
        return cli_fail_nomem();
    if (g->info.labels_len > g->info.labels_at &&
        labels_take(&g->labels, g->block + g->info.labels_at,
                    g->info.labels_len - g->info.labels_at, &err) != HSY_OK)
        return gather_fail(name, item, &err);
    return gather_allocate(g) ? 0 : cli_fail_nomem();
}

/* Another file begins: it must be of the same scheme. */
static int gather_compare(const struct gather *g,
                          const struct container_item *item, const char *name)
{
    const char *difference;
    hsy_info other;
    char names[160] = "";

    if (memcmp(item->prefix.digest, g->info.digest, HSY_DIGEST) == 0)
        return 0;
    difference = hsy_scheme_difference(g->scheme, item->scheme);
    if (difference == NULL)
        difference = "digest";
    hsy_scheme_info(item->scheme, &other);
    if (strcmp(difference, "mechanism") == 0)
        snprintf(names, sizeof names, ": %s and %s", g->info.mechanism,
                 other.mechanism);
    if (name == g->first)
        return cli_fail("%s: holds files that cannot be mixed: they differ in "
                        "%s%s",
                        name, difference, names);
    return cli_fail("%s: cannot be mixed with %s: they differ in %s%s", name,
                    g->first, difference, names);
}

/* ---- Records ------------------------------------------------------------- */

static int gather_fail_report(const char *name,
                              const struct container_item *item,
                              uint64_t report, const hsy_error *err)
{
    return cli_fail("%s: %s %" PRIu64 ", report %" PRIu64 ": %s", name,
                    item->unit, item->line, report,
                    err->msg != NULL ? err->msg : hsy_strstatus(err->status));
}

static int gather_reports(struct gather *g, const struct container_item *item,
                          const char *name)
{
    const uint8_t *packed = item->payload;
    uint64_t done = 0;

    while (done < item->record.count) {
        uint64_t left = item->record.count - done;
        size_t n = left < g->chunk ? (size_t)left : g->chunk;
        hsy_error err = {0};
        hsy_status st = hsy_unpack(g->scheme, g->reports, packed, n);

        if (st != HSY_OK)
            return cli_fail("%s: %s %" PRIu64 ": spare bits are not zero", name,
                            item->unit, item->line);
        st = hsy_tally_batch(&g->tally, g->scheme, g->reports, n, &err);
        if (st != HSY_OK)
            return gather_fail_report(name, item, done + err.line, &err);
        packed += hsy_packed_size(g->scheme, n); /* whole: n is 8m, or last */
        done += n;
    }
    g->counted += done;
    cli_progress_tick(&g->progress, g->counted, "reports");
    return 0;
}

/* A file is over: of which round were its reports, if it did not say? */
static hsy_status gather_end(struct gather *g,
                             const struct container_item *item,
                             const char *name, hsy_error *err)
{
    hsy_round round;

    if (g->said || item->record.count == 0)
        return HSY_OK;
    if (g->round == NULL) {
        g->nunsaid++;
        g->unsaid = name;
        return HSY_OK;
    }
    round = *g->round;
    round.reports = item->record.count;
    return rounds_add(&g->rounds, &round, err);
}

static hsy_status gather_record(struct gather *g,
                                const struct container_item *item,
                                const char *name, hsy_error *err)
{
    hsy_status st;

    if (item->record.type == HSY_RECORD_END)
        return gather_end(g, item, name, err);
    g->said |= item->record.type == HSY_RECORD_ROUNDS;
    st = container_add_record(&g->tally, &item->record, item->payload, err);
    return st == HSY_OK ? container_add_rounds(&g->rounds, &item->record,
                                               item->payload, err)
                        : st;
}

static int gather_item(struct gather *g, struct container_reader *r,
                       const struct container_item *item, const char *name)
{
    hsy_error err = {0};

    if (item->type == CONTAINER_PREFIX) {
        g->said = false;
        return g->scheme == NULL ? gather_begin(g, r, item, name)
                                 : gather_compare(g, item, name);
    }
    if (item->record.type == HSY_RECORD_REPORTS)
        return gather_reports(g, item, name);
    if (gather_record(g, item, name, &err) == HSY_OK)
        return 0;
    err.line = item->line;
    return gather_fail(name, item, &err);
}

static int gather_items(struct gather *g, struct container_reader *r,
                        const char *name)
{
    struct container_item item;
    hsy_error err = {0};

    for (;;) {
        hsy_status st;
        int failed;

        errno = 0;
        st = container_next(r, &item, &err);
        if (st == HSY_E_END)
            return 0;
        if (st != HSY_OK)
            return gather_fail(name, &item, &err);
        failed = gather_item(g, r, &item, name);
        if (failed)
            return failed;
    }
}

int cli_gather_file(struct gather *g, const char *path)
{
    const char *name = cli_input_name(path);
    int fd = cli_open_input(path);
    struct container_reader *r;
    int failed;

    if (fd == -1)
        return CLI_FAILED;
    r = container_open(fd);
    failed = r != NULL ? gather_items(g, r, name) : cli_fail_nomem();
    container_close(r);
    cli_close_input(fd);
    cli_progress_end(&g->progress);
    return failed;
}

static int gather_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file that is named twice is counted twice: a slip of the hand, most likely,
 * that would show nowhere else. */
static int gather_twice(char *const *paths, size_t n)
{
    char **sorted;

    if (n < 2)
        return 0;
    sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return cli_fail_nomem();
    memcpy(sorted, paths, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, gather_order);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i], sorted[i - 1]) == 0)
            cli_note("warning: %s is named twice, and its people count twice",
                     sorted[i]);
    free(sorted);
    return 0;
}

int cli_gather_files(struct gather *g, struct cli_parser *p, char **paths,
                     int n)
{
    int failed = cli_check_inputs(p, (const char *const *)paths, (size_t)n);

    if (!failed)
        failed = gather_twice(paths, (size_t)n);
    if (!failed && n == 0)
        failed = cli_gather_file(g, NULL);
    for (int i = 0; i < n && !failed; i++)
        failed = cli_gather_file(g, paths[i]);
    return failed ? failed : cli_gather_settle(g);
}

/* ---- Rounds -------------------------------------------------------------- */

/* Whether its reports are made from kept answers, by a second step or, as
 * RAPPOR's, by the mechanism itself. */
static bool gather_keeps(const struct gather *g)
{
    return g->info.epsilon_lifetime > 0;
}

int cli_gather_settle(const struct gather *g)
{
    if (g->nunsaid != 0 && g->rounds.n != 0)
        return cli_fail("%s: does not say of which round its reports are, and "
                        "others do: 'hearsay tally --round SLOT:ROUND' makes a "
                        "tally that does",
                        g->unsaid);
    if (g->nunsaid > 1 && g->info.nano_permanent != 0)
        return cli_fail("%s: reports made from kept answers share their noise "
                        "with those of other rounds, and nothing says of which "
                        "round these are: 'hearsay tally --round SLOT:ROUND' "
                        "makes a tally that does",
                        g->unsaid);
    return 0;
}

static hsy_status gather_attend(struct gather *g, uint64_t most, hsy_error *err)
{
    if (g->rounds.n != 0)
        return rounds_attend(&g->attended, &g->rounds, err);
    return hsy_attend_most(&g->attended, hsy_tally_reports(&g->tally), most,
                           err);
}

int cli_gather_attend(struct gather *g, uint64_t most)
{
    hsy_error err = {0};
    int failed = cli_gather_settle(g);

    if (failed || hsy_tally_reports(&g->tally) == 0)
        return failed;
    if (g->rounds.n != 0 && most != 0)
        return cli_fail("%s: says its rounds: leave out --rounds", g->first);
    if (most > 1 && g->info.release)
        return cli_fail("%s: --rounds does not go with a curator's release, "
                        "which has no reports: leave it out",
                        g->first);
    if (most > 1 && !gather_keeps(g))
        return cli_fail("%s: --rounds is for reports that are made from kept "
                        "answers, and those of this scheme have coins of their "
                        "own: leave it out; who is in it more than once "
                        "counts so many times",
                        g->first);
    if (g->rounds.n == 0 && most == 0 && gather_keeps(g))
        return cli_fail("%s: no interval: its reports are made from kept "
                        "answers, and nothing says of how many rounds they "
                        "are: --rounds 1 if nobody is in it twice, --rounds T "
                        "if in at most T",
                        g->first);
    if (g->rounds.n == 0 && most == 0)
        return 0;
    if (gather_attend(g, most, &err) != HSY_OK)
        return err.status == HSY_E_NOMEM ? cli_fail_nomem()
                                         : cli_fail_error(g->first, &err);
    g->attends = true;
    g->tally.kept = g->attended.kept;
    return 0;
}

void gather_clear(struct gather *g)
{
    labels_clear(&g->labels);
    free(g->block);
    free(g->scheme);
    free(g->memory);
    free(g->reports);
    rounds_clear(&g->rounds);
    *g = (struct gather){0};
}
