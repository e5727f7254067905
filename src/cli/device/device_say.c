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
    if (err->field == HSY_FIELD_ANCHOR && j->policy.anchor != NULL)
        cli_fail("%s: %s: %s", about, text, j->policy.anchor);
    else
        cli_fail("%s: %s", about, text);
    if (err->status == HSY_E_DAMAGED)
        cli_note("%s: %s", j->directory, say_damaged);
    return CLI_FAILED;
}

int device_fail(const struct device_job *j, const hsy_error *err)
{
    return device_fail_about(j, j->directory, err);
}

int device_fail_task(const struct device_job *j, const char *task,
                     const hsy_error *err)
{
    if (err->status == HSY_E_UNKNOWN) /* the word may be a truth misplaced */
        return cli_fail("there is no such task; 'hearsay device tasks %s' "
                        "lists them",
                        j->directory);
    device_fail_about(j, task, err);
    if (err->status == HSY_E_POLICY)
        cli_note(
            "'hearsay device policy %s' shows what this device allows; one "
            "that may answer more is made anew, by 'device init' with "
            "--source, --day and --lifetime",
            j->directory);
    return CLI_FAILED;
}

/* ---- Answers ------------------------------------------------------------- */

void device_say_state(const struct device_job *j, hsy_answer_state state)
{
    const char *task = j->how->operand[1];

    puts(hsy_world_state_name(state));
    if (state == HSY_ANSWER_NO_CONSENT)
        cli_note("note: nothing is answered before 'hearsay device consent %s "
                 "collect' or 'send'",
                 j->directory);
    else if (state == HSY_ANSWER_EXHAUSTED)
        cli_note("note: %s: a cap leaves no room for this slot: 'hearsay "
                 "device budget %s'",
                 task, j->directory);
    else if (state == HSY_ANSWER_CLOSED)
        cli_note("note: %s: it has not begun, is over or was forgotten, or "
                 "this round (or another stage of its search) has been sent",
                 task);
}
