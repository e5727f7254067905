/* test_client.c - a client: opening, what is refused, truths from text. */
#define _GNU_SOURCE
#include "host/client/client.h"

#include "rig/example_tasks.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[64], home[96], paper[96];
static uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];
static uint32_t today; /* when the document was signed */

static uint32_t day(void)
{
    return (uint32_t)(time(NULL) / 86400);
}

/* The example tasks of today, signed, in a file; the first demands the relay if
 * there is one. */
static bool write_document(uint64_t version, const hsy_parties *parties)
{
    const hsy_document doc = {.version = version,
                              .issued = today,
                              .expires = today + 100,
                              .parties = parties};
    static struct example_tasks e;
    uint8_t *bytes;
    size_t len = 0;
    FILE *out = fopen(paper, "wb");
    bool good = out != NULL && example_tasks_make(&e);

    for (size_t i = 0; i < EXAMPLE_TASKS; i++) {
        e.task[i].start = today;
        e.task[i].end = today + 364;
    }
    e.task[1].sample = (hsy_ratio){1, 1};
    e.task[0].flags = parties != NULL ? HSY_TASK_RELAY : 0;
    good = good && hsy_document_encode(&doc, NULL, 0, &len, e.task,
                                       EXAMPLE_TASKS, NULL) == HSY_OK;
    bytes = calloc(1, len + HSY_SIGNATURE);
    good = good && bytes != NULL &&
           hsy_document_encode(&doc, bytes, len, &len, e.task, EXAMPLE_TASKS,
                               NULL) == HSY_OK &&
           hsy_sign(bytes + len, bytes, len, secret) == HSY_OK &&
           fwrite(bytes, 1, len + HSY_SIGNATURE, out) == len + HSY_SIGNATURE;
    free(bytes);
    return out != NULL && fclose(out) == 0 && good;
}

#define E(x) ((uint64_t)(x)*HSY_NANO)

/* Everything but the source "usage"; "settings" may not pay for RAPPOR. */
static hsy_policy make_policy(hsy_source sources[3])
{
    hsy_policy p = {.size = sizeof p,
                    .sources = sources,
                    .nsources = 3,
                    .cap_day = E(20),
                    .cap_lifetime = E(40),
                    .releases = 8,
                    .release_bytes = 1024};

    sources[0] = (hsy_source){"crashes", E(2), E(5), E(10)};
    sources[1] = (hsy_source){"browser", E(2), E(5), E(10)};
    sources[2] = (hsy_source){"settings", E(2), E(4), E(10)};
    memcpy(p.sign_key, key, sizeof key);
    return p;
}

static hsy_status open_client(hsy_client **c, hsy_error *err)
{
    hsy_source sources[3];
    char names[3][16];
    hsy_policy p = make_policy(sources);
    hsy_status st;

    for (size_t i = 0; i < 3; i++) {
        snprintf(names[i], sizeof names[i], "%s", sources[i].name);
        sources[i].name = names[i];
    }
    *c = NULL;
    st = hsy_client_open(c, home, &p, paper, NULL, err);
    memset(names, 'x', sizeof names); /* the client has a copy */
    memset(sources, 0, sizeof sources);
    return st;
}

/* A program compiled before a policy could demand shufflers. */
static void takes_the_older_policy(void)
{
    const size_t older = offsetof(hsy_policy, min_batch);
    hsy_source sources[3];
    hsy_policy p = make_policy(sources);
    hsy_client *c = NULL;
    hsy_error err = {0};
    size_t n = 0;

    memset((uint8_t *)&p + older, 0xff, sizeof p - older);
    p.size = older;
    if (ok(hsy_client_open(&c, home, &p, paper, NULL, &err) == HSY_OK,
           "a policy of the older size is taken"))
        hsy_client_releases(c, &n);
    ok(n == 3, "and nothing behind its end is read");
    hsy_client_close(c);
    p.size = older + 1;
    c = NULL;
    is_status(hsy_client_open(&c, home, &p, paper, NULL, &err), HSY_E_RANGE,
              "one of no size there ever was is refused");
}

