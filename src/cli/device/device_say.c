/* device_say.c - what a device says: why not, and what to do about it. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include "host/base/written.h"
#include "host/client/world.h"

#include <inttypes.h>
#include <string.h>

/* ---- Errors -------------------------------------------------------------- */

/* The field is left out where the message names it in plain words. */
void device_say_why(char *text, size_t room, const hsy_error *err)
{
    const char *field =
        err->kind == HSY_LIMIT_NANO ? "" : hsy_field_name(err->field);
    char limit[CLI_LIMIT];

    snprintf(text, room, "%s%s%s%s", field, field[0] != '\0' ? ": " : "",
             err->msg != NULL ? err->msg : hsy_strstatus(err->status),
             cli_limit_text(limit, err));
}

/* What becomes of a device whose state cannot be trusted. */
static const char say_damaged[] =
    "the device is locked; restore the newest files, or delete the directory, "
    "which discards the record of what it spent";

static int device_fail_about(const struct device_job *j, const char *about,
                             const hsy_error *err)
{
    char text[512];

    device_say_why(text, sizeof text, err);
    if (err->field == HSY_FIELD_ANCHOR && j->home.policy.anchor != NULL)
        cli_fail("%s: %s: %s", about, text, j->home.policy.anchor);
    else
        cli_fail("%s: %s", about, text);
    if (err->status == HSY_E_DAMAGED)
        cli_note("%s: %s", j->home.directory, say_damaged);
    return CLI_FAILED;
}

int device_fail(const struct device_job *j, const hsy_error *err)
{
    return device_fail_about(j, j->home.directory, err);
}

/* The policy that is wrong: each problem, or what kept it from being read. */
static int say_policy(const struct home *h, const hsy_error *err)
{
    for (size_t i = 0; i < h->nproblems; i++)
        cli_problem_say(&h->problems[i], h->path, "source");
    return h->nproblems == 0 ? cli_fail("%s: %s", h->path, err->msg)
                             : CLI_FAILED;
}

static int say_source(const struct home *h, const hsy_error *err)
{
    return err->status == HSY_E_REFUSED
               ? cli_fail("source %s %s", h->path, err->msg)
               : cli_fail("%s", err->msg);
}

/* What the document of an init is refused for, and other things that are of no
 * device. */
static int say_made(const struct device_job *j, const hsy_error *err)
{
    const struct home *h = &j->home;
    const char *document = j->options.document;

    switch (h->trouble) {
    case HOME_THERE:
        return cli_fail("%s: already holds a device; use it, or choose another "
                        "directory (what it has spent must not be forgotten)",
                        h->directory);
    case HOME_CLOCK:
        return cli_fail("the system clock is before 1970; set it");
    case HOME_TASK:
        return cli_fail_error(h->path, err);
    case HOME_SOURCE:
        return say_source(h, err);
    case HOME_PINS:
        cli_fail_error(document, err);
        cli_note("'--pin none' makes a device without it");
        return CLI_FAILED;
    case HOME_ANCHOR:
        return cli_fail(
            "--anchor: the path has control characters; choose another");
    case HOME_UNSIGNED:
        return cli_fail("%s: not signed by the key that this device trusts",
                        document);
    case HOME_EARLY:
        return cli_fail("%s: issued after today; set the clock, or wait",
                        document);
    default: /* HOME_LATE */
        return cli_fail("%s: has expired; get a newer document", document);
    }
}

int device_refused(const struct device_job *j, const hsy_error *err)
{
    const struct home *h = &j->home;

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    switch (h->trouble) {
    case HOME_DEVICE:
        return device_fail(j, err);
    case HOME_DOCUMENT:
        return device_fail_about(j, j->options.operand[1], err);
    case HOME_LONG:
        return cli_fail("the directory's name is too long");
    case HOME_POLICY:
        return say_policy(h, err);
    case HOME_LOST_POLICY:
        return cli_fail("%s: policy.yaml is missing; restore it", h->directory);
    case HOME_NONE:
        return cli_fail(
            "%s: no device here; create one with 'hearsay device init'",
            h->directory);
    case HOME_REHEARSAL:
        return cli_fail("%s: this device is for rehearsals (made with --now); "
                        "give --now TIME",
                        h->directory);
    case HOME_REAL:
        return cli_fail("%s: --now is only for rehearsal devices, made by "
                        "'hearsay device init --now'; leave it out",
                        h->directory);
    case HOME_FILE:
        return cli_fail("%s: %s", h->path,
                        h->reason != 0 ? strerror(h->reason) : "write failed");
    case HOME_TOO_LONG:
        return cli_fail("%s: longer than %" PRIu64 " MiB", h->path,
                        err->limit >> 20);
    case HOME_PLACE:
        return cli_fail("%s: cannot replace the document: %s", h->directory,
                        strerror(h->reason));
    default:
        return say_made(j, err);
    }
}

