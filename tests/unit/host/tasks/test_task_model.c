/* test_task_model.c - shuffled tasks in a tasks.yaml: keys, statements, and the
 * largest epsilon of a report for what a batch may tell. */
#define _GNU_SOURCE
#include "host/tasks/keys.h"
#include "host/tasks/task_cost.h"
#include "rig/example_shuffled.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/hearsay-model-XXXXXX";
static const char *const files[] = {
    "a.statement",  "b.statement",      "forged",           "short",
    "version-1",    "gate.public",      "gate.secret",      "tasks.yaml",
    "old",          "collector.public", "collector.secret", "signer.public",
    "signer.secret"};

#define HEAD                                                                   \
    "version: 1\nrelay: https://relay.example/\n"                              \
    "gateway_keys: [gate.public]\ncollector_key: collector.public\ntasks:\n"
#define START                                                                  \
    "  - id: color\n    source: web\n    question: Which colour?\n"            \
    "    start: 2026-12-01\n    end: 2027-01-31\n"
#define DAILY "    repeat: daily\n"
#define TASK START DAILY
#define KEPT "    permanent: {epsilon: 4, renew: never, every: 1 day}\n"
#define RANGE "    range: [0, 100]\n"
#define DOMAIN "    values: [a, b, c, d, e, f, g, h]\n"
#define SHUFFLED                                                               \
    "    model: shuffled\n    shufflers: [a.statement, b.statement]\n"         \
    "    min_batch: 50000\n    delta: 1e-8\n"

static char *path(const char *name)
{
    static char text[256];

    snprintf(text, sizeof text, "%s/%s", dir, name);
    return text;
}

static void put(const char *name, const void *bytes, size_t len)
{
    FILE *f = fopen(path(name), "wb");

    if (f == NULL || fwrite(bytes, 1, len, f) != len || fclose(f) != 0)
        exit(1);
}

/* What shuffler `place` of two says of the task, by a new key of its own; it
 * opens with a key of bytes `seal`. */
static void state(const char *name, uint32_t place, uint32_t min_batch,
                  uint8_t seal)
{
    const hsy_task task = {.id = "color",
                           .release = 1,
                           .min_batch = min_batch,
                           .max_wait = 2,
                           .close_after_seconds = 21600};
    hsy_statement s = example_statement(&task, place, 2, 20000);
    uint8_t secret[HSY_SIGN_SECRET], wire[HSY_STATEMENT_WIRE];

    s.until = 30000;
    memset(s.seal_key, seal, sizeof s.seal_key);
    hsy_sign_keypair(s.sign_key, secret);
    hsy_statement_encode(wire, &s, NULL);
    hsy_sign(wire + HSY_STATEMENT_SIGNED, wire, HSY_STATEMENT_SIGNED, secret);
    put(name, wire, sizeof wire);
    wire[HSY_STATEMENT_SIGNED] ^= 1;
    put("forged", wire, sizeof wire);
    put("short", wire, sizeof wire - 1);
    wire[4] = 1;
    put("version-1", wire, 256);
}

static hsy_tasks *tasks;

static hsy_status reads(const char *text)
{
    hsy_tasks_free(tasks);
    put("tasks.yaml", text, strlen(text));
    return hsy_tasks_read(&tasks, path("tasks.yaml"), NULL);
}

static bool said(const char *field, const char *words)
{
    const hsy_problem *p;
    const size_t n = hsy_tasks_problems(tasks, &p);

    for (size_t i = 0; i < n; i++)
        if (strcmp(p[i].field, field) == 0 && strstr(p[i].text, words) != NULL)
            return true;
    for (size_t i = 0; i < n; i++)
        printf("# %u %s: %s\n", p[i].line, p[i].field, p[i].text);
    return false;
}

static void refused(const char *text, const char *field, const char *words)
{
    ok(reads(text) == HSY_E_FORMAT && said(field, words),
       "refused for its %s: %s", field, words);
}

/* The task file with 64 values and something more. */
static const char *sixty_four(const char *more)
{
    static char text[2048];
    size_t used =
        (size_t)snprintf(text, sizeof text, HEAD TASK "    values: [");

    for (int i = 0; i < 64; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sv%d",
                                 i == 0 ? "" : ", ", i);
    snprintf(text + used, sizeof text - used, "]\n" SHUFFLED "%s", more);
    return text;
}

