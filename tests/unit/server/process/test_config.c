/* test_config.c - hearsay.yaml: every field has its default and its bounds,
 * every mistake its line, and a mistake changes nothing. */
#define _GNU_SOURCE
#include "host/tasks/task_file.h"
#include "server/process/config.h"
#include "server/process/log.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char place[] = "/tmp/hearsay-config-XXXXXX";
static char file[64];

static hsy_problem *problems;
static size_t nproblems;

static hsy_status reads(struct config *c, const char *text,
                        const struct config_setting *settings, size_t n)
{
    FILE *f = fopen(file, "w");
    hsy_error err;

    fputs(text, f);
    fclose(f);
    free(problems);
    return config_read(c, false, file, settings, n, &problems, &nproblems,
                       &err);
}

/* Whether a problem of this line and field was found; text: a part of it. */
static bool found(uint32_t line, const char *field, const char *text)
{
    for (size_t i = 0; i < nproblems; i++)
        if (problems[i].line == line && strcmp(problems[i].field, field) == 0 &&
            strstr(problems[i].text, text) != NULL)
            return true;
    return false;
}

#define SOUND "data: d\npublic_key: k\n"
#define MANY "storage: ['postgresql://u@h1,h2/d', postgres:///e]\n"
#define LONG "0123456789012345678901234567890123456789012345678901234567890123"

static void has_defaults(void)
{
    struct config c = {0};

    ok(eq_status(reads(&c, SOUND, NULL, 0), HSY_OK) && eq_u64(nproblems, 0),
       "two fields are enough");
    ok(eq_text(c.listen, "127.0.0.1:8080") && c.admin == NULL &&
           !c.admin_open && c.tls_cert == NULL && c.cors == NULL &&
           eq_u64(c.sandbox, CONFIG_ON) && eq_u64(c.log_level, LOG_NOTE) &&
           !c.log_json,
       "the defaults are safe");
    ok(eq_u64(c.body_bytes, 4u << 20) && eq_u64(c.timeout, 10) &&
           eq_u64(c.ids_epoch, 20000000) && c.lying == 0.01 &&
           eq_u64(c.loops, 0),
       "and are numbers");
    ok(eq_u64(c.tally_bytes, 1u << 30) && eq_u64(c.fold_bytes, 256u << 20) &&
           eq_u64(c.inflight_bytes, 128u << 20) &&
           eq_u64(c.waiting_bytes, 64u << 20),
       "memory is divided");
    ok(eq_u64(c.head_seconds, 10) && eq_u64(c.body_seconds, 10) &&
           eq_u64(c.idle_seconds, 60) && eq_u64(c.drain_seconds, 10) &&
           eq_u64(c.address_connections, 256),
       "so are timeout and connections");
    config_clear(&c);
}

static void reads_values(void)
{
    static const char text[] = SOUND
        "document: sub/tasks.signed # a comment\n"
        "listen: '[::1]:0'\nadmin: unix:/run/x.sock\nadmin_open: true\n"
        "body_bytes: 64K\nmemory: 6M\ntimeout: 2m\nconnections: 8\n"
        "grace_days: 2 days\nkeep_days: 2w\nlying: 5%\nlog_level: errors\n"
        "sandbox: required\ncors: [https://a.example, 'http://b:81']\n"
        "enrolled:\n  - age\n  - browser\nlog_json: on\n";
    struct config c = {0};
    char name[128];

    is_status(reads(&c, text, NULL, 0), HSY_OK, "reads every sort of value");
    snprintf(name, sizeof name, "%s/sub/tasks.signed", place);
    is_text(c.document, name, "names are of the file's directory");
    ok(eq_u64(c.body_bytes, 65536) && eq_u64(c.memory, 6u << 20) &&
           eq_u64(c.timeout, 120) && eq_u64(c.grace_days, 2) &&
           eq_u64(c.keep_days, 14) && c.lying == 0.05 &&
           eq_u64(c.log_level, LOG_ERROR) &&
           eq_u64(c.sandbox, CONFIG_REQUIRED) && c.log_json && c.admin_open,
       "sizes, times, days, shares, words");
    ok(eq_u64(c.tally_bytes, 4u << 20) && eq_u64(c.fold_bytes, 1u << 20) &&
           eq_u64(c.inflight_bytes, 512u << 10) &&
           eq_u64(c.waiting_bytes, 256u << 10) && eq_u64(c.idle_seconds, 720) &&
           eq_u64(c.drain_seconds, 120) && eq_u64(c.address_connections, 1),
       "and what follows from them");
    ok(eq_text(c.cors[1], "http://b:81") && c.cors[2] == NULL &&
           eq_text(c.enrolled[0], "age") && c.enrolled[2] == NULL,
       "and lists");
    config_clear(&c);
    is_status(reads(&c, "public_key: k\n" MANY "node: n1\n", NULL, 0), HSY_OK,
              "a node of a cluster needs no data");
    ok(config_many(&c) && eq_text(c.storage[1], "postgres:///e") &&
           c.storage[2] == NULL && eq_text(c.node, "n1") && c.data == NULL,
       "its databases, and its name");
    config_clear(&c);
    is_status(reads(&c, SOUND "storage: postgresql://h/d\n", NULL, 0), HSY_OK,
              "one database need not be a list");
    ok(eq_text(c.storage[0], "postgresql://h/d") && c.storage[1] == NULL,
       "it is the only one");
    config_clear(&c);
}

