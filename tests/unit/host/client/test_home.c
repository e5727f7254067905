/* test_home.c - a device's directory: made, opened, given new tasks, and what
 * each failure is about. */
#define _GNU_SOURCE
#include "host/client/home.h"

#include "rig/example_tasks.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TODAY 20000u

static char root[64], directory[96];
static uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];
static const uint64_t noon = (uint64_t)TODAY * 86400 + 43200;

static bool encode(uint8_t **bytes, size_t *len, const hsy_document *doc)
{
    static struct example_tasks e;
    bool good = example_tasks_make(&e);

    for (size_t i = 0; i < EXAMPLE_TASKS; i++) {
        e.task[i].start = TODAY;
        e.task[i].end = TODAY + 364;
    }
    e.task[1].sample = (hsy_ratio){1, 1};
    good = good && hsy_document_encode(doc, NULL, 0, len, e.task, EXAMPLE_TASKS,
                                       NULL) == HSY_OK;
    *bytes = calloc(1, *len + HSY_SIGNATURE);
    return good && *bytes != NULL &&
           hsy_document_encode(doc, *bytes, *len, len, e.task, EXAMPLE_TASKS,
                               NULL) == HSY_OK &&
           hsy_sign(*bytes + *len, *bytes, *len, secret) == HSY_OK;
}

/* The example tasks, signed. */
static struct task_file tasks(uint64_t version, uint32_t issued,
                              uint32_t expires)
{
    const hsy_document doc = {
        .version = version, .issued = issued, .expires = expires};
    struct task_file t = {0};
    uint8_t *bytes = NULL;
    size_t len = 0;

    ok(encode(&bytes, &len, &doc) &&
           task_file_bytes(&t, bytes, len + HSY_SIGNATURE, NULL) == HSY_OK,
       "a document of version %u", (unsigned)version);
    return t;
}

/* A home in the making, with the usual policy. */
static struct home fresh(const struct task_file *d)
{
    struct home h = {.directory = directory, .now = &noon};

    h.policy.policy.size = sizeof h.policy.policy;
    h.policy.policy.cap_day = POLICY_ALL_DAY;
    h.policy.policy.cap_lifetime = POLICY_ALL_LIFETIME;
    memcpy(h.policy.policy.sign_key, key, sizeof key);
    ok(home_policy_sources(&h, d, NULL) == HSY_OK &&
           home_policy_rooms(&h, d, NULL) == HSY_OK,
       "a policy for its tasks");
    return h;
}

static void no_device_is_told(void)
{
    struct home h = {.directory = directory, .now = &noon};
    hsy_error err = {0};

    ok(home_open(&h, &err) != HSY_OK && eq_int(h.trouble, HOME_NONE),
       "where nothing is there is no device");
    home_close(&h);
}

static void wrong_documents_are_refused(void)
{
    struct task_file early = tasks(1, TODAY + 2, TODAY + 9);
    struct task_file late = tasks(1, TODAY - 9, TODAY);
    struct home h = fresh(&early);
    hsy_error err = {0};

    is_status(home_make(&h, &early, &err), HSY_E_REFUSED, "issued tomorrow");
    is_int(h.trouble, HOME_EARLY, "which is said");
    is_status(home_make(&h, &late, &err), HSY_E_OLD, "over today");
    is_int(h.trouble, HOME_LATE, "which is said");
    h.policy.policy.sign_key[0] ^= 1;
    is_status(home_make(&h, &late, &err), HSY_E_SIGNATURE, "another's key");
    is_int(h.trouble, HOME_UNSIGNED, "which is said");
    ok(access(directory, F_OK) == -1, "and nothing was made");
    home_close(&h);
    task_file_clear(&early);
    task_file_clear(&late);
}

static void one_is_made(void)
{
    struct task_file d = tasks(1, TODAY, TODAY + 100);
    struct home h = fresh(&d);
    hsy_error err = {0};
    size_t n = 0;

    is_status(home_make(&h, &d, &err), HSY_OK, "a device is made");
    ok(h.client != NULL && hsy_client_releases(h.client, &n) != NULL && n > 0,
       "and is asked its tasks");
    home_close(&h);
    h = fresh(&d);
    is_status(home_make(&h, &d, &err), HSY_E_REFUSED, "but not twice");
    is_int(h.trouble, HOME_THERE, "which is said");
    home_close(&h);
    task_file_clear(&d);
}

