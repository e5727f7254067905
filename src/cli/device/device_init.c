/* device_init.c - hearsay device init and take: a new device, new tasks. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks.h"
#include "cli/device/internal.h"

#include "host/client/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for so many releases at least, and for 4 times the tasks. */
#define INIT_RELEASES 16u
#define INIT_RELEASE_BYTES 256u
#define INIT_DAY 86400u

/* ---- The policy ---------------------------------------------------------- */

static int init_add(struct policy *p, const char *name, size_t len,
                    const hsy_source *caps)
{
    hsy_error err = {0};
    const hsy_status st = policy_add(p, name, len, caps, &err);

    if (st == HSY_E_REFUSED)
        return cli_fail("source %.*s %s", (int)len, name, err.msg);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : cli_fail("%s", err.msg);
}

/* NAME=ANSWER,DAY,LIFETIME */
static int init_source(struct device_job *j, const char *text)
{
    const char *equals = strchr(text, '=');
    const char *at = equals != NULL ? equals + 1 : "";
    hsy_source caps = {.name = NULL};
    uint64_t *const to[] = {&caps.cap_answer, &caps.cap_day,
                            &caps.cap_lifetime};

    for (size_t i = 0; i < 3; i++) {
        size_t len = strcspn(at, ",");

        if (equals == NULL || !policy_cap_parse(to[i], at, len) ||
            (at[len] == '\0') != (i == 2))
            return cli_usage(j->parser,
                             "--source takes NAME=ANSWER,DAY,LIFETIME, as "
                             "web=1,1,8: epsilon at most of one answer, a day "
                             "and ever");
        at += len + 1;
    }
    return init_add(&j->policy, text, (size_t)(equals - text), &caps);
}

/* Every source that the document asks about, once. */
static int init_sources_of(struct policy *p, const struct task_file *d)
{
    static const hsy_source caps = {.cap_answer = POLICY_ANSWER,
                                    .cap_day = POLICY_DAY,
                                    .cap_lifetime = POLICY_LIFETIME};
    int failed = 0;

    for (size_t i = 0; !failed && i < d->n; i++) {
        const char *source = d->all[i].source;

        if (policy_find(p, source) == NULL)
            failed = init_add(p, source, strlen(source), &caps);
    }
    return failed;
}

/* Room for the stored reports of every task, and for tasks to come. */
static int init_rooms(struct policy *p, const struct task_file *d)
{
    size_t most = INIT_RELEASE_BYTES;

    for (size_t i = 0; i < d->n; i++) {
        hsy_release *r = NULL;
        hsy_release_info info;
        hsy_scheme_info scheme;
        size_t bytes;
        int failed = cli_release_new(&r, &d->all[i]);

        if (failed)
            return failed;
        hsy_release_describe(r, &info);
        hsy_scheme_describe(info.scheme, &scheme);
        bytes = 2 * (size_t)info.task.sends * scheme.report_bytes;
        most = bytes > most ? bytes : most;
        free(r);
    }
    p->policy.release_bytes = most;
    p->policy.releases =
        4 * d->n > INIT_RELEASES ? (uint32_t)(4 * d->n) : INIT_RELEASES;
    return 0;
}

/* As a path from the root, for later commands may run elsewhere. */
static int init_anchor(struct policy *p, const char *path)
{
    char *here = path[0] == '/' ? strdup("") : realpath(".", NULL);
    size_t room;

    if (here == NULL)
        return cli_fail("%s: %s", path, strerror(errno));
    room = strlen(here) + strlen(path) + 2;
    p->anchor = malloc(room);
    if (p->anchor != NULL)
        snprintf(p->anchor, room, "%s%s%s", here, here[0] != '\0' ? "/" : "",
                 path);
    free(here);
    return p->anchor != NULL ? 0 : cli_fail_nomem();
}

