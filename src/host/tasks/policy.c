/* policy.c - policy.yaml: what a device allows, whatever a task asks. */
#define _POSIX_C_SOURCE 200809L
#include "host/tasks/policy.h"

#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "host/base/output.h"
#include "host/base/url.h"
#include "host/base/written.h"
#include "host/tasks/internal.h"
#include "host/tasks/task_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define POLICY_RELEASES_MAX 4096u
#define POLICY_PINS_MAX 256u
#define POLICY_RELAYS_MAX 16u
#define POLICY_CAP_MAX 64u /* bytes of a cap */

/* ---- Caps as text -------------------------------------------------------- */

bool policy_cap_parse(uint64_t *nano, const char *text, size_t len)
{
    const char *point = memchr(text, '.', len);
    int64_t number;

    if (hsy_epsilon_parse(nano, text, len) == HSY_OK)
        return true;
    if (len == 0 || text[0] == '-' ||
        (point != NULL && len - (size_t)(point - text) > HSY_SCALE_MAX + 1) ||
        hsy_decimal_parse(&number, text, len, HSY_SCALE_MAX) != HSY_OK)
        return false;
    *nano = (uint64_t)number;
    return true;
}

/* ---- Sources ------------------------------------------------------------- */

hsy_status policy_add_text(struct policy *p, const char *text, hsy_error *err)
{
    const char *equals = strchr(text, '=');
    const char *at = equals != NULL ? equals + 1 : "";
    hsy_source caps = {.name = NULL};
    uint64_t *const to[] = {&caps.cap_answer, &caps.cap_day,
                            &caps.cap_lifetime};

    for (size_t i = 0; i < 3; i++) {
        const size_t len = strcspn(at, ",");

        if (equals == NULL || !policy_cap_parse(to[i], at, len) ||
            (at[len] == '\0') != (i == 2))
            return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                             "not NAME=ANSWER,DAY,LIFETIME");
        at += len + 1;
    }
    return policy_add(p, text, (size_t)(equals - text), &caps, err);
}

const hsy_source *policy_find(const struct policy *p, const char *name)
{
    for (size_t i = 0; i < p->policy.nsources; i++) {
        if (strcmp(p->sources[i].name, name) == 0)
            return &p->sources[i];
    }
    return NULL;
}

static bool policy_name(const char *name, size_t len)
{
    if (len == 0 || len > HSY_SOURCE_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '\0' ||
            strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", name[i]) == NULL)
            return false;
    }
    return true;
}

hsy_status policy_add(struct policy *p, const char *name, size_t len,
                      const hsy_source *caps, hsy_error *err)
{
    hsy_source *sources;
    char *copy;

    if (!policy_name(name, len))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_NAME,
                         "a source's name is 1 to 64 characters of a-z, 0-9, "
                         "'.', '_', '-'");
    if (p->policy.nsources == HSY_TASKS_MAX)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SOURCES,
                               "a policy has at most 256 sources",
                               HSY_TASKS_MAX);
    sources = realloc(p->sources, (p->policy.nsources + 1) * sizeof *sources);
    if (sources == NULL)
        return host_nomem(err);
    p->policy.sources = p->sources = sources;
    copy = strndup(name, len);
    if (copy == NULL)
        return host_nomem(err);
    if (policy_find(p, copy) != NULL) {
        free(copy);
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NAME, "is given twice");
    }
    sources[p->policy.nsources] = *caps;
    sources[p->policy.nsources++].name = copy;
    return HSY_OK;
}

void policy_clear(struct policy *p)
{
    for (size_t i = 0; i < p->policy.nsources; i++)
        free((void *)p->sources[i].name);
    free(p->sources);
    free(p->anchor);
    free(p->pins);
    free(p->gateway);
    for (size_t i = 0; i < p->policy.nrelays; i++)
        free(p->relays[i]);
    free(p->relays);
    *p = (struct policy){.sources = NULL};
}

/* ---- Pins: trust on first use -------------------------------------------- */

static hsy_status policy_add_relay(struct policy *p, const char *url,
                                   size_t len)
{
    char **relays =
        realloc(p->relays, (p->policy.nrelays + 2) * sizeof *relays);

    if (relays == NULL)
        return HSY_E_NOMEM;
    p->relays = relays;
    p->policy.relays = (const char *const *)relays;
    relays[p->policy.nrelays] = strndup(url, len);
    if (relays[p->policy.nrelays] == NULL)
        return HSY_E_NOMEM;
    relays[++p->policy.nrelays] = NULL;
    return HSY_OK;
}