static void is_overruled(void)
{
    const struct config_setting settings[] = {
        {"data", "elsewhere"}, {"cors", "https://c"}, {"loops", "3"}};
    struct config c = {0};
    hsy_error err;

    ok(eq_status(reads(&c, SOUND "loops: 1\ncors: [https://a]\n", settings, 3),
                 HSY_OK) &&
           eq_text(c.data, "elsewhere") && eq_u64(c.loops, 3) &&
           eq_text(c.cors[0], "https://c") && c.cors[1] == NULL,
       "the command line has the last word, its names are as they stand");
    config_clear(&c);
    free(problems);
    ok(eq_status(config_read(&c, false, NULL, settings, 3, &problems,
                             &nproblems, &err),
                 HSY_E_FORMAT) &&
           found(0, "public_key", "key that verifies"),
       "without a file the command line must say enough");
    ok(eq_status(reads(&c, SOUND, &(struct config_setting){"loops", "x"}, 1),
                 HSY_E_FORMAT) &&
           found(0, "loops", "from 0 to 256"),
       "its mistakes have no line");
    ok(eq_status(
           reads(&c, SOUND, &(struct config_setting){"fold_bytes", "1"}, 1),
           HSY_E_FORMAT) &&
           found(0, "", "did you mean memory"),
       "a key that is none has the nearest one named");
}