static int init_policy(struct device_job *j, const struct task_file *d)
{
    const struct device_options *o = j->how;
    struct policy *p = &j->policy;
    int failed = 0;

    p->policy.size = sizeof p->policy;
    p->policy.cap_day = o->has_day ? o->day : POLICY_ALL_DAY;
    p->policy.cap_lifetime =
        o->has_lifetime ? o->lifetime : POLICY_ALL_LIFETIME;
    if (o->anchor != NULL)
        failed = init_anchor(p, o->anchor);
    for (size_t i = 0; !failed && i < o->nsources; i++)
        failed = init_source(j, o->sources[i]);
    if (!failed && o->nsources == 0)
        failed = init_sources_of(p, d);
    return failed ? failed : init_rooms(p, d);
}

/* ---- The document -------------------------------------------------------- */

static int init_check_signature(const struct task_file *d, const char *path,
                                const uint8_t key[HSY_SIGN_KEY])
{
    size_t len = d->doc.len - HSY_SIGNATURE; /* no document is shorter */

    if (hsy_sign_verify(key, d->bytes + len, d->bytes, len))
        return 0;
    return cli_fail("%s: not signed by this key", path);
}

/* What the device would refuse, before there is one. */
static int init_check_dates(const struct device_job *j,
                            const struct task_file *d, const char *path)
{
    uint64_t today;
    int failed = device_now(j, &today);

    if (failed)
        return failed;
    today /= INIT_DAY;
    if (d->doc.issued > today + 1) /* clocks differ by a little */
        return cli_fail("%s: it was issued after today: set the clock, or "
                        "wait",
                        path);
    if (d->doc.expires <= today)
        return cli_fail("%s: it has expired", path);
    return 0;
}

/* Put a copy of a file into the directory under another name. */
static int init_copy(struct device_job *j, const char *name,
                     const struct task_file *d)
{
    const char *path = device_file(j, name);

    return path != NULL ? cli_write_file(path, d->bytes, d->doc.len)
                        : CLI_FAILED;
}

/* ---- A new device -------------------------------------------------------- */

/* Written and read again: a path may hold what YAML does not give back, and
 * the device would look for its anchor elsewhere. */
static int init_policy_file(struct device_job *j)
{
    const char *path = device_file(j, "policy.yaml"), *anchor;
    struct policy again = {.sources = NULL};
    hsy_status st;
    int failed;

    if (path == NULL)
        return CLI_FAILED;
    errno = 0;
    st = policy_write(&j->policy, path, NULL);
    failed = st == HSY_E_NOMEM ? cli_fail_nomem()
             : st != HSY_OK    ? cli_fail_output(path)
                               : 0;
    if (!failed)
        failed = device_policy_file(&again, path);
    anchor = j->policy.anchor;
    if (!failed && anchor != NULL && strcmp(anchor, again.anchor) != 0)
        failed = cli_fail("--anchor: choose a path without control characters");
    policy_clear(&again);
    return failed;
}

/* The directory, with policy and document in it but no key: what is there of
 * an init that was cut short is written again. */
static int init_directory(struct device_job *j, const struct task_file *d)
{
    const hsy_host_options options = {.size = sizeof options,
                                      .wait_seconds = (uint32_t)j->how->wait,
                                      .create = true};
    hsy_host *host = NULL;
    hsy_error err = {0};
    const char *path;
    int failed = 0;

    if (hsy_host_open(&host, j->directory, &options, &err) != HSY_OK)
        return device_fail(j, &err);
    path = device_file(j, "key");
    if (path == NULL)
        failed = CLI_FAILED;
    else if (access(path, F_OK) == 0 || errno != ENOENT)
        failed = cli_fail("%s: there is a device already; what it has spent is "
                          "not forgotten",
                          j->directory);
    if (!failed)
        failed = init_policy_file(j);
    if (!failed)
        failed = init_copy(j, "document", d);
    if (!failed)
        failed = device_now_mark(j);
    hsy_host_close(host);
    return failed;
}

static int init_make(struct device_job *j)
{
    hsy_host_options options = device_host_options(j);
    const char *path = device_file(j, "document");
    hsy_error err = {0};

    options.create = true;
    if (path == NULL)
        return CLI_FAILED;
    if (hsy_client_open(&j->client, j->directory, &j->policy.policy, path,
                        &options, &err) != HSY_OK)
        return device_fail(j, &err);
    return 0;
}