static hsy_status policy_pin_relay(struct policy *p, const hsy_document *doc,
                                   hsy_error *err)
{
    hsy_parties parties;

    hsy_document_parties(doc, &parties);
    if (parties.relay_len == 0)
        return HSY_OK;
    if (policy_add_relay(p, parties.relay, parties.relay_len) != HSY_OK)
        return host_nomem(err);
    if (!url_ok(p->relays[p->policy.nrelays - 1]))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_RELAY,
                         "the document's relay is not a URL");
    p->policy.flags |= HSY_POLICY_RELAY | HSY_POLICY_RELAY_NAMED;
    return HSY_OK;
}

/* The key that a shuffler signs with, once. */
static hsy_status policy_pin_key(struct policy *p,
                                 const uint8_t key[HSY_SIGN_KEY],
                                 hsy_error *err)
{
    const size_t n = p->policy.nshuffler_keys;
    uint8_t *pins;

    for (size_t i = 0; i < n; i++)
        if (memcmp(p->pins + i * HSY_SIGN_KEY, key, HSY_SIGN_KEY) == 0)
            return HSY_OK;
    if (n == POLICY_PINS_MAX)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SHUFFLER_KEYS,
                               "the document has more shufflers than a policy "
                               "can pin",
                               POLICY_PINS_MAX);
    pins = realloc(p->pins, (n + 1) * HSY_SIGN_KEY);
    if (pins == NULL)
        return host_nomem(err);
    memcpy(pins + n * HSY_SIGN_KEY, key, HSY_SIGN_KEY);
    p->policy.shuffler_keys = p->pins = pins;
    p->policy.nshuffler_keys = n + 1;
    return HSY_OK;
}