static void solved(void)
{
    const hsy_task *t;
    size_t n = 0;
    hsy_release *r;
    hsy_release_info info;
    hsy_worth worth;

    if (!ok(reads(sixty_four("    epsilon_central: 1\n    mechanism: ss\n")) ==
                HSY_OK,
            "a task of 64 values that promises a central epsilon is read")) {
        said("", "?");
        return;
    }
    t = hsy_tasks_all(tasks, &n);
    r = malloc(hsy_release_size(t));
    ok(hsy_release_init(r, t, NULL) == HSY_OK, "it resolves");
    hsy_release_describe(r, &info);
    printf("# report epsilon %.4f\n", (double)info.nano_report / HSY_NANO);
    ok(info.nano_report >= 6600000000u && info.nano_report < 6777000000u,
       "45,000 of 50,000 counted on grant a report epsilon of 6.6 or more");
    ok(t->nano_central <= HSY_NANO && t->nano_central > HSY_NANO * 9 / 10,
       "the document says what that is worth, and it is at most 1");
    ok(task_model_worth(&worth, &info, NULL) == HSY_OK &&
           worth.epsilon < 1.000001 && worth.by == HSY_SHUFFLE_TWO_LEVEL &&
           worth.n == 45000,
       "by the bound of the mechanism");
    ok(t->model == HSY_MODEL_SHUFFLED && t->flags == HSY_TASK_RELAY &&
           t->shufflers == 2 && t->max_wait == 2 &&
           t->close_after_seconds == 21600 && t->assume_honest.num == 9,
       "the relay is demanded, and the rest is as docs/tasks.md says");
    free(r);
}

#define AGAIN                                                                  \
    "version: 2\ngateway_keys: [gate.public]\n"                                \
    "collector_key: collector.public\ntasks:\n" TASK DOMAIN SHUFFLED           \
    "    epsilon: 4\n"

static void needs_release(const hsy_document *doc, const char *more,
                          const char *key)
{
    char text[2048];

    snprintf(text, sizeof text, AGAIN "%s", more);
    ok(reads(text) == HSY_OK &&
           hsy_tasks_change(tasks, doc, NULL) == HSY_E_FORMAT &&
           said(key, "since release 1: set 'release: 2'"),
       "a shuffled task needs a release: %s", key);
}

/* Of the terms of a shuffled task nothing changes within a release. */
static void terms_are_kept(const hsy_document *doc)
{
    static const char again[] = AGAIN;

    ok(reads(again) == HSY_OK && hsy_tasks_change(tasks, doc, NULL) == HSY_OK,
       "another document, the same keys");
    refused("version: 2\ngateway_keys: [gate.public]\n"
            "collector_key: gate.public\ntasks:\n" TASK DOMAIN SHUFFLED
            "    epsilon: 4\n",
            "collector_key", "this is a gateway's key");
    ok(reads("version: 2\ngateway_keys: [collector.public]\n"
             "collector_key: gate.public\ntasks:\n" TASK DOMAIN SHUFFLED
             "    epsilon: 4\n") == HSY_OK &&
           hsy_tasks_change(tasks, doc, NULL) == HSY_E_FORMAT &&
           said("collector_key", "has changed since release 1"),
       "another key of the collector needs a release");
    needs_release(doc, "    sample: 0.5\n", "sample");
    needs_release(doc, "    delay: 1h\n", "delay");
    needs_release(doc, "    grace: 6d\n", "grace");
    needs_release(doc, "    relay: optional\n", "relay");
    needs_release(doc,
                  "  - id: more\n    source: web\n    question: And?\n"
                  "    start: 2026-12-01\n    end: 2027-01-31\n"
                  "    yes-no: true\n    epsilon: 1\n",
                  "source");
    ok(said("source", "give a shuffled task a source of its own"),
       "check advises a source of its own");
    ok(reads("version: 2\ngateway_keys: [gate.public]\n"
             "collector_key: collector.public\ntasks:\n" TASK DOMAIN SHUFFLED
             "    epsilon: 4\n    min_reports: 10\n") == HSY_OK &&
           hsy_tasks_change(tasks, doc, NULL) == HSY_OK,
       "min_reports may change");
    state("b.statement", 2, 50000, 2);
    needs_release(doc, "", "shufflers");
}

