/* test_policy.c - policy.yaml: what is written is read again, every mistake has
 * its line, and a mistake changes nothing. */
#define _GNU_SOURCE
#include "host/base/url.h"
#include "host/base/written.h"
#include "host/tasks/policy.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define HEAD "key: " KEY "\nday: 10\nlifetime: 20\nreleases: 16\n"
#define WEB "{name: web, answer: 1, day: 2, lifetime: 3}"

static hsy_problem *problems;
static size_t nproblems;

static hsy_status reads(struct policy *p, const char *text)
{
    free(problems);
    return policy_read_bytes(p, (const uint8_t *)text, strlen(text), &problems,
                             &nproblems, NULL);
}

static bool found(uint32_t line, const char *source, const char *field,
                  const char *says)
{
    for (size_t i = 0; i < nproblems; i++)
        if (problems[i].line == line && strcmp(problems[i].task, source) == 0 &&
            strcmp(problems[i].field, field) == 0 &&
            strstr(problems[i].text, says) != NULL)
            return true;
    return false;
}

static void caps_are_texts(void)
{
    static const struct {
        const char *text;
        uint64_t nano;
        const char *back;
    } rows[] = {
        {"0", 0, "0"},
        {"2", 2000000000, "2"},
        {"0.5", 500000000, "0.5"},
        {"0.000000001", 1, "0.000000001"},
        {"100.25", 100250000000, "100.25"},
        {"ln3", 1098612288, "1.098612288"},
    };
    static const char *const wrong[] = {"",   "-1",  "1e3", "0.0000000001",
                                        "ln", "ten", " 1",  "1 "};
    char text[WRITTEN_NUMBER];
    uint64_t nano = 7;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool good = policy_cap_parse(&nano, rows[i].text, strlen(rows[i].text));

        written_nano(text, nano);
        ok(good && eq_u64(nano, rows[i].nano) && eq_text(text, rows[i].back),
           "%s is %s", rows[i].text, text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ok(!policy_cap_parse(&nano, wrong[i], strlen(wrong[i])), "'%s' is none",
           wrong[i]);
}

static void files_are_read(void)
{
    struct policy p = {.sources = NULL};

    ok(eq_status(reads(&p,
                       HEAD "release-bytes: 300\nanchor: /a b\nsources:\n- " WEB
                            "\n- name: 'x.y'\n  lifetime: ln3\n  day: 0\n"
                            "  answer: 0.5\n"),
                 HSY_OK) &&
           eq_u64(nproblems, 0),
       "a policy in either style");
    ok(p.policy.size == sizeof p.policy && p.policy.nsources == 2 &&
           p.policy.sources == p.sources &&
           p.policy.cap_day == 10 * (uint64_t)HSY_NANO &&
           p.policy.cap_lifetime == 20 * (uint64_t)HSY_NANO &&
           p.policy.releases == 16 && p.policy.release_bytes == 300 &&
           p.policy.sign_key[31] == 0x1f && eq_text(p.anchor, "/a b"),
       "has all that stands there");
    ok(eq_text(p.sources[1].name, "x.y") && eq_u64(p.sources[1].cap_day, 0) &&
           eq_u64(p.sources[1].cap_answer, HSY_NANO / 2) &&
           policy_find(&p, "web") == &p.sources[0] &&
           policy_find(&p, "we") == NULL,
       "and its sources by name");
    ok(eq_status(reads(&p, HEAD "sources: []\n"), HSY_OK) &&
           eq_u64(p.policy.nsources, 0) && p.anchor == NULL &&
           eq_u64(p.policy.release_bytes, 0),
       "a later one takes its place");
    ok(eq_status(
           reads(&p,
                 "key: " KEY "\nday: &d 4\nlifetime: *d\nreleases: 1\n"
                 "sources:\n- {name: a, answer: !!str 1, day: *d, lifetime: "
                 "*d}\n"),
           HSY_OK) &&
           eq_u64(p.policy.cap_lifetime, 4 * (uint64_t)HSY_NANO) &&
           eq_u64(p.sources[0].cap_day, 4 * (uint64_t)HSY_NANO),
       "a scalar may be said once and meant twice");
    policy_clear(&p);
}

static void mistakes_have_lines(void)
{
    static const struct {
        const char *text, *source, *field, *says;
        uint32_t line;
    } rows[] = {
        {"", "", "", "empty", 0},
        {HEAD, "", "sources", "is missing", 1},
        {HEAD "sources: []\nmore: 1\n", "", "", "'more'; there are key, ", 6},
        {HEAD "sources: []\nancor: /x\n", "", "", "did you mean 'anchor'", 6},
        {HEAD "sources: []\nday: 3\n", "", "", "given twice", 6},
        {HEAD "sources: []\nanchor: x\n", "", "anchor", "absolute path", 6},
        {HEAD "sources:\n- name: a\n  day: 1\n", "a", "answer", "missing", 6},
        {HEAD "sources:\n- " WEB "\n- " WEB "\n", "web", "name", "twice", 7},
        {HEAD "sources:\n- {name: A, answer: 1, day: 1, lifetime: 1}\n", "A",
         "name", "1 to 64 characters", 6},
        {HEAD "sources:\n- {name: a, answer: -1, day: 1, lifetime: 1}\n", "a",
         "answer", "must be a decimal", 6},
        {"key: 12\n", "", "key", "64 hexadecimal digits", 1},
        {"key: " KEY "0\n", "", "key", "64 hexadecimal digits", 1},
        {HEAD "release-bytes: 0x10\n", "", "release-bytes", "a number", 5},
        {"releases: 4097\n", "", "releases", "from 1 to 4096", 1},
        {"releases: 0\n", "", "releases", "from 1 to 4096", 1},
        {HEAD "sources: {}\n", "", "sources", "must be a list", 5},
        {HEAD "sources: []\n---\n" HEAD, "", "", "a second document", 6},
        {HEAD "sources: [*a]\n", "1", "", "aliases", 5},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct policy p = {.anchor = NULL, .policy = {.releases = 5}};
        const bool good =
            reads(&p, rows[i].text) == HSY_E_FORMAT &&
            found(rows[i].line, rows[i].source, rows[i].field, rows[i].says);

        ok(good, "mistake %zu, %s: %s", i, rows[i].says,
           nproblems != 0 ? problems[0].text : "none");
        ok(p.sources == NULL && eq_u64(p.policy.releases, 5),
           "changes nothing");
    }
}

static void all_are_listed_at_once(void)
{
    struct policy p = {.sources = NULL};

    ok(eq_status(reads(&p,
                       "key: x\nday: x\nlifetime: 1\nreleases: x\nsources:\n"
                       "- {name: a, answer: x}\n"),
                 HSY_E_FORMAT) &&
           eq_u64(nproblems, 6) && found(1, "", "key", "") &&
           found(2, "", "day", "") && found(4, "", "releases", "") &&
           found(6, "a", "answer", "decimal") &&
           found(6, "a", "day", "missing") &&
           found(6, "a", "lifetime", "missing"),
       "six mistakes, six lines");
}

static void sources_are_added(void)
{
    static const hsy_source caps = {.cap_answer = 1};
    struct policy p = {.sources = NULL};
    hsy_error err = {0};
    char name[8];

    ok(eq_status(policy_add(&p, "abc", 2, &caps, &err), HSY_OK) &&
           eq_text(p.sources[0].name, "ab"),
       "so much of a name as is said");
    ok(eq_status(policy_add(&p, "ab", 2, &caps, &err), HSY_E_REFUSED) &&
           eq_status(policy_add(&p, "A", 1, &caps, &err), HSY_E_RANGE) &&
           eq_status(policy_add(&p, "", 0, &caps, &err), HSY_E_RANGE) &&
           eq_status(policy_add(&p, "a\0b", 3, &caps, &err), HSY_E_RANGE) &&
           eq_u64(p.policy.nsources, 1),
       "but not twice, and not any");
    for (size_t i = 1; i < HSY_TASKS_MAX; i++) {
        snprintf(name, sizeof name, "s%zu", i);
        policy_add(&p, name, strlen(name), &caps, &err);
    }
    ok(eq_u64(p.policy.nsources, HSY_TASKS_MAX) &&
           eq_status(policy_add(&p, "x", 1, &caps, &err), HSY_E_RANGE) &&
           eq_u64(err.limit, HSY_TASKS_MAX),
       "nor without end");
    policy_clear(&p);
    ok(eq_status(policy_add_text(&p, "web=1,2.5,ln3", &err), HSY_OK) &&
           eq_text(p.sources[0].name, "web") &&
           eq_u64(p.sources[0].cap_day, 2500000000u),
       "with its caps as one text");
    ok(eq_status(policy_add_text(&p, "web", &err), HSY_E_FORMAT) &&
           eq_status(policy_add_text(&p, "b=1,2", &err), HSY_E_FORMAT) &&
           eq_status(policy_add_text(&p, "b=1,2,3,4", &err), HSY_E_FORMAT) &&
           eq_status(policy_add_text(&p, "b=1,x,3", &err), HSY_E_FORMAT) &&
           eq_status(policy_add_text(&p, "=1,2,3", &err), HSY_E_RANGE) &&
           eq_u64(p.policy.nsources, 1),
       "of which there are three");
    policy_clear(&p);
}

static void files_are_written(void)
{
    static const hsy_source web = {.cap_answer = 1,
                                   .cap_day = 2 * (uint64_t)HSY_NANO,
                                   .cap_lifetime = UINT64_MAX / 4};
    char place[] = "/tmp/hearsay-policy-XXXXXX", file[64];
    struct policy p = {.sources = NULL}, again = {.sources = NULL};
    hsy_error err = {0};

    if (mkdtemp(place) == NULL)
        return;
    snprintf(file, sizeof file, "%s/policy.yaml", place);
    ok(eq_status(reads(&p, HEAD "sources: []\nanchor: \"/it's # here\"\n"),
                 HSY_OK) &&
           eq_status(policy_add(&p, "web", 3, &web, &err), HSY_OK) &&
           eq_status(policy_write(&p, file, &err), HSY_OK),
       "a policy is written");
    free(problems);
    ok(eq_status(policy_read(&again, file, &problems, &nproblems, &err),
                 HSY_OK) &&
           eq_text(again.anchor, p.anchor) &&
           eq_u64(again.policy.nsources, 1) &&
           eq_u64(again.sources[0].cap_answer, web.cap_answer) &&
           eq_u64(again.sources[0].cap_day, web.cap_day) &&
           eq_u64(again.sources[0].cap_lifetime, web.cap_lifetime) &&
           eq_bytes(again.policy.sign_key, p.policy.sign_key, HSY_SIGN_KEY),
       "and read again as the same");
    unlink(file);
    free(problems);
    errno = 0;
    ok(eq_status(policy_read(&again, file, &problems, &nproblems, &err),
                 HSY_E_IO) &&
           errno == ENOENT && problems == NULL && again.policy.nsources == 1,
       "a file that is not there is named by errno");
    rmdir(place);
    is_status(policy_write(&p, file, &err), HSY_E_IO,
              "nor is a directory made");
    policy_clear(&p);
    policy_clear(&again);
}

static void demands_are_kept(void)
{
    struct policy p = {.sources = NULL};
    char path[] = "/tmp/hearsay-policy-XXXXXX";
    const int fd = mkstemp(path);

    ok(reads(&p, HEAD "relay: required\nmin_shufflers: 2\nmin_batch: 50000\n"
                      "shuffler_keys: [" KEY "]\npin_all: yes\n"
                      "sources: [" WEB "]\n") == HSY_OK &&
           p.policy.flags == (HSY_POLICY_RELAY | HSY_POLICY_PIN_ALL) &&
           p.policy.min_shufflers == 2 && p.policy.min_batch == 50000 &&
           p.policy.nshuffler_keys == 1 && p.policy.shuffler_keys[31] == 31,
       "what is demanded of every task is read");
    ok(policy_write(&p, path, NULL) == HSY_OK &&
           policy_read(&p, path, &problems, &nproblems, NULL) == HSY_OK &&
           p.policy.flags == (HSY_POLICY_RELAY | HSY_POLICY_PIN_ALL) &&
           p.policy.min_shufflers == 2 && p.policy.min_batch == 50000 &&
           p.policy.nshuffler_keys == 1 && p.policy.shuffler_keys[31] == 31,
       "and written again");
    ok(reads(&p, HEAD "relay: maybe\nsources: []\n") == HSY_E_FORMAT &&
           found(5, "", "relay", "required or optional"),
       "a relay is required or optional");
    ok(reads(&p, HEAD "shuffler_keys: [00]\nsources: []\n") == HSY_E_FORMAT &&
           found(5, "", "shuffler_keys", "64 hexadecimal digits"),
       "a key has its digits");
    policy_clear(&p);
    close(fd);
    unlink(path);
}

#define RELAYS "relays: ['https://relay.example/a', 'http://[::1]:8090']\n"
#define SOURCES "sources: []\n"
#define URL_17 "http://a, http://a, http://a, http://a, http://a, http://a, "

static bool relays_are(const struct policy *p)
{
    return p->policy.nrelays == 2 &&
           strcmp(p->policy.relays[0], "https://relay.example/a") == 0 &&
           strcmp(p->policy.relays[1], "http://[::1]:8090") == 0 &&
           p->policy.ngateway_keys == 1 && p->policy.gateway_keys[31] == 31 &&
           p->policy.flags == 0;
}

static void relays_are_kept(void)
{
    struct policy p = {.sources = NULL};
    char path[] = "/tmp/hearsay-policy-XXXXXX";
    const int fd = mkstemp(path);

    ok(reads(&p, HEAD RELAYS "gateway_keys: [" KEY "]\n" SOURCES) == HSY_OK &&
           relays_are(&p),
       "reads relays and gateway keys");
    ok(policy_write(&p, path, NULL) == HSY_OK &&
           policy_read(&p, path, &problems, &nproblems, NULL) == HSY_OK &&
           relays_are(&p),
       "writes relays and gateway keys as they are read");
    ok(reads(&p, HEAD "pinned_relay: https://relay.example\n" SOURCES) ==
               HSY_OK &&
           policy_write(&p, path, NULL) == HSY_OK &&
           policy_read(&p, path, &problems, &nproblems, NULL) == HSY_OK &&
           p.policy.nrelays == 1 && p.policy.flags == HSY_POLICY_RELAY_NAMED,
       "keeps that the collector named the relay");
    policy_clear(&p);
    close(fd);
    unlink(path);
}

static void relays_are_checked(void)
{
    struct policy p = {.sources = NULL};

    ok(reads(&p, HEAD RELAYS "pinned_relay: http://a\n" SOURCES) ==
               HSY_E_FORMAT &&
           found(6, "", "pinned_relay", "left out where there are relays"),
       "refuses pinned_relay beside relays");
    ok(reads(&p, HEAD "relays: [relay.example]\n" SOURCES) == HSY_E_FORMAT &&
           found(5, "", "relays", "must be a URL"),
       "refuses a relay that is no URL");
    ok(reads(&p, HEAD "pinned_relay: 'https://a@b/'\n" SOURCES) ==
               HSY_E_FORMAT &&
           found(5, "", "pinned_relay", "must be a URL"),
       "refuses a pinned relay that is no URL");
    ok(reads(&p, HEAD "relays: [" URL_17 URL_17 URL_17 "]\n" SOURCES) ==
               HSY_E_FORMAT &&
           found(5, "", "relays", "16"),
       "refuses more than 16 relays");
    ok(reads(&p, HEAD "gateway_keys: [00]\n" SOURCES) == HSY_E_FORMAT &&
           found(5, "", "gateway_keys", "64 hexadecimal digits"),
       "refuses a gateway key that is not hexadecimal");
    p.collector = "https://Relay.example:8443";
    ok(reads(&p, HEAD RELAYS SOURCES) == HSY_E_FORMAT &&
           found(5, "", "relays", "on the collector's host"),
       "refuses a relay on the collector's host");
    p.collector = "http://[::1]:8080/path";
    ok(reads(&p, HEAD RELAYS SOURCES) == HSY_OK && p.policy.nrelays == 2,
       "allows both on one loopback address");
    policy_clear(&p);
}

static void hosts_are_compared(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"http://a.example", "https://A.example:1/x", true},
        {"http://a.example.", "http://a.example/", true},
        {"http://a.example", "http://b.a.example", false},
        {"http://a.example", "http://a.examples", false},
        {"http://[2001:db8::1]:1", "http://[2001:DB8::1]", true},
        {"http://[2001:db8::1]", "http://[2001:db8::2]", false},
        {"http://192.0.2.1", "http://3221225985:1/", true},
        {"http://192.0.2.1", "http://0xC0000201", true},
        {"http://192.0.2.1", "http://0300.0.2.1", true},
        {"http://192.0.2.1", "http://192.0.513", true},
        {"http://192.0.2.1", "http://192.0.2.1.", true},
        {"http://192.0.2.1", "http://[::ffff:192.0.2.1]", true},
        {"http://192.0.513", "http://[::FFFF:C000:201]:1", true},
        {"http://192.0.2.1", "http://192.0.2.2", false},
        {"http://192.0.2.1", "http://192.0.2.1.example", false},
        {"http://192.0.2.1", "http://[::192.0.2.1]", false},
        {"http://[2001:db8:0::1]", "http://[2001:db8::1]", true},
        {"http://[2001:db8::1]", "http://[2001:0DB8:0:0:0:0:0:1]", true},
    };
    static const char *const here[] = {
        "http://localhost:1/", "http://127.0.0.1",
        "https://127.9.9.9:2", "http://[::1]:3",
        "http://LocalHost.",   "http://127.1",
        "http://0x7f.1",       "http://2130706433/",
        "http://[0:0::1]",     "http://[::ffff:127.0.0.1]",
    };
    static const char *const elsewhere[] = {
        "http://127.0.0.1.example",
        "http://localhost.example",
        "http://[::2]",
        "http://128.0.0.1",
        "http://[localhost]",
        "http://127.0.0.256",
        "http://127.1.1.1.1",
        "http://0127.0.0.1",
        "http://[::1:1]",
        "http://126.255.255.255",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok(url_same_host(rows[i].a, rows[i].b) == rows[i].same,
           "%s and %s: %s host", rows[i].a, rows[i].b,
           rows[i].same ? "the same" : "another");
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
        ok(url_loopback(here[i]) && !url_loopback(elsewhere[i]),
           "%s is this machine, %s is not", here[i], elsewhere[i]);
}

static void hosts_are_plain(void)
{
    static const char zeros[] = "00000000000000000000000000000000";
    char url[400] = "http://";

    ok(url_ok("https://a.example:1/x%20y") && url_ok("http://[::1]:2") &&
           url_ok("http://3221225985"),
       "accepts a name, addresses, and %% in a path");
    ok(!url_ok("http://coll%65ctor.example") && !url_ok("http://%31.2.3.4/"),
       "refuses a percent-encoded host");
    ok(!url_ok("http://[fe80::1%25eth0]/"), "refuses a zone in an address");
    ok(!url_ok("http://") && !url_ok("http:///a.example") &&
           !url_ok("http://:1/"),
       "refuses a URL without a host");
    for (int i = 0; i < 8; i++)
        strcat(url, zeros);
    ok(!url_ok(strcat(url, "300.0.2.1")),
       "refuses a host of more than 255 bytes");
}

int main(void)
{
    demands_are_kept();
    relays_are_kept();
    relays_are_checked();
    hosts_are_compared();
    hosts_are_plain();
    caps_are_texts();
    files_are_read();
    mistakes_have_lines();
    all_are_listed_at_once();
    sources_are_added();
    files_are_written();
    free(problems);
    return tap_done();
}