static hsy_status policy_pin_task(struct policy *p, const hsy_task *t,
                                  hsy_error *err)
{
    const uint64_t reports = hsy_task_batch_reports(t);
    hsy_statement s;

    if (p->policy.min_shufflers > t->shufflers)
        p->policy.min_shufflers = t->shufflers;
    if (p->policy.min_batch > reports)
        p->policy.min_batch = reports;
    for (uint32_t i = 0; i < t->shufflers; i++) {
        hsy_status st = hsy_statement_decode(
            &s, t->statements + (size_t)i * HSY_STATEMENT_WIRE, err);

        if (st == HSY_OK)
            st = policy_pin_key(p, s.sign_key, err);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

/* A demand holds for every task, so a local task among them leaves none but the
 * relay. */
hsy_status policy_pin(struct policy *p, const hsy_document *doc, hsy_error *err)
{
    hsy_status st = policy_pin_relay(p, doc, err);
    hsy_task task;

    p->policy.min_shufflers = doc->tasks != 0 ? HSY_SHUFFLERS_MAX : 0;
    p->policy.min_batch = doc->tasks != 0 ? UINT32_MAX : 0;
    for (uint32_t i = 0; st == HSY_OK && i < doc->tasks; i++) {
        hsy_document_task(doc, &task, i);
        st = policy_pin_task(p, &task, err);
    }
    if (p->policy.min_shufflers == 0)
        p->policy.nshuffler_keys = 0;
    if (p->policy.nshuffler_keys != 0)
        p->policy.flags |= HSY_POLICY_PIN_ALL;
    return st;
}

/* ---- The file ------------------------------------------------------------ */

struct policy_source {
    char *name;
    uint64_t answer, day, lifetime;
};

struct policy_file {
    uint8_t key[HSY_SIGN_KEY];
    char *anchor;
    uint64_t day, lifetime, releases, release_bytes;
    struct policy_source *sources;
    size_t nsources;
    char *relay, *pinned_relay, *pin_all;
    char **relays, **shuffler_keys, **gateway_keys;
    uint64_t min_shufflers, min_batch;
};

static bool policy_take_key(void *out, const char *text)
{
    return hex_line(out, HSY_SIGN_KEY, text, strlen(text));
}

static bool policy_take_cap(void *out, const char *text)
{
    const size_t len = strlen(text);

    return len <= POLICY_CAP_MAX && policy_cap_parse(out, text, len);
}

#define POLICY_CAP(in, member)                                                 \
    {                                                                          \
        .key = #member, .type = YAML_OWN, .at = offsetof(struct in, member),   \
        .take = policy_take_cap, .size = sizeof(uint64_t), .required = true,   \
        .wants = "must be a decimal of at most nine places, e.g. 0.5, or lnN"  \
    }

static const struct yaml_field policy_source_fields[] = {
    {.key = "name",
     .type = YAML_TEXT,
     .at = offsetof(struct policy_source, name),
     .required = true},
    POLICY_CAP(policy_source, answer),
    POLICY_CAP(policy_source, day),
    POLICY_CAP(policy_source, lifetime),
    {.key = NULL}};

static const struct yaml_map policy_source_map = {policy_source_fields,
                                                  sizeof(struct policy_source)};

#define POLICY_AT(member) offsetof(struct policy_file, member)

static const struct yaml_field policy_fields[] = {
    {.key = "key",
     .type = YAML_OWN,
     .at = POLICY_AT(key),
     .take = policy_take_key,
     .wants = "must be 64 hexadecimal digits",
     .size = HSY_SIGN_KEY,
     .required = true},
    {.key = "anchor", .type = YAML_TEXT, .at = POLICY_AT(anchor)},
    POLICY_CAP(policy_file, day),
    POLICY_CAP(policy_file, lifetime),
    {.key = "releases",
     .type = YAML_COUNT,
     .at = POLICY_AT(releases),
     .low = 1,
     .high = POLICY_RELEASES_MAX,
     .required = true},
    {.key = "release-bytes",
     .type = YAML_COUNT,
     .at = POLICY_AT(release_bytes),
     .high = UINT32_MAX},
    {.key = "sources",
     .type = YAML_MAPS,
     .at = POLICY_AT(sources),
     .count = POLICY_AT(nsources),
     .high = HSY_TASKS_MAX,
     .map = &policy_source_map,
     .required = true},
    {.key = "relay", .type = YAML_TEXT, .at = POLICY_AT(relay)},
    {.key = "relays",
     .type = YAML_LIST,
     .at = POLICY_AT(relays),
     .high = POLICY_RELAYS_MAX},
    {.key = "pinned_relay", .type = YAML_TEXT, .at = POLICY_AT(pinned_relay)},
    {.key = "gateway_keys",
     .type = YAML_LIST,
     .at = POLICY_AT(gateway_keys),
     .high = POLICY_PINS_MAX},
    {.key = "min_shufflers",
     .type = YAML_COUNT,
     .at = POLICY_AT(min_shufflers),
     .high = HSY_SHUFFLERS_MAX},
    {.key = "min_batch",
     .type = YAML_COUNT,
     .at = POLICY_AT(min_batch),
     .high = UINT32_MAX},
    {.key = "shuffler_keys",
     .type = YAML_LIST,
     .at = POLICY_AT(shuffler_keys),
     .high = POLICY_PINS_MAX},
    {.key = "pin_all", .type = YAML_TEXT, .at = POLICY_AT(pin_all)},
    {.key = NULL}};

const struct yaml_form policy_form = {
    .map = {policy_fields, sizeof(struct policy_file)},
    .others = "there are key, anchor, day, lifetime, releases, release-bytes, "
              "relay, relays, pinned_relay, gateway_keys, min_shufflers, "
              "min_batch, shuffler_keys, pin_all and sources, each with name, "
              "answer, day and lifetime",
    .column = "one source",
    .name = "name",
    .aliases = true,
    .kin = task_kin};

/* ---- Reading ------------------------------------------------------------- */

static void policy_take_source(struct policy *p, struct yaml_notes *n, size_t i,
                               const struct policy_source *from)
{
    const struct yaml_place at = {i, "name", NULL, YAML_NONE};
    const hsy_source caps = {.cap_answer = from->answer,
                             .cap_day = from->day,
                             .cap_lifetime = from->lifetime};
    hsy_error err = {0};
    const hsy_status st =
        policy_add(p, from->name, strlen(from->name), &caps, &err);

    if (st == HSY_E_NOMEM)
        n->nomem = true;
    else if (st != HSY_OK)
        yaml_wrong(n, at, "%s", err.msg);
}

/* Whether the first of two words is there, not the second or nothing. */
static bool policy_word(struct yaml_notes *n, const char *key, const char *text,
                        const char *yes, const char *no)
{
    if (text == NULL || strcmp(text, no) == 0)
        return false;
    if (strcmp(text, yes) != 0)
        yaml_wrong(n, yaml_key(key), "must be %s or %s", yes, no);
    return true;
}

/* A list of keys; how many there are. */
static size_t policy_take_keys(uint8_t **keys, struct yaml_notes *n,
                               const char *key, char *const *from)
{
    size_t count = 0;

    while (from != NULL && from[count] != NULL)
        count++;
    *keys = calloc(count + 1, HSY_SIGN_KEY);
    n->nomem |= *keys == NULL;
    for (size_t i = 0; i < count && !n->nomem; i++)
        if (!policy_take_key(*keys + i * HSY_SIGN_KEY, from[i]))
            yaml_wrong(n, yaml_key(key), "a key must be 64 hexadecimal digits");
    return count;
}

/* One more relay, copied. */
static void policy_take_relay(struct policy *p, struct yaml_notes *n,
                              const char *key, const char *url)
{
    if (!url_ok(url) || strlen(url) > HSY_RELAY_MAX)
        yaml_wrong(n, yaml_key(key),
                   "must be a URL, e.g. https://relay.example/");
    else if (p->collector != NULL && url_same_host(url, p->collector) &&
             !url_loopback(url))
        yaml_wrong(n, yaml_key(key),
                   "this relay is on the collector's host, which would see "
                   "this device's address: name one that somebody else runs");
    else if (policy_add_relay(p, url, strlen(url)) != HSY_OK)
        n->nomem = true;
}

/* Those that the person lists, or the one that the collector has named. */
static void policy_take_relays(struct policy *p, struct yaml_notes *n,
                               const struct policy_file *from)
{
    for (size_t i = 0; from->relays != NULL && from->relays[i] != NULL; i++)
        policy_take_relay(p, n, "relays", from->relays[i]);
    if (from->pinned_relay == NULL)
        return;
    if (from->relays != NULL && from->relays[0] != NULL)
        yaml_wrong(n, yaml_key("pinned_relay"),
                   "must be left out where there are relays");
    policy_take_relay(p, n, "pinned_relay", from->pinned_relay);
    p->policy.flags |= HSY_POLICY_RELAY_NAMED;
}

/* What is demanded of every task. */
static void policy_take_demands(struct policy *p, struct yaml_notes *n,
                                const struct policy_file *from)
{
    p->policy.nshuffler_keys =
        policy_take_keys(&p->pins, n, "shuffler_keys", from->shuffler_keys);
    p->policy.shuffler_keys = p->pins;
    p->policy.ngateway_keys =
        policy_take_keys(&p->gateway, n, "gateway_keys", from->gateway_keys);
    p->policy.gateway_keys = p->gateway;
    p->policy.min_shufflers = (uint32_t)from->min_shufflers;
    p->policy.min_batch = from->min_batch;
    if (policy_word(n, "relay", from->relay, "required", "optional"))
        p->policy.flags |= HSY_POLICY_RELAY;
    if (policy_word(n, "pin_all", from->pin_all, "yes", "no"))
        p->policy.flags |= HSY_POLICY_PIN_ALL;
    policy_take_relays(p, n, from);
}

/* A sound file's; what it owns may be taken. */
static void policy_take(struct policy *p, struct yaml_notes *n,
                        struct policy_file *from)
{
    p->policy.size = sizeof p->policy;
    p->policy.cap_day = from->day;
    p->policy.cap_lifetime = from->lifetime;
    p->policy.releases = (uint32_t)from->releases;
    p->policy.release_bytes = from->release_bytes;
    memcpy(p->policy.sign_key, from->key, HSY_SIGN_KEY);
    if (from->anchor != NULL && from->anchor[0] != '/')
        yaml_wrong(n, yaml_key("anchor"),
                   "must be an absolute path, for commands may run anywhere");
    p->anchor = from->anchor;
    from->anchor = NULL;
    policy_take_demands(p, n, from);
    for (size_t i = 0; i < from->nsources && !n->nomem; i++)
        policy_take_source(p, n, i, &from->sources[i]);
}

hsy_status policy_read_bytes(struct policy *p, const uint8_t *text, size_t len,
                             hsy_problem **problems, size_t *n, hsy_error *err)
{
    struct yaml_notes notes = {.directory = NULL};
    struct policy_file file = {.anchor = NULL};
    struct policy made = {.collector = p->collector};
    hsy_status st = HSY_OK;

    yaml_read(&notes, &policy_form, &file, text, len);
    if (!notes.wrong && !notes.nomem)
        policy_take(&made, &notes, &file);
    yaml_clear(&policy_form.map, &file);
    if (notes.nomem)
        st = host_nomem(err);
    else if (notes.wrong)
        st = host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                       "the policy is not sound");
    *problems = notes.problems;
    *n = notes.nproblems;
    notes.problems = NULL;
    yaml_notes_clear(&notes);
    policy_clear(st == HSY_OK ? p : &made);
    if (st == HSY_OK)
        *p = made;
    return st;
}

hsy_status policy_read(struct policy *p, const char *path,
                       hsy_problem **problems, size_t *n, hsy_error *err)
{
    uint8_t *text = NULL;
    size_t len = 0;
    hsy_status st = yaml_file(&text, &len, NULL, path, err);

    *problems = NULL;
    *n = 0;
    if (st != HSY_OK)
        return st;
    st = policy_read_bytes(p, text, len, problems, n, err);
    free(text);
    return st;
}

/* ---- Writing: by hand, for the sake of its comments ---------------------- */

static void policy_put_cap(FILE *to, const char *name, uint64_t nano)
{
    char cap[WRITTEN_NUMBER];

    written_nano(cap, nano);
    fprintf(to, "%s: %s\n", name, cap);
}

/* In single quotes, the only character that needs care being the quote. */
static void policy_put_quoted(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            putc('\'', to);
        putc(*text, to);
    }
    fputs("'\n", to);
}

