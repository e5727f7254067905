/*
 * race_device.c - many processes and one device.
 *
 *     race_device DIR PROCESSES DEBITS CHILDREN
 *
 * Debits (L06): every process opens the device, charges the next day's
 * slot, closes it, and so on. The cap is three quarters of what they ask for:
 * exactly that much may be granted, and the ledger must hold exactly what was.
 *
 * Forks (L07): every child of one process asks the device in its memory to
 * answer one truth, and tosses fresh coins: the answers, down to the bytes that
 * would be stored, are all the same, and the coins never.
 */
#define _GNU_SOURCE
#include "hearsay/host.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACE_DAY 20773u
#define RACE_SECONDS 86400u
#define RACE_NANO 1000000u
#define RACE_FRESH 32u

static void die(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(1);
}

/* ---- One question, asked every day ----------------------------------------
 */

static uint8_t public_key[HSY_SIGN_KEY];
static uint8_t *document;
static size_t document_len;

static void make_document(void)
{
    static uint8_t wire[HSY_SCHEME_WIRE], secret[HSY_SIGN_SECRET];
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "rr",
                           .kind = HSY_KIND_YES_NO,
                           .nano_epsilon = RACE_NANO};
    const hsy_task task = {.id = "race",
                           .source = "race",
                           .release = 1,
                           .question = "Ready?",
                           .question_len = 6,
                           .start = RACE_DAY,
                           .end = RACE_DAY + 2000000,
                           .slot_days = 1,
                           .max_changes = 1,
                           .answers = 1,
                           .sends = 1,
                           .sample = {1, 1},
                           .grace_days = 1,
                           .min_reports = 1,
                           .other = HSY_TASK_CLOSED,
                           .scheme = wire};
    const hsy_document doc = {
        .version = 1, .issued = RACE_DAY, .expires = RACE_DAY + 2000000};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));

    if (s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK)
        die("no scheme");
    hsy_scheme_encode(s, wire);
    free(s);
    if (hsy_document_encode(&doc, NULL, 0, &document_len, &task, 1, NULL) !=
        HSY_OK)
        die("no document");
    document = calloc(1, document_len + HSY_SIGNATURE);
    if (document == NULL || hsy_sign_keypair(public_key, secret) != HSY_OK ||
        hsy_document_encode(&doc, document, document_len, &document_len, &task,
                            1, NULL) != HSY_OK ||
        hsy_sign(document + document_len, document, document_len, secret) !=
            HSY_OK)
        die("not signed");
    document_len += HSY_SIGNATURE;
}

/* ---- A device by a clock of our own ---------------------------------------
 */

struct race {
    hsy_source source;
    hsy_policy policy;
    hsy_host *host;
    hsy_world world;
    uint64_t seconds;
    const hsy_world *real;
    hsy_device *device;
    hsy_release *release;
};

/* The callbacks of the world get the race; its files are the host's. */
static hsy_status race_load(void *ctx, hsy_file file, uint8_t *buf, size_t room,
                            size_t *len)
{
    const hsy_world *real = ((struct race *)ctx)->real;

    return real->load(real->ctx, file, buf, room, len);
}

static hsy_status race_store(void *ctx, hsy_file file, const uint8_t *buf,
                             size_t len)
{
    const hsy_world *real = ((struct race *)ctx)->real;

    return real->store(real->ctx, file, buf, len);
}

static hsy_status race_now(void *ctx, uint64_t *seconds)
{
    *seconds = ((struct race *)ctx)->seconds;
    return HSY_OK;
}

static bool race_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                        const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                        size_t len)
{
    (void)ctx;
    return hsy_sign_verify(key, sig, bytes, len);
}

static void race_policy(struct race *r, uint64_t cap)
{
    r->source = (hsy_source){"race", RACE_NANO, RACE_NANO, cap};
    r->policy = (hsy_policy){.size = sizeof r->policy,
                             .sources = &r->source,
                             .nsources = 1,
                             .cap_day = RACE_NANO,
                             .cap_lifetime = cap,
                             .releases = 1};
    memcpy(r->policy.sign_key, public_key, sizeof public_key);
}

