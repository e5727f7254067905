/* policy.c - policy.yaml: what a device allows, whatever a task asks. */
#define _DEFAULT_SOURCE
#include "cli/base/policy.h"

#include "cli/base/tasks.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLICY_RELEASES_MAX 4096u
#define POLICY_CAP_MAX 64u /* bytes of a cap */

/* ---- Caps as text -------------------------------------------------------- */

bool cli_cap_parse(uint64_t *nano, const char *text, size_t len)
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

void cli_cap_text(char text[CLI_CAP_TEXT], uint64_t nano)
{
    size_t len = (size_t)snprintf(text, CLI_CAP_TEXT, "%" PRIu64 ".%09" PRIu64,
                                  nano / HSY_NANO, nano % HSY_NANO);

    while (text[len - 1] == '0')
        len--;
    if (text[len - 1] == '.')
        len--;
    text[len] = '\0';
}

/* ---- Sources ------------------------------------------------------------- */

const hsy_source *cli_policy_find(const struct cli_policy *p, const char *name)
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

int cli_policy_add(struct cli_policy *p, const char *name, size_t len,
                   const hsy_source *caps)
{
    hsy_source *sources;
    char *copy;

    if (!policy_name(name, len))
        return cli_fail("a source is called by 1 to 64 of a-z, 0-9, '.', '_' "
                        "and '-'");
    if (p->policy.nsources == HSY_TASKS_MAX)
        return cli_fail("a policy has at most %u sources", HSY_TASKS_MAX);
    sources = realloc(p->sources, (p->policy.nsources + 1) * sizeof *sources);
    if (sources == NULL)
        return cli_fail_nomem();
    p->policy.sources = p->sources = sources;
    copy = strndup(name, len);
    if (copy == NULL)
        return cli_fail_nomem();
    if (cli_policy_find(p, copy) != NULL) {
        int failed = cli_fail("source %s stands there twice", copy);

        free(copy);
        return failed;
    }
    sources[p->policy.nsources] = *caps;
    sources[p->policy.nsources++].name = copy;
    return 0;
}

void cli_policy_clear(struct cli_policy *p)
{
    for (size_t i = 0; i < p->policy.nsources; i++)
        free((void *)p->sources[i].name);
    free(p->sources);
    free(p->anchor);
    *p = (struct cli_policy){.sources = NULL};
}

/* ---- The file, as libcyaml reads it -------------------------------------- */

struct policy_source {
    char *name, *answer, *day, *lifetime;
};

struct policy_file {
    char *key, *anchor, *day, *lifetime;
    uint32_t releases, release_bytes;
    struct policy_source *sources;
    unsigned sources_count;
};

#define POLICY_STRING(type, member, flags)                                     \
    CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER | (flags), type,        \
                           member, 1, 4096)

static const cyaml_schema_field_t policy_source_fields[] = {
    POLICY_STRING(struct policy_source, name, 0),
    POLICY_STRING(struct policy_source, answer, 0),
    POLICY_STRING(struct policy_source, day, 0),
    POLICY_STRING(struct policy_source, lifetime, 0), CYAML_FIELD_END};

static const cyaml_schema_value_t policy_source_value = {CYAML_VALUE_MAPPING(
    CYAML_FLAG_DEFAULT, struct policy_source, policy_source_fields)};

static const cyaml_schema_field_t policy_fields[] = {
    POLICY_STRING(struct policy_file, key, 0),
    POLICY_STRING(struct policy_file, anchor, CYAML_FLAG_OPTIONAL),
    POLICY_STRING(struct policy_file, day, 0),
    POLICY_STRING(struct policy_file, lifetime, 0),
    CYAML_FIELD_UINT("releases", CYAML_FLAG_OPTIONAL, struct policy_file,
                     releases),
    CYAML_FIELD_UINT("release-bytes", CYAML_FLAG_OPTIONAL, struct policy_file,
                     release_bytes),
    CYAML_FIELD_SEQUENCE("sources", CYAML_FLAG_POINTER, struct policy_file,
                         sources, &policy_source_value, 0, HSY_TASKS_MAX),
    CYAML_FIELD_END};