static void policy_put_keys(FILE *to, const char *name, const uint8_t *keys,
                            size_t n)
{
    char key[2 * HSY_SIGN_KEY + 1];

    if (n != 0)
        fprintf(to, "%s:\n", name);
    for (size_t i = 0; i < n; i++) {
        hex_put(key, keys + i * HSY_SIGN_KEY, HSY_SIGN_KEY);
        fprintf(to, "  - '%s'\n", key);
    }
}

static void policy_put_relays(FILE *to, const hsy_policy *policy)
{
    const bool named = (policy->flags & HSY_POLICY_RELAY_NAMED) != 0;

    if (policy->nrelays != 0)
        fputs(named ? "# the relay that the collector named in the first "
                      "document\npinned_relay: "
                    : "relays:\n",
              to);
    for (size_t i = 0; i < policy->nrelays; i++) {
        if (!named)
            fputs("  - ", to);
        policy_put_quoted(to, policy->relays[i]);
    }
}

/* What is demanded of every task, if anything is. */
static void policy_put_demands(FILE *to, const hsy_policy *policy)
{
    if ((policy->flags & HSY_POLICY_RELAY) != 0)
        fprintf(to, "relay: required\n");
    policy_put_relays(to, policy);
    policy_put_keys(to, "gateway_keys", policy->gateway_keys,
                    policy->ngateway_keys);
    if (policy->min_shufflers != 0)
        fprintf(to, "min_shufflers: %" PRIu32 "\n", policy->min_shufflers);
    if (policy->min_batch != 0)
        fprintf(to, "min_batch: %" PRIu64 "\n", policy->min_batch);
    policy_put_keys(to, "shuffler_keys", policy->shuffler_keys,
                    policy->nshuffler_keys);
    if ((policy->flags & HSY_POLICY_PIN_ALL) != 0)
        fprintf(to, "pin_all: yes\n");
}