static void race_open(struct race *r, const char *directory, bool create)
{
    const hsy_host_options options = {.size = sizeof options,
                                      .wait_seconds = 600,
                                      .no_log = true,
                                      .create = create};
    static hsy_task task;
    hsy_document doc;
    hsy_status st;

    if (hsy_host_open(&r->host, directory, &options, NULL) != HSY_OK)
        die("the directory does not open");
    r->real = hsy_host_world(r->host);
    r->seconds = (uint64_t)RACE_DAY * RACE_SECONDS;
    r->world = (hsy_world){.size = sizeof r->world,
                           .ctx = r,
                           .load = race_load,
                           .store = race_store,
                           .now = race_now,
                           .entropy = r->real->entropy,
                           .verify = race_verify};
    r->device = malloc(hsy_device_size(&r->policy));
    st = create ? hsy_device_create(r->device, &r->policy, &r->world, NULL)
                : hsy_device_open(r->device, &r->policy, &r->world, NULL);
    if (st != HSY_OK ||
        hsy_device_accept_document(r->device, &doc, document, document_len,
                                   NULL) != HSY_OK)
        die("the device does not open");
    hsy_document_task(&doc, &task, 0);
    r->release = malloc(hsy_release_size(&task));
    if (hsy_device_admit(r->device, r->release, &doc, 0, NULL) != HSY_OK)
        die("the task is not admitted");
}

static void race_close(struct race *r)
{
    hsy_device_close(r->device);
    hsy_host_close(r->host);
    free(r->device);
    free(r->release);
}

/* ---- Debits ---------------------------------------------------------------
 */

struct count {
    uint64_t answered, exhausted, other;
};

static void debit(struct race *r, const char *directory, struct count *count)
{
    const hsy_truth yes = {.type = HSY_TRUTH_INDEX, .u.index = 1};
    hsy_answer_state state = HSY_ANSWER_CLOSED;
    hsy_budget budget;

    race_open(r, directory, false);
    if (hsy_device_budget(r->device, &budget, NULL, NULL) != HSY_OK)
        die("no budget");
    r->seconds = ((uint64_t)budget.day + 1) * RACE_SECONDS;
    if (hsy_device_answer(r->device, &state, r->release, &yes, NULL) != HSY_OK)
        die("no answer");
    count->answered += state == HSY_ANSWERED;
    count->exhausted += state == HSY_ANSWER_EXHAUSTED;
    count->other += state != HSY_ANSWERED && state != HSY_ANSWER_EXHAUSTED;
    race_close(r);
}

static struct count run_debits(struct race *r, const char *directory,
                               unsigned long processes, unsigned long debits)
{
    struct count all = {0}, one;
    int tube[2];

    if (pipe(tube) == -1)
        die("no pipe");
    fflush(stdout);
    for (unsigned long i = 0; i < processes; i++) {
        if (fork() != 0)
            continue;
        one = (struct count){0};
        for (unsigned long k = 0; k < debits; k++)
            debit(r, directory, &one);
        _exit(write(tube[1], &one, sizeof one) != sizeof one);
    }
    for (unsigned long i = 0; i < processes; i++) {
        int status = 1;

        wait(&status);
        if (status != 0 || read(tube[0], &one, sizeof one) != sizeof one)
            die("a process failed");
        all.answered += one.answered;
        all.exhausted += one.exhausted;
        all.other += one.other;
    }
    return all;
}

static void debits(const char *directory, unsigned long processes,
                   unsigned long each)
{
    uint64_t asked = (uint64_t)processes * each, granted = asked / 4 * 3;
    struct race r = {.host = NULL};
    struct count count;
    hsy_budget budget;

    race_policy(&r, granted * RACE_NANO);
    race_open(&r, directory, true);
    if (hsy_device_consent_set(r.device, HSY_CONSENT_SEND, NULL) != HSY_OK)
        die("no consent");
    race_close(&r);
    count = run_debits(&r, directory, processes, each);
    race_open(&r, directory, false);
    if (hsy_device_budget(r.device, &budget, "race", NULL) != HSY_OK)
        die("no budget");
    race_close(&r);
    ok(count.answered == granted && count.exhausted == asked - granted &&
           count.other == 0,
       "%lu processes times %lu debits: as many as the cap allows are granted",
       processes, each);
    ok(budget.spent_lifetime == granted * RACE_NANO,
       "and the ledger holds exactly those, none over");
}

