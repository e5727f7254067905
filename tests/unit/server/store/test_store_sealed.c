/* Tests of src/server/store/mixes.c: sealed batches rest until their set is
 * erased and are handed over one by one; what came from a hop comes once; what
 * is decided about a set is durable, wherever the process is killed. */
#define _GNU_SOURCE

#include "rig/sanitized.h"
#include "rig/store_disk.h"
#include "rig/store_rig.h"
#include "server/store/admin.h"
#include "tap.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define SEALED_LEN 8u

static char sealed_root[64], sealed_at[96], sealed_heir[96];

static struct store *sealed_open(struct store_state *state)
{
    struct store *s = NULL;
    hsy_error err = {0};
    hsy_status st = store_sqlite_open(&s, state, sealed_at, true, &err);

    if (st != HSY_OK)
        ok(false, "it opens: %s", err.msg);
    return s;
}

/* A commit of n envelopes of an entry and an epoch; each holds the commit's
 * number. */
static hsy_status sealed_append(struct store *s, uint64_t seq, uint32_t entry,
                                uint32_t epoch, size_t n)
{
    uint8_t bytes[16 * SEALED_LEN];
    const struct store_batch b = {.entry = entry,
                                  .epoch = epoch,
                                  .type = STORE_SEALED,
                                  .reports = n,
                                  .bytes = bytes,
                                  .len = n * SEALED_LEN};
    const struct store_commit c = {.seq = seq, .batches = &b, .nbatches = 1};
    hsy_error err;

    memset(bytes, (int)seq, sizeof bytes);
    return s->ops->append(s, &c, &err);
}

/* ---- Sets ---------------------------------------------------------------- */

struct sealed_seen {
    uint64_t rows, envelopes, commits; /* commits: a bit for each */
    bool whole;
};

static hsy_status sealed_look(void *ctx, const struct store_batch *b)
{
    struct sealed_seen *seen = ctx;

    seen->rows++;
    seen->envelopes += b->reports;
    seen->commits |= UINT64_C(1) << b->seq;
    seen->whole = seen->whole && b->type == STORE_SEALED &&
                  b->len == b->reports * SEALED_LEN && b->bytes[0] == b->seq;
    return HSY_OK;
}

static struct sealed_seen sealed_all(struct store *s, struct store_set set)
{
    struct sealed_seen seen = {.whole = true};
    uint64_t at = 0, count = 0;
    bool more = true;
    hsy_error err;

    while (more && s->ops->sealed(s, &set, &at, sealed_look, &seen, &more,
                                  &err) == HSY_OK)
        ;
    if (s->ops->sealed_count(s, &set, &count, &err) != HSY_OK ||
        count != seen.envelopes)
        seen.whole = false;
    return seen;
}

/* Everything of an entry. */
static struct store_set sealed_whole(uint32_t entry)
{
    return (struct store_set){
        .entry = entry, .epoch = UINT32_MAX, .through = INT64_MAX};
}

static void sealed_fill(struct store *s)
{
    static const struct {
        uint32_t entry, epoch;
        size_t n;
    } commits[] = {{0, 7, 3}, {1, 7, 2}, {0, 8, 5}, {0, 7, 1}, {0, 9, 4}};

    for (size_t i = 0; i < sizeof commits / sizeof commits[0]; i++)
        is_status(sealed_append(s, i + 1, commits[i].entry, commits[i].epoch,
                                commits[i].n),
                  HSY_OK, "envelopes are appended");
}

static void sets_are_cut_by_epoch_and_commit(void)
{
    struct store_state state;
    struct store *s = sealed_open(&state);
    struct sealed_seen seen;

    sealed_fill(s);
    seen = sealed_all(s, sealed_whole(0));
    ok(seen.whole && seen.commits == (1u << 1 | 1u << 3 | 1u << 4 | 1u << 5),
       "all of an entry");
    seen =
        sealed_all(s, (struct store_set){.entry = 0, .epoch = 7, .through = 3});
    ok(seen.whole && seen.commits == 1u << 1 && seen.envelopes == 3,
       "up to an epoch and a commit");
    seen = sealed_all(s, (struct store_set){.entry = 0,
                                            .epoch = 8,
                                            .through = 5,
                                            .not_epoch = 7,
                                            .not_through = 3});
    ok(seen.whole && seen.commits == (1u << 3 | 1u << 4),
       "without what an earlier set has: the late one is of the later");
    seen = sealed_all(
        s, (struct store_set){.entry = 0, .epoch = 9, .from = 5, .through = 5});
    ok(seen.whole && seen.commits == 1u << 5, "of one commit alone");
    s->ops->close(s);
}