static void opens_and_refuses(hsy_client *c)
{
    hsy_error why = {0}, err = {0};
    hsy_task task;
    hsy_client *second = NULL;
    size_t n = 0;

    ok(hsy_client_releases(c, &n) != NULL && n == 3,
       "tasks that the policy allows are admitted");
    ok(hsy_client_task(c, &task, 0) && strcmp(task.id, "crash") == 0 &&
           task.question_len != 0 && !hsy_client_task(c, &task, 3),
       "and described");
    ok(hsy_client_refused(c, &task, &why, 0) &&
           strcmp(task.id, "minutes") == 0 && why.status == HSY_E_POLICY &&
           why.field == HSY_FIELD_SOURCE,
       "a source that the policy does not name is refused");
    ok(hsy_client_refused(c, &task, &why, 1) &&
           strcmp(task.id, "homepage") == 0 && why.status == HSY_E_POLICY &&
           !hsy_client_refused(c, &task, &why, 2),
       "and a task that costs more than it allows");
    ok(hsy_client_answer_text(c, NULL, "minutes", "5", 1, &err) ==
               HSY_E_POLICY &&
           err.field == HSY_FIELD_SOURCE,
       "which is also said to who answers it");
    ok(hsy_client_answer_text(c, NULL, "nonesuch", "5", 1, &err) ==
           HSY_E_UNKNOWN,
       "a task that is not there is unknown");
    ok(hsy_client_find(c, "crash") < c->nreleases &&
           hsy_client_find(c, "minutes") == c->nreleases,
       "only what was admitted has a release");
    {
        const hsy_host_options now = {.size = sizeof now};
        hsy_source sources[3];
        const hsy_policy p = make_policy(sources);

        ok(hsy_client_open(&second, home, &p, paper, &now, &err) ==
                   HSY_E_BUSY &&
               second == NULL,
           "a second client of the same directory is refused");
    }
}

static void answers(hsy_client *c)
{
    hsy_answer_state state = 0;
    hsy_error err = {0};
    hsy_budget budget = {0};
    const hsy_truth yes = {.type = HSY_TRUTH_INDEX, .u.index = 1};
    uint8_t upload[512];
    size_t len = 0;

    ok(hsy_client_answer(c, &state, "crash", &yes, &err) == HSY_OK &&
           state == HSY_ANSWER_NO_CONSENT,
       "without consent nothing is answered");
    ok(hsy_device_consent_set(hsy_client_device(c), HSY_CONSENT_SEND, &err) ==
               HSY_OK &&
           hsy_client_answer(c, &state, "crash", &yes, &err) == HSY_OK &&
           state == HSY_ANSWERED,
       "with it, it is");
    ok(hsy_client_answer_text(c, &state, "crash", "no", 2, &err) == HSY_OK &&
           state == HSY_ANSWER_KEPT,
       "once");
    ok(hsy_client_answer_text(c, &state, "browser.daily", "netscape", 8,
                              &err) == HSY_OK &&
           state == HSY_ANSWERED &&
           hsy_device_budget(hsy_client_device(c), &budget, NULL, &err) ==
               HSY_OK &&
           budget.spent_lifetime == 1098612288u + E(1),
       "and charged: two reports at a half, one at ln 3");
    ok(hsy_client_next(c, upload, sizeof upload, &len, &err) == HSY_E_END ||
           day() != today,
       "nothing is due on the first day");
    ok(hsy_client_answer_text(c, NULL, "crash", "perhaps", 7, &err) ==
           HSY_E_FORMAT,
       "what is no answer is refused");
}