static int init_show(struct device_job *j)
{
    const char *now = j->how->has_now ? " --now TIME" : "";
    hsy_task refused;
    int failed;

    puts("What this device allows (epsilon, at most):\n");
    device_show_policy(&j->policy, CLI_TABLE);
    puts("\nWhat it is asked (epsilon that it costs):\n");
    failed = device_show_tasks(j, CLI_TABLE, false);
    if (failed)
        return failed;
    if (hsy_client_refused(j->client, 0, &refused, NULL))
        puts("A device that shall answer these is made with other --source, "
             "--day or --lifetime.");
    printf("\nIn plain words: hearsay device tasks %s%s\n"
           "It answers nothing before: hearsay device consent %s send%s\n",
           j->directory, now, j->directory, now);
    return cli_finish();
}

static int init_run(struct device_job *j, struct task_file *d)
{
    const struct device_options *o = j->how;
    int failed = cli_tasks_document(d, o->document);

    if (!failed && o->policy != NULL)
        failed = device_policy_file(&j->policy, o->policy);
    if (!failed && o->policy == NULL)
        failed = cli_public_read(j->policy.policy.sign_key, o->public_key);
    if (!failed && o->policy == NULL)
        failed = init_policy(j, d);
    if (!failed)
        failed =
            init_check_signature(d, o->document, j->policy.policy.sign_key);
    if (!failed)
        failed = init_check_dates(j, d, o->document);
    if (!failed)
        failed = init_directory(j, d);
    if (!failed)
        failed = init_make(j);
    return failed ? failed : init_show(j);
}

int device_init(struct device_job *j)
{
    const struct device_options *o = j->how;
    struct task_file d = {.yaml = NULL};
    int failed;

    if (o->document == NULL)
        return cli_usage(j->parser,
                         "init needs --document FILE, the signed tasks");
    if (o->public_key == NULL && o->policy == NULL)
        return cli_usage(j->parser,
                         "init needs --public-key FILE, or --policy FILE with "
                         "the key in it");
    if (o->public_key != NULL && o->policy != NULL)
        return cli_usage(j->parser,
                         "--policy FILE has the key in it: no --public-key "
                         "beside it");
    if (o->policy != NULL && (o->nsources != 0 || o->has_day ||
                              o->has_lifetime || o->anchor != NULL))
        return cli_usage(j->parser,
                         "--policy FILE says it all: no --source, --day, "
                         "--lifetime or --anchor beside it");
    failed = init_run(j, &d);
    task_file_clear(&d);
    return failed;
}

/* ---- New tasks ----------------------------------------------------------- */

/* A store that failed may have reached one copy of the state, and then stands:
 * only a document that was refused is taken away again. */
static int take_run(struct device_job *j, const struct task_file *d)
{
    hsy_error err = {0};
    hsy_document taken;
    hsy_status st;
    const char *path;
    int failed = init_copy(j, DEVICE_DRAFT, d);

    if (failed)
        return failed;
    st =
        hsy_device_accept_document(j->bare, &taken, d->bytes, d->doc.len, &err);
    if (st == HSY_OK)
        return device_roll_forward(j)
                   ? 0
                   : cli_fail("%s: the new document cannot be put in its "
                              "place: %s",
                              j->directory, strerror(errno));
    path = device_file(j, DEVICE_DRAFT);
    if (path != NULL && st != HSY_E_IO && st != HSY_E_DAMAGED)
        unlink(path);
    hsy_world_explain(j->host, &err);
    return device_fail_about(j, j->how->operand[1], &err);
}

/* From a file, or from the collector at an address. */
static int take_read(struct device_job *j, struct task_file *d)
{
    const char *from = j->how->operand[1];

    return device_is_url(from) ? device_fetch(j, d)
                               : cli_tasks_document(d, from);
}

/* The new document waits beside the old one while the device is told of it:
 * cut short in between, device_open finds it there. */
int device_take(struct device_job *j)
{
    struct task_file d = {.yaml = NULL};
    int failed = take_read(j, &d);

    if (!failed)
        failed = device_open_bare(j);
    if (!failed)
        failed = take_run(j, &d);
    task_file_clear(&d);
    return failed;
}
