/* device_say.c - what a device says: why not, and what to do about it. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include "host/client/world.h"

#include <inttypes.h>
#include <string.h>

/* ---- Errors -------------------------------------------------------------- */

/* What the limit of an error is where it is no plain number, by field. */
enum say_limit { SAY_NOTHING, SAY_NUMBER, SAY_DAY, SAY_LAST_DAY, SAY_EPSILON };

struct say_field {
    const char *field;
    enum say_limit limit;
    const char *before;
};

static struct say_field say_field(const hsy_error *err)
{
    static const struct say_field fields[] = {
        {"version", SAY_NUMBER, "version "},
        {"expires", SAY_LAST_DAY, "its last day was "},
        {"end", SAY_LAST_DAY, "its last day was "},
        {"issued", SAY_DAY, "the clock says "},
        {"epsilon", SAY_EPSILON, "epsilon "},
        {"cap_day", SAY_EPSILON, "epsilon "},
        {"cap_lifetime", SAY_EPSILON, "epsilon "},
        {"anchor", SAY_NOTHING, ""}, /* a number of writes helps nobody */
        {"state", SAY_NOTHING, ""},
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (err->field != HSY_FIELD_NONE &&
            strcmp(hsy_field_name(err->field), fields[i].field) == 0)
            return fields[i];
    }
    return (struct say_field){err->field, SAY_NUMBER, "the limit is "};
}

/* The field is left out where the message names it in plain words. */
void device_say_why(char *text, size_t room, const hsy_error *err)
{
    const char *msg = err->msg != NULL ? err->msg : hsy_strstatus(err->status);
    const struct say_field f = say_field(err);
    bool named = f.field == NULL || f.limit == SAY_EPSILON;
    char limit[POLICY_CAP_TEXT] = "";

    if (f.limit == SAY_NUMBER)
        snprintf(limit, sizeof limit, "%" PRIu64, err->limit);
    else if (f.limit == SAY_EPSILON)
        policy_cap_text(limit, err->limit);
    else if (f.limit != SAY_NOTHING)
        day_text(limit, (uint32_t)err->limit - (f.limit == SAY_LAST_DAY));
    snprintf(text, room, "%s%s%s", named ? "" : f.field, named ? "" : ": ",
             msg);
    if (err->limit != 0 && limit[0] != '\0')
        snprintf(text + strlen(text), room - strlen(text), " (%s%s)", f.before,
                 limit);
}

/* What becomes of a device whose state cannot be trusted. */
static const char say_damaged[] =
    "nothing is answered until a person has looked: put the newest files "
    "back, or remove the directory, and with it what was spent";

int device_fail_about(const struct device_job *j, const char *about,
                      const hsy_error *err)
{
    const char *field = err->field != HSY_FIELD_NONE ? err->field : "";
    char text[512];

    device_say_why(text, sizeof text, err);
    if (strcmp(field, "anchor") == 0 && j->policy.anchor != NULL)
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