int device_fail_task(const struct device_job *j, const char *task,
                     const hsy_error *err)
{
    if (err->status == HSY_E_UNKNOWN) /* the word may be a truth misplaced */
        return cli_fail(
            "no such task; 'hearsay device tasks %s' lists the tasks",
            j->home.directory);
    device_fail_about(j, task, err);
    if (err->status == HSY_E_POLICY)
        cli_note(
            "'hearsay device policy %s' shows the caps; to allow more, create "
            "a new device with 'device init' and --source, --day or --lifetime",
            j->home.directory);
    return CLI_FAILED;
}

/* ---- Answers ------------------------------------------------------------- */

/* The task of this name among those that are admitted; its slot's epsilon. */
static bool say_task(hsy_client *client, const char *id, hsy_task *task,
                     uint64_t *nano)
{
    size_t n, i = 0;
    const hsy_release *const *releases = hsy_client_releases(client, &n);
    hsy_release_info info;

    while (i < n &&
           (!hsy_client_task(client, task, i) || strcmp(task->id, id) != 0))
        i++;
    if (i == n)
        return false;
    hsy_release_describe(releases[i], &info);
    *nano = info.nano_slot;
    return true;
}

/* Say that one cap leaves no room, if it does. */
static bool say_cap(const char *id, const char *whose, const char *source,
                    uint64_t spent, uint64_t cap, uint64_t nano, uint32_t again)
{
    char used[WRITTEN_NUMBER], of[WRITTEN_NUMBER], slot[WRITTEN_NUMBER];
    char when[DAY_TEXT] = "";

    if (spent <= cap && nano <= cap - spent)
        return false;
    written_nano(used, spent);
    written_nano(of, cap);
    written_nano(slot, nano);
    if (again != 0)
        day_text(when, again);
    cli_note("note: %s: the %s cap of %s%s leaves no room for this slot, which "
             "takes epsilon %s: %s of %s is spent, %s%s",
             id, again != 0 ? "daily" : "lifetime", whose, source, slot, used,
             of, again != 0 ? "and it begins anew on " : "which never renews",
             when);
    return true;
}

/* Whose cap leaves no room: for ever before for today. */
static bool say_capped(hsy_device *dev, const char *id, const hsy_task *task,
                       uint64_t nano)
{
    hsy_budget own, all;

    if (hsy_device_budget(dev, &own, task->source, NULL) != HSY_OK ||
        hsy_device_budget(dev, &all, NULL, NULL) != HSY_OK)
        return false;
    return say_cap(id, "source ", task->source, own.spent_lifetime,
                   own.cap_lifetime, nano, 0) ||
           say_cap(id, "the device", "", all.spent_lifetime, all.cap_lifetime,
                   nano, 0) ||
           say_cap(id, "source ", task->source, own.spent_day, own.cap_day,
                   nano, own.day + 1) ||
           say_cap(id, "the device", "", all.spent_day, all.cap_day, nano,
                   all.day + 1);
}

static void say_exhausted(const struct device_job *j, const char *id)
{
    hsy_client *client = j->home.client;
    uint64_t nano = 0;
    hsy_task task;

    if (!say_task(client, id, &task, &nano) ||
        !say_capped(hsy_client_device(client), id, &task, nano))
        cli_note("note: %s: a cap left no room when this slot began, and it "
                 "stays without an answer",
                 id);
    cli_note("'hearsay device budget %s' shows what was spent",
             j->home.directory);
}

void device_say_state(const struct device_job *j, hsy_answer_state state)
{
    const char *task = j->options.operand[1];

    puts(hsy_world_state_name(state));
    if (state == HSY_ANSWER_NO_CONSENT &&
        hsy_device_consent(hsy_client_device(j->home.client)) !=
            HSY_CONSENT_NONE)
        cli_note("note: %s: the document makes another promise than when this "
                 "question was asked before; answers wait for the next slot, "
                 "or agree to the new one with 'hearsay device consent %s "
                 "send'",
                 task, j->home.directory);
    else if (state == HSY_ANSWER_NO_CONSENT)
        cli_note("note: no consent yet; allow answers with 'hearsay device "
                 "consent %s collect' or 'send'",
                 j->home.directory);
    else if (state == HSY_ANSWER_EXHAUSTED)
        say_exhausted(j, task);
    else if (state == HSY_ANSWER_CLOSED)
        cli_note("note: %s: the task has not begun, is over or was forgotten, "
                 "or its round (or another stage of its search) has been sent",
                 task);
}
