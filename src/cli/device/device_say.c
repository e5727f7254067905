/* device_say.c - what a device says: why not, and what to do about it. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

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
    "nothing is answered until a person has looked: put the newest files "
    "back, or remove the directory, and with it what was spent";

int device_fail_about(const struct device_job *j, const char *about,
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
        return cli_fail("%s: there is a device already; what it has spent is "
                        "not forgotten",
                        h->directory);
    case HOME_CLOCK:
        return cli_fail("the clock stands before 1970; set it");
    case HOME_TASK:
        return cli_fail_error(h->path, err);
    case HOME_SOURCE:
        return say_source(h, err);
    case HOME_ANCHOR:
        return cli_fail("--anchor: choose a path without control characters");
    case HOME_UNSIGNED:
        return cli_fail("%s: not signed by this key", document);
    case HOME_EARLY:
        return cli_fail("%s: it was issued after today: set the clock, or "
                        "wait",
                        document);
    default: /* HOME_LATE */
        return cli_fail("%s: it has expired", document);
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
        return cli_fail("%s: policy.yaml is missing: what this device allows; "
                        "put it back",
                        h->directory);
    case HOME_NONE:
        return cli_fail("%s: there is no device; make one with 'hearsay device "
                        "init'",
                        h->directory);
    case HOME_REHEARSAL:
        return cli_fail("%s: a device of a rehearsal, made with --now: say "
                        "--now TIME; the system's clock is not for it",
                        h->directory);
    case HOME_REAL:
        return cli_fail("%s: --now is for devices of a rehearsal, made by "
                        "'hearsay device init --now'; this one has the "
                        "system's clock",
                        h->directory);
    case HOME_FILE:
        return cli_fail("%s: %s", h->path,
                        h->reason != 0 ? strerror(h->reason) : "write failed");
    case HOME_TOO_LONG:
        return cli_fail("%s: longer than %" PRIu64 " MiB", h->path,
                        err->limit >> 20);
    case HOME_PLACE:
        return cli_fail("%s: the new document cannot be put in its place: %s",
                        h->directory, strerror(h->reason));
    default:
        return say_made(j, err);
    }
}

int device_fail_task(const struct device_job *j, const char *task,
                     const hsy_error *err)
{
    if (err->status == HSY_E_UNKNOWN) /* the word may be a truth misplaced */
        return cli_fail("there is no such task; 'hearsay device tasks %s' "
                        "lists them",
                        j->home.directory);
    device_fail_about(j, task, err);
    if (err->status == HSY_E_POLICY)
        cli_note(
            "'hearsay device policy %s' shows what this device allows; one "
            "that may answer more is made anew, by 'device init' with "
            "--source, --day and --lifetime",
            j->home.directory);
    return CLI_FAILED;
}

/* ---- Answers ------------------------------------------------------------- */

void device_say_state(const struct device_job *j, hsy_answer_state state)
{
    const char *task = j->options.operand[1];

    puts(hsy_world_state_name(state));
    if (state == HSY_ANSWER_NO_CONSENT)
        cli_note("note: nothing is answered before 'hearsay device consent %s "
                 "collect' or 'send'",
                 j->home.directory);
    else if (state == HSY_ANSWER_EXHAUSTED)
        cli_note("note: %s: a cap leaves no room for this slot: 'hearsay "
                 "device budget %s'",
                 task, j->home.directory);
    else if (state == HSY_ANSWER_CLOSED)
        cli_note("note: %s: it has not begun, is over or was forgotten, or "
                 "this round (or another stage of its search) has been sent",
                 task);
}