/* ---- Forks ----------------------------------------------------------------
 */

static const uint8_t fork_key[HSY_KEY] = "a key of a device that is tested";

/* What a child says: what it would store, and coins of its own. */
struct said {
    uint8_t stored[HSY_DIGEST], fresh[RACE_FRESH];
};

static bool child_says(struct race *r, hsy_coins *coins, struct said *said)
{
    const hsy_truth yes = {.type = HSY_TRUTH_INDEX, .u.index = 1};
    hsy_answer_state state;
    hsy_device_write write;

    if (hsy_device_begin(r->device, &state, &write, r->release, &yes, NULL) !=
            HSY_OK ||
        write.len == 0 || state != HSY_ANSWERED)
        return false;
    hsy_blake2b(said->stored, sizeof said->stored, write.bytes, write.len,
                fork_key, sizeof fork_key);
    return coins->secret.fill(coins->secret.ctx, said->fresh,
                              sizeof said->fresh) == HSY_OK;
}

static int by_fresh(const void *a, const void *b)
{
    return memcmp(((const struct said *)a)->fresh,
                  ((const struct said *)b)->fresh, RACE_FRESH);
}

static void judge(struct said *said, unsigned long n)
{
    unsigned long same = 0, twice = 0;

    for (unsigned long i = 0; i < n; i++)
        same += memcmp(said[i].stored, said[0].stored, HSY_DIGEST) == 0;
    qsort(said, n, sizeof *said, by_fresh);
    for (unsigned long i = 1; i < n; i++)
        twice += by_fresh(&said[i - 1], &said[i]) == 0;
    ok(same == n, "%lu forked children give one answer, byte for byte", n);
    ok(twice == 0, "and no two toss the same fresh coins");
}

static void forks(const char *directory, unsigned long children)
{
    struct said *said = calloc(children, sizeof *said);
    struct race r = {.host = NULL};
    hsy_entropy entropy;
    hsy_coins coins;
    int tube[2];

    if (said == NULL || pipe(tube) == -1)
        die("no pipe");
    hsy_entropy_init(&entropy);
    coins = hsy_entropy_coins(&entropy);
    race_policy(&r, HSY_NANO);
    race_open(&r, directory, true);
    if (hsy_device_consent_set(r.device, HSY_CONSENT_SEND, NULL) != HSY_OK)
        die("no consent");
    fflush(stdout);
    for (unsigned long i = 0; i < children; i++) {
        int status = 1;

        if (fork() == 0) {
            struct said mine;

            _exit(!child_says(&r, &coins, &mine) ||
                  write(tube[1], &mine, sizeof mine) != sizeof mine);
        }
        wait(&status);
        if (status != 0 ||
            read(tube[0], &said[i], sizeof said[i]) != (ssize_t)sizeof said[i])
            die("a child failed");
    }
    judge(said, children);
    if (fork() == 0) {
        const hsy_truth yes = {.type = HSY_TRUTH_INDEX, .u.index = 1};

        _exit(hsy_device_answer(r.device, NULL, r.release, &yes, NULL) ==
              HSY_OK);
    }
    {
        int status = 1;

        wait(&status);
        ok(status == 0, "none of them can store anything");
    }
    race_close(&r);
    free(said);
}

int main(int argc, char **argv)
{
    char place[4096];

    if (argc != 5)
        die("DIR PROCESSES DEBITS CHILDREN");
    make_document();
    snprintf(place, sizeof place, "%s/debits", argv[1]);
    debits(place, strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
    snprintf(place, sizeof place, "%s/forks", argv[1]);
    forks(place, strtoul(argv[4], NULL, 10));
    return tap_done();
}