static hsy_status sealed_no_batch(void *ctx, const struct store_batch *b)
{
    (void)b;
    ++*(unsigned *)ctx;
    return HSY_OK;
}

static void no_round_takes_them(void)
{
    const struct store_round round = {0, 5};
    struct store_state state;
    struct store *s = sealed_open(&state);
    unsigned batches = 0;
    const struct store_reader to = {.ctx = &batches, .batch = sealed_no_batch};
    hsy_error err;

    is_status(s->ops->rounds(s, &round, 1, &err), HSY_OK,
              "a round is put in force");
    s->ops->close(s);
    s = sealed_open(&state); /* erases what was folded */
    ok(sealed_all(s, sealed_whole(0)).envelopes == 13,
       "a round through their commits erases none");
    ok(s->ops->read(s, &to, &err) == HSY_OK && batches == 0,
       "and none is read back with the batches");
    s->ops->close(s);
}

static void a_set_is_erased_and_no_other(void)
{
    const struct store_set set = {.entry = 0, .epoch = 7, .through = 4};
    struct store_state state;
    struct store *s = sealed_open(&state);
    hsy_error err;
    bool more = true;

    while (more && s->ops->sealed_erase(s, &set, &more, &err) == HSY_OK)
        ;
    ok(sealed_all(s, sealed_whole(0)).commits == (1u << 3 | 1u << 5) &&
           sealed_all(s, sealed_whole(1)).envelopes == 2,
       "a set is erased, its neighbours stay");
    s->ops->close(s);
    s = sealed_open(&state);
    ok(s != NULL, "and the record agrees with itself");
    s->ops->close(s);
    rig_remove(sealed_at);
}

/* ---- Rows ---------------------------------------------------------------- */

struct sealed_rows {
    struct store_mix mix[4];
    size_t mixes, received;
    struct store_received last;
};

static hsy_status sealed_take_mix(void *ctx, const struct store_mix *mix)
{
    struct sealed_rows *r = ctx;

    if (r->mixes < 4)
        r->mix[r->mixes] = *mix;
    r->mixes++;
    return HSY_OK;
}

static hsy_status sealed_take_received(void *ctx,
                                       const struct store_received *row)
{
    struct sealed_rows *r = ctx;

    r->received++;
    r->last = *row;
    return HSY_OK;
}

static struct sealed_rows sealed_rows(struct store *s)
{
    struct sealed_rows r = {.mixes = 0};
    const struct store_reader to = {
        .ctx = &r, .mix = sealed_take_mix, .received = sealed_take_received};
    hsy_error err;

    if (s->ops->read(s, &to, &err) != HSY_OK)
        r.mixes = 99;
    return r;
}

static struct store_mix sealed_mix(uint8_t name, enum store_mix_state state)
{
    struct store_mix m = {
        .entry = 0, .epoch = name, .through = 5, .n = 9, .state = state};

    memset(m.id, name, sizeof m.id);
    return m;
}

static void rows_replace_each_other(void)
{
    struct store_mix two[2] = {sealed_mix(1, STORE_MIX_WAITING),
                               sealed_mix(2, STORE_MIX_CLOSED)};
    struct store_state state;
    struct store *s = sealed_open(&state);
    struct sealed_rows r;
    hsy_error err;

    is_status(s->ops->mix(s, two, 2, &err), HSY_OK, "two rows are put");
    r = sealed_rows(s);
    ok(r.mixes == 2 && r.mix[1].state == STORE_MIX_CLOSED &&
           r.mix[1].epoch == 2 && r.mix[1].n == 9 && r.mix[1].through == 5,
       "rows are read back");
    two[0].state = STORE_MIX_NONE;
    two[1].state = STORE_MIX_MIXED;
    memset(two[1].digest, 0xd1, STORE_DIGEST);
    is_status(s->ops->mix(s, two, 2, &err), HSY_OK, "and again");
    s->ops->close(s);
    s = sealed_open(&state);
    r = sealed_rows(s);
    ok(r.mixes == 1 && r.mix[0].state == STORE_MIX_MIXED &&
           r.mix[0].digest[31] == 0xd1,
       "one takes the place of that with its id, and one is gone");
    s->ops->close(s);
}