static void names_mistakes(void)
{
    static const struct {
        const char *text, *field, *says;
        uint32_t line;
    } rows[] = {
        {SOUND "conections: 5\n", "", "did you mean 'connections'", 3},
        {SOUND "loops: 1\nloops: 2\n", "", "twice", 4},
        {SOUND "loops: [1]\n", "loops", "plain value", 3},
        {SOUND "cors: x\n", "cors", "list", 3},
        {SOUND "loops: 257\n", "loops", "from 0 to 256", 3},
        {SOUND "proxies: [10.0.0.1, relay.example]\n", "proxies",
         "'relay.example' is not an address", 3},
        {SOUND "proxies: [10.0.0.0/33]\n", "proxies", "or network", 3},
        {SOUND "loops: -1\n", "loops", "from 0 to 256", 3},
        {SOUND "body_bytes: 4Q\n", "body_bytes", "e.g. 64M", 3},
        {SOUND "body_bytes: 99999999999999999999T\n", "body_bytes", "64M", 3},
        {SOUND "body_bytes: 17179869184G\n", "body_bytes", "64M", 3},
        {SOUND "timeout: soon\n", "timeout", "30s", 3},
        {SOUND "grace_days: 0\n", "grace_days", "days", 3},
        {SOUND "tls12: maybe\n", "tls12", "yes or no", 3},
        {SOUND "lying: 0.5\n", "lying", "below a half", 3},
        {SOUND "lying: 50%\n", "lying", "below a half", 3},
        {SOUND "sandbox: maybe\n", "sandbox", "off, on, required", 3},
        {SOUND "log_level: loud\n", "log_level", "details", 3},
        {SOUND "document: ''\n", "document", "empty", 3},
        {SOUND "listen: 8080\n", "listen", "ADDRESS:PORT", 3},
        {SOUND "listen: 1.2.3.4:99999\n", "listen", "PORT", 3},
        {SOUND "admin: ':80'\n", "admin", "PORT", 3},
        {SOUND "admin_open: yes\n", "admin_open", "no admin address", 3},
        {SOUND "admin: 0.0.0.0:1\nadmin_open: yes\n", "admin_open", "only if",
         4},
        {SOUND "admin: 127.0.0.1:8080\n", "admin", "public address", 3},
        {SOUND "tls_cert: a\n", "tls_cert", "go together", 3},
        {SOUND "waiting_bytes: 1M\n", "", "did you mean 'memory'", 3},
        {SOUND "tally_bytes: 1M\n", "", "did you mean 'memory'", 3},
        {SOUND "drain_seconds: 1\n", "", "did you mean 'timeout'", 3},
        {SOUND "address_connections: 1\n", "", "mean 'connections'", 3},
        {SOUND "bytes: 1\n", "", "unknown key 'bytes'; see", 3},
        {SOUND "epsilon: 1\n", "",
         "'epsilon' does not belong in this file: move it into an entry of "
         "'tasks' of tasks.yaml",
         3},
        {SOUND "version: 1\n", "",
         "'version' does not belong in this file: move it into tasks.yaml", 3},
        {SOUND "lifetime: 1\n", "", "of policy.yaml", 3},
        {SOUND "grace_days: 9\nkeep_days: 8\n", "keep_days", "grace_days", 4},
        {SOUND "cors: [example.org]\n", "cors", "not an origin", 3},
        {SOUND "cors: ['https://a/b']\n", "cors", "not an origin", 3},
        {SOUND "enrolled: [A]\n", "enrolled", "not a task's id", 3},
        {"data: d\ndocument: t\n", "document", "public_key", 2},
        {"public_key: k\n", "data", "directory", 1},
        {"data: [\n", "", "not valid YAML", 1},
        {"", "", "empty", 0},
        {SOUND "loops: &x 1\n", "loops", "anchors", 3},
        {SOUND "node: n1\n", "node", "set 'storage'", 3},
        {SOUND "storage: mysql://h/d\n", "storage", "postgresql://", 3},
        {SOUND "storage: [postgresql://a,b/d]\n", "storage", "quote those", 3},
        {SOUND "storage: []\nnode: n1\n", "node", "of a cluster", 4},
        {SOUND MANY "node: " LONG "\n", "node", "at most 63", 4},
        {SOUND MANY "backups: b\n", "backups", "PostgreSQL's own", 4},
        {SOUND MANY "backup_hours: 6\n", "backup_hours", "own tools", 4},
        {"public_key: k\n" MANY "sign_key: a\nseal_keys: [b]\n", "data",
         "batches of shufflers wait", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct config c = {0};
        const bool good = reads(&c, rows[i].text, NULL, 0) == HSY_E_FORMAT &&
                          found(rows[i].line, rows[i].field, rows[i].says);

        ok(good, "mistake %zu, %s, is found at its line: %s", i, rows[i].field,
           nproblems != 0 ? problems[0].text : "none");
        ok(c.data == NULL && c.listen == NULL, "and nothing is used");
    }
}

static void lists_all_mistakes(void)
{
    struct config c = {0};

    ok(eq_status(reads(&c, SOUND "loops: x\nlying: 2\ntls12: 3\n", NULL, 0),
                 HSY_E_FORMAT) &&
           eq_u64(nproblems, 3) && found(3, "loops", "") &&
           found(4, "lying", "") && found(5, "tls12", ""),
       "all are listed");
    ok(eq_status(reads(&c,
                       "keep_days: 1\nloops: [1]\n" SOUND
                       "conections: 5\nlying: 2\n"
                       "cors: '*'\nbody_bytes: x\nmemory: 64M\n"
                       "admin_open: yes\n",
                       &(struct config_setting){"tls12", "perhaps"}, 1),
                 HSY_E_FORMAT) &&
           eq_u64(nproblems, 8) && found(1, "keep_days", "closed") &&
           found(2, "loops", "plain") && found(5, "", "unknown key") &&
           found(6, "lying", "share") && found(7, "cors", "list") &&
           found(8, "body_bytes", "64M") && found(10, "admin_open", "admin") &&
           found(0, "tls12", "yes or no"),
       "whatever is wrong: a key, a shape, a value, or what goes with it");
    for (size_t i = 1; i < nproblems; i++)
        ok(problems[i].line == 0 || (problems[i - 1].line != 0 &&
                                     problems[i - 1].line <= problems[i].line),
           "in the order of the file");
    ok(eq_status(reads(&c, SOUND "admin: 192.0.2.1:80\n", NULL, 0), HSY_OK) &&
           eq_u64(nproblems, 1) && problems[0].warning &&
           found(3, "admin", "unencrypted"),
       "a warning is none");
    config_clear(&c);
}

static void keeps_the_old(void)
{
    struct config c = {0};
    hsy_error err;

    ok(eq_status(reads(&c, SOUND "loops: 7\n", NULL, 0), HSY_OK) &&
           eq_status(reads(&c, SOUND "loops: x\n", NULL, 0), HSY_E_FORMAT) &&
           eq_u64(c.loops, 7) && eq_status(reads(&c, SOUND, NULL, 0), HSY_OK) &&
           eq_u64(c.loops, 0),
       "a mistake leaves what was read before, a sound file takes its place");
    config_clear(&c);
    free(problems);
    errno = 0;
    ok(eq_status(config_read(&c, false, "/nonesuch", NULL, 0, &problems,
                             &nproblems, &err),
                 HSY_E_IO) &&
           eq_int(errno, ENOENT) && problems == NULL,
       "a file that is not there is named by errno");
}

static void knows_what_is_stuck(void)
{
    struct config a = {0}, b = {0};
    const char *key, *otherwise;
    char stuck[200] = "";

    ok(eq_status(reads(&a, SOUND "enrolled: [x]\n", NULL, 0), HSY_OK) &&
           eq_status(reads(&b,
                           "data: e\npublic_key: l\nloops: 2\nlying: 0\ncors: "
                           "[https://a]"
                           "\nlog_json: yes\ntimeout: 1\nsandbox: off\n",
                           NULL, 0),
                     HSY_OK),
       "two configurations");
    for (size_t i = 0; (key = config_key(i, &otherwise)) != NULL; i++)
        if (config_stuck(i, &a, &b)) {
            strcat(stuck, key);
            strcat(stuck, " ");
        }
    is_text(stuck, "data cors loops timeout lying sandbox ",
            "only some fields need a restart: %s", stuck);
    config_clear(&a);
    config_clear(&b);
}

/* Other files know the keys of this one by a list. */
static void is_known_elsewhere(void)
{
    const struct yaml_kin *kin = task_kin;
    const char *key, *otherwise;
    char keys[2000] = "";

    while (strcmp(kin->file, "hearsay.yaml") != 0)
        kin++;
    for (size_t i = 0; (key = config_key(i, &otherwise)) != NULL; i++) {
        strcat(keys, i != 0 ? " " : "");
        strcat(keys, key);
    }
    is_text(kin->keys, keys, "the list of its keys has all of them");
}

int main(void)
{
    if (mkdtemp(place) == NULL)
        return 1;
    snprintf(file, sizeof file, "%s/hearsay.yaml", place);
    is_known_elsewhere();
    has_defaults();
    reads_values();
    is_overruled();
    names_mistakes();
    lists_all_mistakes();
    keeps_the_old();
    knows_what_is_stuck();
    ok(config_loopback("127.0.0.1:1") && config_loopback("[::1]:1") &&
           config_loopback("unix:x") && !config_loopback("0.0.0.0:1") &&
           !config_loopback("[::]:1") && !config_loopback("128.0.0.1:1"),
       "knows what is of this machine alone");
    free(problems);
    unlink(file);
    rmdir(place);
    return tap_done();
}