static void the_clock_is_of_one_sort(void)
{
    struct home h = {.directory = directory};
    hsy_error err = {0};

    is_status(home_open(&h, &err), HSY_E_REFUSED,
              "a device of a rehearsal is not opened with the system's clock");
    is_int(h.trouble, HOME_REHEARSAL, "which is said");
    home_close(&h);
    h.now = &noon;
    is_status(home_open(&h, &err), HSY_OK, "but with its own");
    home_close(&h);
    is_status(home_open_bare(&h, &err), HSY_OK, "also without its document");
    home_close(&h);
}

static void new_tasks_are_taken(void)
{
    struct task_file newer = tasks(2, TODAY, TODAY + 50);
    struct task_file older = tasks(1, TODAY, TODAY + 50);
    struct home h = {.directory = directory, .now = &noon};
    char draft[128];
    hsy_error err = {0};

    ok(home_open_bare(&h, &err) == HSY_OK &&
           home_take(&h, &newer, &err) == HSY_OK,
       "a newer document is taken");
    is_status(home_take(&h, &older, &err), HSY_E_OLD, "an older one is not");
    is_int(h.trouble, HOME_DOCUMENT, "which is said");
    snprintf(draft, sizeof draft, "%s/document.new", directory);
    ok(access(draft, F_OK) == -1 && eq_int(errno, ENOENT),
       "and no draft stays");
    home_close(&h);
    is_status(home_open(&h, &err), HSY_OK, "the device opens with the new one");
    home_close(&h);
    task_file_clear(&newer);
    task_file_clear(&older);
}

static void the_log_is_read(void)
{
    struct home h = {.directory = directory, .now = &noon};
    struct home_log log = {0};
    hsy_error err = {0};
    bool version = false;

    is_status(home_log_read(&log, &h, &err), HSY_OK, "the log is read");
    for (size_t i = 0; i < log.n; i++) {
        const struct home_line v = home_log_value(&log.lines[i], "version");

        version |= v.text != NULL && v.len == 1 && v.text[0] == '2';
    }
    ok(version, "and has the version that was taken");
    ok(home_log_value(&(struct home_line){"a keyed=1 key=22 z=3", 20}, "key")
               .len == 2,
       "a value is that of its key, to the next space");
    ok(home_log_value(&(struct home_line){"a keyed=1", 9}, "key").text == NULL,
       "and of no other");
    home_log_clear(&log);
    home_close(&h);
}

static void a_lost_policy_is_told(void)
{
    struct home h = {.directory = directory, .now = &noon};
    char path[128];
    hsy_error err = {0};

    snprintf(path, sizeof path, "%s/policy.yaml", directory);
    ok(truncate(path, 3) == 0 && home_policy(&h, &err) != HSY_OK &&
           eq_int(h.trouble, HOME_POLICY),
       "a broken policy is refused");
    home_close(&h);
    ok(unlink(path) == 0 && home_policy(&h, &err) != HSY_OK &&
           eq_int(h.trouble, HOME_LOST_POLICY),
       "and so is a device without one");
    home_close(&h);
}

static void long_names_are_refused(void)
{
    static char name[HOME_PATH];
    struct home h = {.directory = name};
    hsy_error err = {0};

    memset(name, 'x', sizeof name - 1);
    ok(home_policy(&h, &err) == HSY_E_RANGE && eq_int(h.trouble, HOME_LONG),
       "the directory's name is too long");
}

int main(void)
{
    char command[128];

    strcpy(root, "/tmp/hearsay-home-XXXXXX");
    if (mkdtemp(root) == NULL || hsy_sign_keypair(key, secret) != HSY_OK)
        return 1;
    snprintf(directory, sizeof directory, "%s/device", root);
    no_device_is_told();
    wrong_documents_are_refused();
    one_is_made();
    the_clock_is_of_one_sort();
    new_tasks_are_taken();
    the_log_is_read();
    a_lost_policy_is_told();
    long_names_are_refused();
    snprintf(command, sizeof command, "rm -r %s", root);
    ok(system(command) == 0, "what was made is removed");
    return tap_done();
}