static const cyaml_schema_value_t policy_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct policy_file, policy_fields)};

/* What libcyaml says first is what is wrong; its last word is where. */
struct policy_said {
    char first[160], last[160];
};

static void policy_log(cyaml_log_t level, void *ctx, const char *format,
                       va_list args)
{
    struct policy_said *said = ctx;
    char line[160];

    if (level < CYAML_LOG_ERROR)
        return;
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = '\0';
    if (said->first[0] == '\0')
        memcpy(said->first, line, sizeof line);
    else if (strstr(line, "line") != NULL && said->last[0] == '\0')
        memcpy(said->last, line, sizeof line);
}

/* Past libcyaml's own "Load: " and spaces. */
static const char *policy_words(const char *line)
{
    const char *colon = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;

    return colon + strspn(colon, " ");
}

static int policy_caps(const char *path, uint64_t *nano, const char *what,
                       const char *source, const char *text)
{
    if (strlen(text) <= POLICY_CAP_MAX &&
        cli_cap_parse(nano, text, strlen(text)))
        return 0;
    return cli_fail("%s: %s%s%s: a cap is a decimal of at most nine places, as "
                    "0.5, or lnN",
                    path, source, source[0] != '\0' ? ": " : "", what);
}

static int policy_take_source(struct cli_policy *p, const char *path,
                              const struct policy_source *from)
{
    hsy_source caps = {.name = NULL};
    int failed =
        policy_caps(path, &caps.cap_answer, "answer", from->name, from->answer);

    if (!failed)
        failed = policy_caps(path, &caps.cap_day, "day", from->name, from->day);
    if (!failed)
        failed = policy_caps(path, &caps.cap_lifetime, "lifetime", from->name,
                             from->lifetime);
    return failed ? failed
                  : cli_policy_add(p, from->name, strlen(from->name), &caps);
}

static int policy_take(struct cli_policy *p, const char *path,
                       const struct policy_file *from)
{
    int failed = 0;

    p->policy.size = sizeof p->policy;
    p->policy.releases = from->releases;
    p->policy.release_bytes = from->release_bytes;
    if (from->releases == 0 || from->releases > POLICY_RELEASES_MAX)
        return cli_fail("%s: releases: from 1 to %u", path,
                        POLICY_RELEASES_MAX);
    if (!hex_line(p->policy.sign_key, HSY_SIGN_KEY, from->key,
                  strlen(from->key)))
        return cli_fail("%s: key: 64 hexadecimal digits", path);
    if (from->anchor != NULL && from->anchor[0] != '/')
        return cli_fail("%s: anchor: a path from the root, for commands may "
                        "run anywhere",
                        path);
    if (from->anchor != NULL && (p->anchor = strdup(from->anchor)) == NULL)
        return cli_fail_nomem();
    failed = policy_caps(path, &p->policy.cap_day, "day", "", from->day);
    if (!failed)
        failed = policy_caps(path, &p->policy.cap_lifetime, "lifetime", "",
                             from->lifetime);
    for (unsigned i = 0; !failed && i < from->sources_count; i++)
        failed = policy_take_source(p, path, &from->sources[i]);
    return failed;
}

/* libcyaml names the line of what it read last, which may stand before the one
 * that is wrong. */
static int policy_broken(const char *path, const struct policy_said *said,
                         const char *otherwise)
{
    static const char strange[] = "Unexpected key: ";
    const char *words =
        said->first[0] != '\0' ? policy_words(said->first) : otherwise;
    const char *line = strstr(said->last, "line: ");

    if (strncmp(words, strange, sizeof strange - 1) == 0)
        return cli_fail("%s: no such key: '%s'; there are key, anchor, day, "
                        "lifetime, releases, release-bytes and sources, each "
                        "with name, answer, day and lifetime",
                        path, words + sizeof strange - 1);
    if (line == NULL)
        return cli_fail("%s: %s", path, words);
    return cli_fail("%s: near line %lu: %s", path,
                    strtoul(line + strlen("line: "), NULL, 10), words);
}