static void forks(hsy_client *c)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        hsy_error err = {0};
        hsy_status st =
            hsy_client_answer_text(c, NULL, "dark-mode", "yes", 3, &err);

        hsy_client_close(c);
        _exit(st != HSY_E_REFUSED || strstr(err.msg, "forked") == NULL);
    }
    waitpid(child, &status, 0);
    ok(status == 0, "a forked child is refused");
    ok(hsy_client_answer_text(c, NULL, "dark-mode", "yes", 3, NULL) == HSY_OK,
       "its parent still does");
}

/* ---- Truths from text ---------------------------------------------------- */

static hsy_status parse(struct client_truth *t, hsy_client *c, const char *task,
                        const char *text, size_t len)
{
    const size_t i = hsy_client_find(c, task);
    hsy_task described;
    hsy_error err = {0};
    hsy_status st;

    hsy_client_task(c, &described, i);
    st = hsy_client_parse(t, c->releases[i], &described, text, len, &err);
    return st == err.status || st == HSY_OK ? st : HSY_E_RANGE;
}

static void reads_yes_and_no(hsy_client *c)
{
    static const struct {
        const char *text;
        int index; /* -1: neither */
    } rows[] = {{"yes", 1},
                {"no", 0},
                {"YES", 1},
                {"nO", 0},
                {"true", 1},
                {"TruE", 1},
                {"false", 0},
                {"1", 1},
                {"0", 0},
                {"", -1},
                {"y", -1},
                {"yes ", -1},
                {" yes", -1},
                {"no!", -1},
                {"2", -1},
                {"yess", -1},
                {"falsey", -1},
                {"q", -1},
                {"9eS", -1},
                {"\x19"
                 "es",
                 -1}};
    struct client_truth t;
    bool good = true;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_status st =
            parse(&t, c, "crash", rows[i].text, strlen(rows[i].text));

        good &= rows[i].index == -1
                    ? st == HSY_E_FORMAT
                    : st == HSY_OK && t.truth.type == HSY_TRUTH_INDEX &&
                          t.truth.u.index == (uint32_t)rows[i].index;
    }
    ok(good, "yes and no in six words, in any case, and nothing else");
    ok(parse(&t, c, "crash", "yes\0", 4) == HSY_E_FORMAT,
       "a NUL belongs to the text");
}

static void reads_values(hsy_client *c)
{
    static char long_text[2 * HSY_LABEL_MAX];
    static const struct {
        const char *text;
        uint32_t index;
    } rows[] = {{"firefox", 0}, {"chrome", 1},   {"other", 2}, {"Firefox", 2},
                {"fire", 2},    {"firefoxx", 2}, {"", 2},      {"0", 2}};
    struct client_truth t;
    bool good = true;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        good &= parse(&t, c, "browser.daily", rows[i].text,
                      strlen(rows[i].text)) == HSY_OK &&
                t.truth.u.index == rows[i].index;
    ok(good, "the values by their names; what is not listed is other");
    memcpy(long_text, "firefox", 7);
    ok(parse(&t, c, "browser.daily", long_text, sizeof long_text) == HSY_OK &&
           t.truth.u.index == 2,
       "a text of any length may be other");
}

/* Kinds that the policy of this test leaves out, by releases of their own. */
static hsy_status parse_spec(struct client_truth *t, hsy_spec spec,
                             const char *text, size_t len)
{
    static struct example_tasks e;
    hsy_release *r;
    hsy_status st;

    spec.size = sizeof spec;
    spec.nano_epsilon = HSY_NANO;
    if (!example_task(&e, 0, "x", "x", "What?", spec, 0))
        return HSY_E_UNKNOWN;
    r = malloc(hsy_release_size(&e.task[0]));
    st = hsy_release_init(r, &e.task[0], NULL);
    if (st == HSY_OK)
        st = hsy_client_parse(t, r, &e.task[0], text, len, NULL);
    free(r);
    return st;
}