static void compiled(void)
{
    uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET], *bytes = NULL;
    hsy_parties p;
    hsy_document doc;
    hsy_task t;
    size_t len = 0;

    hsy_sign_keypair(key, secret);
    ok(reads(HEAD TASK DOMAIN SHUFFLED "    epsilon: 4\n") == HSY_OK &&
           hsy_tasks_compile(tasks, &bytes, &len, secret, NULL, NULL) ==
               HSY_OK &&
           hsy_document_open(&doc, bytes, len, NULL) == HSY_OK,
       "with an epsilon of the report it compiles");
    hsy_document_task(&doc, &t, 0);
    hsy_document_parties(&doc, &p);
    ok(p.request_bytes == 512 && p.response_bytes == 256 &&
           p.document_bytes == HSY_DOCUMENT_BYTES_MIN && p.gateway_keys == 1 &&
           p.relay_len == 22 && t.collector_key != NULL,
       "the parties are in the document");
    ok(t.nano_central > 0 && t.nano_central < HSY_NANO,
       "and what the smallest batch is worth");
    ok(reads("version: 2\n") != HSY_OK, "half a file is none");
    ok(reads("version: 2\ngateway_keys: [gate.public]\n"
             "collector_key: collector.public\ntasks:\n" TASK DOMAIN SHUFFLED
             "    epsilon: 4\n    relay: optional\n") == HSY_OK &&
           hsy_tasks_change(tasks, &doc, NULL) == HSY_E_FORMAT &&
           said("relay", "set 'release"),
       "the relay is not taken back within a release");
    ok(reads("version: 2\ngateway_keys: [gate.public]\n"
             "collector_key: collector.public\ntasks:\n" TASK DOMAIN
             "    epsilon: 4\n") == HSY_OK &&
           hsy_tasks_change(tasks, &doc, NULL) == HSY_E_FORMAT &&
           said("model", "set 'release"),
       "nor the model changed");
    ok(reads("version: 2\ngateway_keys: [gate.public]\n"
             "collector_key: collector.public\ntasks:\n" TASK DOMAIN SHUFFLED
             "    epsilon: 4\n    assume_honest: 0.8\n") == HSY_OK &&
           hsy_tasks_change(tasks, &doc, NULL) == HSY_E_FORMAT &&
           said("assume_honest", "set 'release"),
       "nor who is counted on");
    terms_are_kept(&doc);
    free(bytes);
}

static void mistakes(void)
{
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    delta: 1e-8\n", "delta",
            "model: shuffled");
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    model: central\n", "model",
            "local or shuffled");
    refused(HEAD TASK DOMAIN SHUFFLED "    epsilon: 1\n    relay: yes\n",
            "relay", "required or optional");
    refused(HEAD TASK DOMAIN SHUFFLED
            "    epsilon: 1\n    epsilon_central: 1\n",
            "epsilon_central", "leave out");
    refused("version: 1\ntasks:\n" TASK DOMAIN SHUFFLED "    epsilon: 1\n",
            "relay", "gateway_keys");
    refused(
        "version: 1\ngateway_keys: [gate.public]\ntasks:\n" TASK DOMAIN SHUFFLED
        "    epsilon: 1\n",
        "model", "collector_key");
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    model: shuffled\n",
            "shufflers", "missing");
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    model: shuffled\n"
                             "    min_batch: 50000\n    delta: 1e-8\n"
                             "    shufflers: [b.statement, a.statement]\n",
            "shufflers", "another task");
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    model: shuffled\n"
                             "    min_batch: 50000\n    delta: 1e-8\n"
                             "    shufflers: [a.statement, forged]\n",
            "shufflers", "not signed");
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    model: shuffled\n"
                             "    min_batch: 50000\n    delta: 1e-8\n"
                             "    shufflers: [a.statement, short]\n",
            "shufflers", "short: not a statement");
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    model: shuffled\n"
                             "    min_batch: 50000\n    delta: 1e-8\n"
                             "    shufflers: [a.statement, version-1]\n",
            "shufflers", "version-1: a statement of version 1");
    refused(HEAD TASK DOMAIN "    epsilon: 1\n    model: shuffled\n"
                             "    min_batch: 50001\n    delta: 1e-8\n"
                             "    shufflers: [a.statement, b.statement]\n",
            "shufflers", "other batches");
    refused(HEAD TASK DOMAIN SHUFFLED "    epsilon: 1\n    max_wait: 400\n",
            "max_wait", "366");
    refused("version: 1\ncollector_key: gone\ntasks: []\n", "collector_key",
            "gone");
    refused("version: 1\ncollector_key: collector.secret\ntasks: []\n",
            "collector_key", "a secret key; name its .public file");
    refused("version: 1\ngateway_keys: [gate.public, gate.secret]\ntasks: []\n",
            "gateway_keys", "gate.secret: this is a secret key");
    refused("version: 1\ngateway_keys: [signer.public]\ntasks: []\n",
            "gateway_keys", "signer.public: this is a signing key");
    refused("version: 1\nrelay: ftp://x\ntasks: []\n", "relay", "URL");
    ok(reads("version: 1\nrelay: https://collector.example/v1/ohttp\n"
             "gateway_keys: [gate.public]\ntasks: []\n") == HSY_OK &&
           said("relay", "is a gateway"),
       "a gateway in the relay's place is warned of");
}

/* ---- What the document claims ----------------------------------------------
 */

/* Returns true if the document that is made of a task file is proved as it is,
 * and refused with a claim that is too small by twice the slack. */