int cli_policy_read(struct cli_policy *p, const char *path)
{
    struct policy_said said = {.first = ""};
    const cyaml_config_t config = {.log_fn = policy_log,
                                   .log_ctx = &said,
                                   .log_level = CYAML_LOG_ERROR,
                                   .mem_fn = cyaml_mem};
    struct policy_file *file = NULL;
    cyaml_err_t st;
    int failed;

    if (access(path, R_OK) == -1)
        return cli_fail("%s: %s", path, strerror(errno));
    st = cyaml_load_file(path, &config, &policy_value, (void **)&file, NULL);
    if (st != CYAML_OK)
        return policy_broken(path, &said, cyaml_strerror(st));
    if (file == NULL)
        return cli_fail("%s: the file is empty", path);
    failed = policy_take(p, path, file);
    cyaml_free(&config, &policy_value, file, 0);
    return failed;
}

/* ---- Writing: by hand, for the sake of its comments ---------------------- */

#define POLICY_TEXT                                                            \
    (1u << 17) /* 256 sources at their longest, and the head                   \
                */

struct policy_text {
    char *text;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void
policy_put(struct policy_text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->text + t->used, POLICY_TEXT - t->used, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < POLICY_TEXT - t->used)
        t->used += (size_t)n;
}

static void policy_put_cap(struct policy_text *t, const char *name,
                           uint64_t nano)
{
    char cap[CLI_CAP_TEXT];

    cli_cap_text(cap, nano);
    policy_put(t, "%s: %s\n", name, cap);
}

/* In single quotes, the only character that needs care being the quote. */
static void policy_put_quoted(struct policy_text *t, const char *text)
{
    policy_put(t, "'");
    for (; *text != '\0'; text++)
        policy_put(t, *text == '\'' ? "''" : "%c", *text);
    policy_put(t, "'\n");
}

static void policy_format(struct policy_text *t, const struct cli_policy *p)
{
    char key[2 * HSY_SIGN_KEY + 1];

    hex_put(key, p->policy.sign_key, HSY_SIGN_KEY);
    policy_put(t,
               "# What this device allows, whatever a task asks: epsilon, "
               "at most. No document\n# can raise it.\n"
               "# key: who signs the first document\nkey: %s\n",
               key);
    if (p->anchor != NULL) {
        policy_put(t, "anchor: ");
        policy_put_quoted(t, p->anchor);
    }
    policy_put(t, "# of all sources together, a day and ever\n");
    policy_put_cap(t, "day", p->policy.cap_day);
    policy_put_cap(t, "lifetime", p->policy.cap_lifetime);
    policy_put(t,
               "# room in the state: questions ever answered, bytes of reports "
               "of each\nreleases: %" PRIu32 "\nrelease-bytes: %zu\nsources:",
               p->policy.releases, p->policy.release_bytes);
    policy_put(t, p->policy.nsources != 0 ? "\n" : " []\n");
    for (size_t i = 0; i < p->policy.nsources; i++) {
        const hsy_source *s = &p->sources[i];

        policy_put(t, "  - name: '%s'\n", s->name);
        policy_put_cap(t, "    answer", s->cap_answer);
        policy_put_cap(t, "    day", s->cap_day);
        policy_put_cap(t, "    lifetime", s->cap_lifetime);
    }
}

int cli_policy_write(const struct cli_policy *p, const char *path)
{
    struct policy_text t = {.text = malloc(POLICY_TEXT)};
    int failed;

    if (t.text == NULL)
        return cli_fail_nomem();
    policy_format(&t, p);
    failed = cli_write_file(path, t.text, t.used);
    free(t.text);
    return failed;
}