static void reads_numbers(void)
{
    const hsy_spec mean = {.mechanism = "onebit",
                           .kind = HSY_KIND_NUMBER,
                           .lo = -50,
                           .hi = 100,
                           .scale = 1};
    static const struct {
        const char *text;
        int64_t number;
    } rows[] = {{"0", 0},
                {"1.5", 15},
                {".5", 5},
                {"-3.25", -33},
                {"99999999999999999999", 100},
                {"-99999999999999999999", -50},
                {"11", 110}};
    static const char *const wrong[] = {"", "x", "1e3", " 1", "1 ", ".", "nan"};
    struct client_truth t;
    bool good = true;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        good &= parse_spec(&t, mean, rows[i].text, strlen(rows[i].text)) ==
                    HSY_OK &&
                t.truth.type == HSY_TRUTH_NUMBER &&
                t.truth.u.number == rows[i].number;
    ok(good, "numbers by their decimals; beyond all numbers is an end");
    good = true;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        good &=
            parse_spec(&t, mean, wrong[i], strlen(wrong[i])) == HSY_E_FORMAT;
    ok(good, "nothing else is a number");
}

static void reads_the_rest(void)
{
    const hsy_spec strings = {.mechanism = "olh", .kind = HSY_KIND_STRINGS};
    const hsy_spec plain = {
        .mechanism = "grr", .kind = HSY_KIND_VALUES, .d = 12};
    const hsy_spec listed = {.mechanism = "grr",
                             .kind = HSY_KIND_VALUES,
                             .d = 3,
                             .labels = example_browsers,
                             .labels_len = sizeof example_browsers - 1};
    static char text[3 * HSY_STRING_MAX];
    struct client_truth t;

    memset(text, 'a', sizeof text);
    ok(parse_spec(&t, strings, "abc", 3) == HSY_OK &&
           t.truth.type == HSY_TRUTH_BYTES && t.truth.u.bytes.len == 3 &&
           t.truth.u.bytes.room == HSY_STRING_MAX &&
           memcmp(t.truth.u.bytes.data, "abc\0", 4) == 0,
       "a string stands in a room of one size");
    ok(parse_spec(&t, strings, text, sizeof text) == HSY_OK &&
           t.truth.u.bytes.len == HSY_STRING_MAX &&
           parse_spec(&t, strings, "", 0) == HSY_OK && t.truth.u.bytes.len == 0,
       "a long one is cut, an empty one is one");
    ok(parse_spec(&t, plain, "11", 2) == HSY_OK && t.truth.u.index == 11 &&
           parse_spec(&t, plain, "12", 2) == HSY_E_RANGE &&
           parse_spec(&t, plain, "-1", 2) == HSY_E_RANGE &&
           parse_spec(&t, plain, "4294967307", 10) == HSY_E_RANGE,
       "values without names are numbers");
    ok(parse_spec(&t, listed, "lynx", 4) == HSY_E_RANGE,
       "a list without other is closed");
}

static void fails_cleanly(void)
{
    hsy_source sources[3];
    hsy_policy p = make_policy(sources);
    hsy_client *c = NULL;
    hsy_error err = {0};
    char other[128];

    snprintf(other, sizeof other, "%s/none", root);
    ok(hsy_client_open(&c, home, &p, other, NULL, &err) == HSY_E_IO &&
           err.field == HSY_FIELD_DOCUMENT && c == NULL,
       "no document");
    ok(hsy_client_open(&c, home, &p, root, NULL, &err) == HSY_E_IO,
       "a directory is no document");
    p.size = 8;
    ok(hsy_client_open(&c, home, &p, paper, NULL, &err) == HSY_E_RANGE,
       "a policy of another size");
    p = make_policy(sources);
    p.nsources = 257;
    ok(hsy_client_open(&c, home, &p, paper, NULL, &err) == HSY_E_RANGE,
       "more sources than any policy has");
    p = make_policy(sources);
    p.sign_key[0] ^= 1;
    snprintf(other, sizeof other, "%s/stranger", root);
    ok(hsy_client_open(&c, other, &p, paper, NULL, &err) == HSY_E_SIGNATURE,
       "a document that somebody else has signed");
    hsy_client_close(NULL);
}

