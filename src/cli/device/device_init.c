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
        return cli_usage(
            &j->parser,
            "--source takes NAME=REPORT,DAY,LIFETIME, e.g. web=1,1,8: caps on "
            "the epsilon of a report, of a day and of all time");
    snprintf(j->home.path, sizeof j->home.path, "%.*s", (int)strcspn(text, "="),
             text);
    j->home.trouble = HOME_SOURCE;
    return st == HSY_OK ? 0 : device_refused(j, &err);
}

static int init_policy(struct device_job *j, const struct task_file *d)
{
    const struct device_options *o = &j->options;
    struct home *h = &j->home;
    hsy_error err = {0};
    hsy_status st = HSY_OK;
    int failed = 0;

    h->policy.policy.size = sizeof h->policy.policy;
    h->policy.policy.cap_day = o->day;
    h->policy.policy.cap_lifetime = o->lifetime;
    if (o->anchor != NULL)
        st = home_policy_anchor(h, o->anchor, &err);
    for (size_t i = 0; st == HSY_OK && !failed && i < o->sources.n; i++)
        failed = init_source(j, o->sources.at[i]);
    if (failed)
        return failed;
    if (st == HSY_OK && o->sources.n == 0)
        st = home_policy_sources(h, d, &err);
    if (st == HSY_OK)
        st = home_policy_rooms(h, d, &err);
    if (st == HSY_OK && o->pin == DEVICE_PIN_DOCUMENT)
        st = home_policy_pins(h, d, &err);
    return st == HSY_OK ? 0 : device_refused(j, &err);
}

/* Whether a cap, or a source without caps, refuses a task. */
static bool init_capped(struct device_job *j)
{
    hsy_error why;
    hsy_task task;
    bool capped = false;

    for (size_t i = 0; hsy_client_refused(j->home.client, &task, &why, i); i++)
        capped |= why.field == HSY_FIELD_EPSILON ||
                  why.field == HSY_FIELD_CAP_DAY ||
                  why.field == HSY_FIELD_CAP_LIFETIME ||
                  why.field == HSY_FIELD_SOURCE;
    return capped;
}

static int init_show(struct device_job *j)
{
    const char *now = j->options.has_now ? " --now TIME" : "";
    const char *directory = j->home.directory;
    int failed;

    puts("Caps of this device (epsilon, at most):\n");
    device_show_policy(&j->home.policy, TABLE_ALIGNED);
    puts("\nIts tasks (epsilon that each costs):\n");
    failed = device_show_tasks(j, TABLE_ALIGNED, false);
    if (failed)
        return failed;
    if (init_capped(j))
        puts("To allow a task that a cap refuses, create a device with other "
             "--source, --day\nor --lifetime.");
    printf("\nIn plain words: hearsay device tasks %s%s\nTo let it answer: "
           "hearsay device consent %s send%s\n",
           directory, now, directory, now);
    return cli_finish();
}

static int init_run(struct device_job *j, struct task_file *d)
{
    const struct device_options *o = &j->options;
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

int device_init(void *to)
{
    struct device_job *j = to;
    struct task_file d = {.yaml = NULL};
    const int failed = init_run(j, &d);

    task_file_clear(&d);
    return failed;
}

/* ---- New tasks ----------------------------------------------------------- */

/* From a file, or from the collector at an address. */
static int take_read(struct device_job *j, struct task_file *d, bool *later)
{
    const char *from = j->options.operand[1];

    return device_is_url(from) ? device_fetch(j, d, later)
                               : cli_tasks_document(d, from);
}

int device_take(void *to)
{
    struct device_job *j = to;
    struct task_file d = {.yaml = NULL};
    hsy_error err = {0};
    bool later = false;
    int failed = take_read(j, &d, &later);

    if (!failed && !later)
        failed = device_open_bare(j);
    if (!failed && !later && home_take(&j->home, &d, &err) != HSY_OK)
        failed = device_refused(j, &err);
    task_file_clear(&d);
    return failed;
}
