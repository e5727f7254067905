/* device_init.c - hearsay device init and take: a new device, new tasks. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include <string.h>

/* ---- A new device -------------------------------------------------------- */

static int init_source(struct device_job *j, const char *text)
{
    hsy_error err = {0};
    const hsy_status st = policy_add_text(&j->home.policy, text, &err);

    if (st == HSY_E_FORMAT)
        return cli_usage(j->parser,
                         "--source takes NAME=REPORT,DAY,LIFETIME, as "
                         "web=1,1,8: epsilon at most of one report, a day "
                         "and ever");
    snprintf(j->home.path, sizeof j->home.path, "%.*s", (int)strcspn(text, "="),
             text);
    j->home.trouble = HOME_SOURCE;
    return st == HSY_OK ? 0 : device_refused(j, &err);
}

static int init_policy(struct device_job *j, const struct task_file *d)
{
    const struct device_options *o = j->how;
    struct home *h = &j->home;
    hsy_error err = {0};
    hsy_status st = HSY_OK;
    int failed = 0;

    h->policy.policy.size = sizeof h->policy.policy;
    h->policy.policy.cap_day = o->day;
    h->policy.policy.cap_lifetime = o->lifetime;
    if (o->anchor != NULL)
        st = home_policy_anchor(h, o->anchor, &err);
    for (size_t i = 0; st == HSY_OK && !failed && i < o->nsources; i++)
        failed = init_source(j, o->sources[i]);
    if (failed)
        return failed;
    if (st == HSY_OK && o->nsources == 0)
        st = home_policy_sources(h, d, &err);
    if (st == HSY_OK)
        st = home_policy_rooms(h, d, &err);
    return st == HSY_OK ? 0 : device_refused(j, &err);
}

static int init_show(struct device_job *j)
{
    const char *now = j->how->has_now ? " --now TIME" : "";
    const char *directory = j->home.directory;
    hsy_task refused;
    int failed;

    puts("What this device allows (epsilon, at most):\n");
    device_show_policy(&j->home.policy, TABLE_ALIGNED);
    puts("\nWhat it is asked (epsilon that it costs):\n");
    failed = device_show_tasks(j, TABLE_ALIGNED, false);
    if (failed)
        return failed;
    if (hsy_client_refused(j->home.client, &refused, NULL, 0))
        puts("A device that shall answer these is made with other --source, "
             "--day or --lifetime.");
    printf("\nIn plain words: hearsay device tasks %s%s\n"
           "It answers nothing before: hearsay device consent %s send%s\n",
           directory, now, directory, now);
    return cli_finish();
}

static int init_run(struct device_job *j, struct task_file *d)
{
    const struct device_options *o = j->how;
    struct home *h = &j->home;
    hsy_error err = {0};
    int failed = cli_tasks_document(d, o->document);

    if (!failed && o->policy != NULL &&
        home_policy_from(h, o->policy, &err) != HSY_OK)
        failed = device_refused(j, &err);
    if (!failed && o->policy == NULL)
        failed = cli_public_read(h->policy.policy.sign_key, o->public_key);
    if (!failed && o->policy == NULL)
        failed = init_policy(j, d);
    if (!failed && home_make(h, d, &err) != HSY_OK)
        failed = device_refused(j, &err);
    return failed ? failed : init_show(j);
}

/* Options that contradict each other; NULL: none. */
static const char *init_conflict(const struct cli_parser *p)
{
    if (!cli_given(p, "document"))
        return "init needs --document FILE, the signed tasks";
    if (!cli_given(p, "policy"))
        return cli_given(p, "public-key")
                   ? NULL
                   : "init needs --public-key FILE, or --policy FILE with the "
                     "key in it";
    if (cli_given(p, "public-key"))
        return "--policy FILE has the key in it: no --public-key beside it";
    if (cli_given(p, "source") || cli_given(p, "day") ||
        cli_given(p, "lifetime") || cli_given(p, "anchor"))
        return "--policy FILE says it all: no --source, --day, --lifetime or "
               "--anchor beside it";
    return NULL;
}

int device_init(struct device_job *j)
{
    const char *conflict = init_conflict(j->parser);
    struct task_file d = {.yaml = NULL};
    int failed;

    if (conflict != NULL)
        return cli_usage(j->parser, "%s", conflict);
    failed = init_run(j, &d);
    task_file_clear(&d);
    return failed;
}

/* ---- New tasks ----------------------------------------------------------- */

/* From a file, or from the collector at an address. */
static int take_read(struct device_job *j, struct task_file *d)
{
    const char *from = j->how->operand[1];

    return device_is_url(from) ? device_fetch(j, d)
                               : cli_tasks_document(d, from);
}

int device_take(struct device_job *j)
{
    struct task_file d = {.yaml = NULL};
    hsy_error err = {0};
    int failed = take_read(j, &d);

    if (!failed)
        failed = device_open_bare(j);
    if (!failed && home_take(&j->home, &d, &err) != HSY_OK)
        failed = device_refused(j, &err);
    task_file_clear(&d);
    return failed;
}