static void clean(void)
{
    static const char *const files[] = {"device/key",       "device/state.a",
                                        "device/state.b",   "device/lock",
                                        "device/log",       "device",
                                        "stranger/key",     "stranger/state.a",
                                        "stranger/state.b", "stranger/lock",
                                        "stranger/log",     "stranger",
                                        "document",         ""};
    char path[128];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        remove(path);
    }
}

/* A relay is demanded from now on. */
static void keeps_for_the_relay(void)
{
    static const hsy_parties parties = {.request_bytes = 512,
                                        .response_bytes = 256,
                                        .gateway_keys = 1,
                                        .gateway = {{.id = 7, .key = {9}}}};
    hsy_client *c = NULL;
    uint8_t upload[4096];
    hsy_error err = {0};
    size_t len;

    if (!ok(write_document(2, &parties) && open_client(&c, &err) == HSY_OK,
            "a document in which a task demands the relay is taken"))
        return;
    ok(c->ndirect + 1 == c->nreleases, "one task does");
    ok(eq_status(hsy_client_next(c, upload, sizeof upload, &len, &err),
                 HSY_E_REFUSED) &&
           err.field == HSY_FIELD_RELAY,
       "what a program sends by itself has no upload of it, and it is told");
    hsy_client_close(c);
}

/* Nothing is due, so nobody is asked. */
static void takes_older_options(hsy_client *c)
{
    hsy_send_options o = {.size = offsetof(hsy_send_options, relay),
                          .attempts = 1};
    hsy_send_result r;
    hsy_error err = {0};

    o.relay = "not looked at";
    ok(eq_status(hsy_device_upload(c, &r, "http://127.0.0.1:9", &o, &err),
                 HSY_OK) &&
           eq_u64(r.attempts, 0),
       "a program compiled before there were relays sends as before");
    o.size = offsetof(hsy_send_options, spread);
    o.relay = NULL;
    is_status(hsy_device_upload(c, &r, "http://127.0.0.1:9", &o, &err), HSY_OK,
              "and one compiled before uploads had times");
    o.relay = "not looked at";
    o.size = sizeof o;
    ok(eq_status(hsy_device_upload(c, &r, "http://127.0.0.1:9", &o, &err),
                 HSY_E_RANGE) &&
           err.field == HSY_FIELD_URL,
       "one that names a relay must name an address");
    o.size = sizeof o - 1;
    is_status(hsy_device_upload(c, &r, "http://127.0.0.1:9", &o, &err),
              HSY_E_RANGE, "another size is a mistake");
}

int main(void)
{
    hsy_client *c = NULL;
    hsy_error err = {0};

    strcpy(root, "/tmp/hearsay-client-XXXXXX");
    if (mkdtemp(root) == NULL || hsy_sign_keypair(key, secret) != HSY_OK)
        return 1;
    snprintf(home, sizeof home, "%s/device", root);
    snprintf(paper, sizeof paper, "%s/document", root);
    today = day();
    if (!ok(write_document(1, NULL) && open_client(&c, &err) == HSY_OK,
            "a client opens, and makes its device"))
        return 1;
    opens_and_refuses(c);
    answers(c);
    forks(c);
    reads_yes_and_no(c);
    reads_values(c);
    reads_numbers();
    reads_the_rest();
    hsy_client_close(c);
    ok(open_client(&c, &err) == HSY_OK &&
           hsy_device_consent(hsy_client_device(c)) == HSY_CONSENT_SEND,
       "it opens again, and knows what it knew");
    takes_older_options(c);
    hsy_client_close(c);
    takes_the_older_policy();
    fails_cleanly();
    keeps_for_the_relay();
    clean();
    return tap_done();
}