static void policy_format(FILE *to, const struct policy *p)
{
    char key[2 * HSY_SIGN_KEY + 1];

    hex_put(key, p->policy.sign_key, HSY_SIGN_KEY);
    fprintf(to,
            "# What this device allows, whatever a task asks: epsilon, "
            "at most. No document\n# can raise it.\n"
            "# key: who signs the first document\nkey: %s\n",
            key);
    if (p->anchor != NULL) {
        fprintf(to, "anchor: ");
        policy_put_quoted(to, p->anchor);
    }
    policy_put_demands(to, &p->policy);
    fprintf(to, "# of all sources together, a day and ever\n");
    policy_put_cap(to, "day", p->policy.cap_day);
    policy_put_cap(to, "lifetime", p->policy.cap_lifetime);
    fprintf(to,
            "# room in the state: questions ever answered, bytes of reports "
            "of each\nreleases: %" PRIu32 "\nrelease-bytes: %zu\nsources:",
            p->policy.releases, p->policy.release_bytes);
    fputs(p->policy.nsources != 0 ? "\n" : " []\n", to);
    for (size_t i = 0; i < p->policy.nsources; i++) {
        const hsy_source *s = &p->sources[i];

        fprintf(to, "  - name: '%s'\n", s->name);
        policy_put_cap(to, "    answer", s->cap_answer);
        policy_put_cap(to, "    day", s->cap_day);
        policy_put_cap(to, "    lifetime", s->cap_lifetime);
    }
}

hsy_status policy_write(const struct policy *p, const char *path,
                        hsy_error *err)
{
    struct output *out = NULL;
    struct written w;
    char *text = NULL;
    size_t len = 0;
    hsy_status st;

    if (written_open(&w))
        policy_format(w.to, p);
    st = written_close(&w, &text, &len, err);
    if (st != HSY_OK)
        return st;
    st = output_open(&out, path);
    if (st == HSY_OK) {
        output_write(out, text, len); /* commit says whether it failed */
        st = output_commit(out);
    }
    free(text);
    if (st == HSY_OK)
        return HSY_OK;
    return host_fail(err, st, HSY_FIELD_NONE,
                     st == HSY_E_NOMEM ? "out of memory"
                                       : "the file cannot be written");
}