static bool claims(const char *text)
{
    uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET], *bytes = NULL;
    hsy_release_info info;
    hsy_release *r = NULL;
    hsy_document doc;
    hsy_task t;
    size_t len = 0;
    bool good;

    hsy_sign_keypair(key, secret);
    if (reads(text) != HSY_OK ||
        hsy_tasks_compile(tasks, &bytes, &len, secret, NULL, NULL) != HSY_OK ||
        hsy_document_open(&doc, bytes, len, NULL) != HSY_OK) {
        said("", "?");
        return false;
    }
    good = task_model_check(&doc, NULL) == HSY_OK;
    hsy_document_task(&doc, &t, 0);
    if (t.nano_central > 2 * TASK_MODEL_SLACK)
        t.nano_central -= 2 * TASK_MODEL_SLACK;
    else
        t.nano_central = 0;
    if (good && task_release(&r, &t, NULL) == HSY_OK) {
        hsy_release_describe(r, &info);
        good = !task_model_proved(&info);
    }
    free(r);
    free(bytes);
    return good;
}

/* Who keeps a seed hides among those who share it. */
static void kept_seeds(void)
{
    static const char plan[] = START DOMAIN SHUFFLED
        "    epsilon: 4\n    mechanism: olh\n"
        "    permanent: {epsilon: 5, renew: never, every: 1 day}\n";
    char text[2048];

    snprintf(text, sizeof text, HEAD "%s    set: {pool-bits: 15}\n", plan);
    refused(text, "mechanism", "a seed or cohort");
    snprintf(text, sizeof text, HEAD "%s    set: {pool-bits: 2}\n", plan);
    ok(claims(text), "where many share one, the bound holds");
}

/* A few of all combinations, in each of which something differs from the last;
 * all of them in a long run. */
static void every_document_is_proved(void)
{
    static const struct {
        const char *name, *asks;
        bool kept; /* it says its epsilon itself */
    } rows[] = {{"auto", DAILY DOMAIN, false},
                {"grr", DAILY DOMAIN "    mechanism: grr\n", false},
                {"ss", DAILY DOMAIN "    mechanism: ss\n", false},
                {"oue", DAILY DOMAIN "    mechanism: oue\n", false},
                {"sue", DAILY DOMAIN "    mechanism: sue\n", false},
                {"olh", DAILY DOMAIN "    mechanism: olh\n", false},
                {"hr", DAILY DOMAIN "    mechanism: hr\n", false},
                {"pgr", DAILY DOMAIN "    mechanism: pgr\n", false},
                {"cms", DAILY DOMAIN "    mechanism: cms\n", false},
                {"onebit", DAILY RANGE "    mechanism: onebit\n", false},
                {"mean", DAILY RANGE, false},
                {"sw", DAILY RANGE "    bins: 20\n    mechanism: sw\n", false},
                {"rr", DAILY "    yes-no: true\n", false},
                {"rr, kept", KEPT "    yes-no: true\n", true},
                {"grr, kept", KEPT DOMAIN "    mechanism: grr\n", true},
                {"oue, kept", KEPT DOMAIN "    mechanism: oue\n", true}};
    static const char *const epsilons[] = {"epsilon: 0.5", "epsilon: 6",
                                           "epsilon_central: 0.01",
                                           "epsilon_central: 1"};
    static const char *const samples[] = {"1", "1/3", "1/1000"};
    static const char *const honest[] = {"1", "0.9", "0.3"};
    const size_t step = getenv("HSY_TEST_LONG") != NULL ? 1 : 36;
    char text[2048];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t k = i * 7 % step; k < 36; k += step) {
            const char *epsilon = rows[i].kept ? "epsilon: 2" : epsilons[k % 4];

            snprintf(text, sizeof text,
                     HEAD START "%s" SHUFFLED "    %s\n    sample: %s\n"
                                "    assume_honest: %s\n",
                     rows[i].asks, epsilon, samples[k / 4 % 3], honest[k / 12]);
            ok(claims(text),
               "%s, %s, sample %s, honest %s: the claim is proved, and a "
               "smaller one is refused",
               rows[i].name, epsilon, samples[k / 4 % 3], honest[k / 12]);
        }
}

int main(void)
{
    const char *suffix;

    if (mkdtemp(dir) == NULL)
        return 1;
    ok(keys_write(path("gate"), true, &suffix, NULL) == HSY_OK &&
           keys_write(path("collector"), true, &suffix, NULL) == HSY_OK &&
           keys_write(path("signer"), false, &suffix, NULL) == HSY_OK,
       "keys to seal for are made, and one that signs");
    state("b.statement", 2, 50000, 2);
    state("a.statement", 1, 50000, 1);
    solved();
    compiled();
    mistakes();
    kept_seeds();
    every_document_is_proved();
    hsy_tasks_free(tasks);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(path(files[i]));
    rmdir(dir);
    return tap_done();
}