static void a_batch_comes_once(void)
{
    const uint8_t heads[256] = {1, 2, 3};
    struct store_received got = {.entry = 1,
                                 .epoch = 7,
                                 .n = 40,
                                 .nulls = 3,
                                 .unopened = 2,
                                 .again = 1,
                                 .heads = heads,
                                 .heads_len = sizeof heads};
    struct store_commit c = {.seq = 1, .received = &got};
    struct store_received found;
    struct store_state state;
    struct store *s = sealed_open(&state);
    hsy_error err;

    memset(got.id, 0xa1, sizeof got.id);
    memset(got.digest, 0xb2, sizeof got.digest);
    is_status(s->ops->received(s, got.id, &found, &err), HSY_E_EMPTY,
              "a batch that never came");
    is_status(s->ops->append(s, &c, &err), HSY_OK, "it comes");
    c.seq = 2;
    is_status(s->ops->append(s, &c, &err), HSY_E_REFUSED, "but once");
    s->ops->close(s);
    s = sealed_open(&state);
    is_u64(state.seq, 1, "the second has left nothing");
    ok(s->ops->received(s, got.id, &found, &err) == HSY_OK &&
           found.digest[0] == 0xb2 && found.n == 40 && found.nulls == 3 &&
           found.unopened == 2 && found.again == 1 && found.entry == 1,
       "and is known by its id, with what became of it");
    ok(sealed_rows(s).received == 1 && sealed_rows(s).last.heads_len == 256,
       "it is read back with its heads");
    got.id[0]++;
    got.epoch = 5;
    is_status(s->ops->append(s, &c, &err), HSY_OK, "an older one comes");
    is_u64(sealed_rows(s).received, 2, "so there are two");
    is_status(s->ops->forget_received(s, 6, &err), HSY_OK,
              "forgets batches of epochs before the sixth");
    s->ops->close(s);
    s = sealed_open(&state);
    ok(sealed_rows(s).received == 1 && sealed_rows(s).last.epoch == 7,
       "and has the first one still");
    s->ops->close(s);
}

static void missing_and_changed_rows_are_found(void)
{
    static const char *const changes[] = {
        "DELETE FROM mixes", "UPDATE mixes SET state = 5",
        "DELETE FROM received", "UPDATE received SET n = n + 1"};
    struct store_state state;

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct store *s = NULL;
        struct sealed_rows r = {.mixes = 0};
        hsy_error err = {0};
        hsy_status st;

        rig_remove(sealed_at);
        rows_replace_each_other();
        a_batch_comes_once();
        if (rig_sql(sealed_at, "record.db", changes[i]) == -1)
            ok(false, "%s", changes[i]);
        st = store_sqlite_open(&s, &state, sealed_at, false, &err);
        if (st == HSY_OK) {
            r = sealed_rows(s);
            s->ops->close(s);
        }
        ok(st == HSY_E_DAMAGED || r.mixes == 99, "%s: damaged", changes[i]);
    }
    rig_remove(sealed_at);
}

/* ---- Archives ------------------------------------------------------------ */

/* An archive of a store with two entries, in memory: its descriptor, or -1. */
static int sealed_archive(struct store *s, const struct store_state *state,
                          hsy_status *st, hsy_error *err)
{
    struct output *out = NULL;
    uint8_t *bytes = NULL;
    size_t len = 0;
    int fd = -1;

    if (output_memory(&out) != HSY_OK)
        return -1;
    *st = store_archive_write(s, state, sealed_at, out, err);
    if (*st != HSY_OK) {
        output_abort(out);
        return -1;
    }
    if (output_take(out, &bytes, &len) == HSY_OK) {
        fd = memfd_create("archive", MFD_CLOEXEC);
        if (write(fd, bytes, len) != (ssize_t)len)
            ok(false, "an archive is kept");
        lseek(fd, 0, SEEK_SET);
    }
    free(bytes);
    return fd;
}

static void an_archive_has_what_came_and_no_envelopes(void)
{
    const uint8_t one[] = {1}, *const entries[] = {one, one};
    const size_t lens[] = {1, 1};
    struct store_received got = {.entry = 1,
                                 .epoch = 7,
                                 .n = 4,
                                 .heads = one,
                                 .heads_len = 1,
                                 .id = {9},
                                 .digest = {8}};
    const struct store_commit c = {.seq = 1, .received = &got};
    struct store_received found = {.n = 0};
    struct store_state state, other;
    struct store *s = sealed_open(&state), *heir = NULL;
    hsy_error err = {0};
    hsy_status st;
    int fd;

    s->ops->document(s, one, 1, 0, entries, lens, 2, &err);
    s->ops->append(s, &c, &err);
    fd = sealed_archive(s, &state, &st, &err);
    is_status(st, HSY_OK, "a collector's data is exported");
    is_status(store_sqlite_open(&heir, &other, sealed_heir, true, &err), HSY_OK,
              "into new data");
    is_status(store_archive_read(heir, sealed_heir, fd, &err), HSY_OK,
              "it is imported");
    ok(heir->ops->received(heir, got.id, &found, &err) == HSY_OK &&
           found.n == 4 && found.digest[0] == 8 && found.entry == 1,
       "with the batches that came, so that none comes twice");
    close(fd);
    heir->ops->close(heir);

    sealed_append(s, 2, 0, 7, 3);
    fd = sealed_archive(s, &state, &st, &err);
    ok(fd == -1 && st == HSY_E_REFUSED && err.field == HOST_FIELD_MIXES,
       "data of a shuffler is not exported: %s", err.msg);
    s->ops->close(s);
    rig_remove(sealed_at);
    rig_remove(sealed_heir);
}

/* ---- Kills --------------------------------------------------------------- */

#define SEALED_COMMITS 6u

/* What is outside of the process. */
struct sealed_told {
    uint64_t acknowledged, tried;
    enum store_mix_state state, tried_state;
};

static void sealed_decide(struct store *s, struct sealed_told *told,
                          enum store_mix_state state)
{
    const struct store_mix m = sealed_mix(1, state);
    hsy_error err;

    told->tried_state = state;
    if (s->ops->mix(s, &m, 1, &err) == HSY_OK)
        told->state = state;
}

/* Envelopes come, a set is closed, mixed, received by the next, and erased. */
static void sealed_live(struct sealed_told *told)
{
    const struct store_set set = {
        .entry = 0, .epoch = 9, .through = SEALED_COMMITS};
    struct store_state state;
    struct store *s = sealed_open(&state);
    hsy_error err;
    bool more = true;

    for (uint64_t seq = 1; seq <= SEALED_COMMITS; seq++) {
        told->tried = seq;
        if (sealed_append(s, seq, 0, 9, 2) == HSY_OK)
            told->acknowledged = seq;
    }
    sealed_decide(s, told, STORE_MIX_CLOSED);
    sealed_decide(s, told, STORE_MIX_MIXED);
    sealed_decide(s, told, STORE_MIX_ACKED);
    while (more && s->ops->sealed_erase(s, &set, &more, &err) == HSY_OK)
        ;
    sealed_decide(s, told, STORE_MIX_ERASED);
    s->ops->close(s);
}

/* NULL, or what is wrong after a kill. */
static const char *sealed_after(const struct sealed_told *told)
{
    struct store_state state;
    struct store *s = sealed_open(&state);
    struct sealed_seen seen;
    struct sealed_rows r;
    enum store_mix_state is;

    if (s == NULL)
        return "it does not open";
    r = sealed_rows(s);
    seen = sealed_all(s, sealed_whole(0));
    s->ops->close(s);
    is = r.mixes == 0 ? STORE_MIX_NONE : r.mix[0].state;
    if (is != told->state && is != told->tried_state)
        return "a state that nobody said";
    if (!seen.whole)
        return "an envelope has changed";
    if (is < STORE_MIX_ACKED && seen.rows != state.seq)
        return "an envelope is gone before the next hop has it";
    if (is < STORE_MIX_ACKED && state.seq != told->acknowledged &&
        state.seq != told->tried)
        return "an envelope that was acknowledged is gone";
    return is == STORE_MIX_ERASED && seen.rows != 0 ? "some are left" : NULL;
}

static bool sealed_kill(uint64_t k, struct sealed_told *told)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        disk_reset();
        disk.kill_at = k;
        sealed_live(told);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 9;
}

static void killed_anywhere(void)
{
    struct sealed_told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *wrong = NULL;
    uint64_t k = 1, step = TEST_SANITIZED ? 11 : 1;

    disk_begin();
    for (;; k += step) {
        rig_remove(sealed_at);
        mkdir(sealed_at, 0700);
        memset(told, 0, sizeof *told);
        if (!sealed_kill(k, told))
            break;
        disk_reset();
        wrong = sealed_after(told);
        if (wrong != NULL)
            break;
    }
    ok(wrong == NULL && k > 60, "killed at %llu operations: %s",
       (unsigned long long)k, wrong == NULL ? "nothing lost" : wrong);
    rig_remove(sealed_at);
}

int main(void)
{
    if (!rig_root(sealed_root))
        return 1;
    snprintf(sealed_at, sizeof sealed_at, "%s/data", sealed_root);
    snprintf(sealed_heir, sizeof sealed_heir, "%s/heir", sealed_root);

    sets_are_cut_by_epoch_and_commit();
    no_round_takes_them();
    a_set_is_erased_and_no_other();
    rows_replace_each_other();
    a_batch_comes_once();
    missing_and_changed_rows_are_found();
    an_archive_has_what_came_and_no_envelopes();
    killed_anywhere();

    rmdir(sealed_root);
    return tap_done();
}
