/* example_tasks.c - see example_tasks.h. */

#include "rig/example_tasks.h"

const uint8_t example_browsers[] = "\7\0\0\0firefox"
                                   "\6\0\0\0chrome"
                                   "\5\0\0\0other";

/* False if the spec does not resolve. */
static bool example_wire(uint8_t wire[HSY_SCHEME_WIRE], const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    bool good = s != NULL && hsy_scheme_init(s, spec, NULL) == HSY_OK;

    if (good)
        hsy_scheme_encode(s, wire);
    free(s);
    return good;
}

bool example_task(struct example_tasks *e, size_t i, const char *id,
                  const char *source, const char *question, hsy_spec spec,
                  uint64_t nano_permanent)
{
    hsy_task *t = &e->task[i];
    bool good = example_wire(e->scheme[i], &spec);

    *t = (hsy_task){.release = 1,
                    .question = question,
                    .question_len = strlen(question),
                    .start = EXAMPLE_DAY,
                    .end = EXAMPLE_DAY + 364,
                    .max_changes = 1,
                    .answers = 1,
                    .sends = 1,
                    .sample = {1, 1},
                    .grace_days = 2,
                    .min_reports = 1000,
                    .other = HSY_TASK_CLOSED,
                    .scheme = e->scheme[i],
                    .labels = spec.labels,
                    .labels_len = spec.labels_len};
    memcpy(t->id, id, strlen(id));
    memcpy(t->source, source, strlen(source));
    if (nano_permanent != 0) {
        if (spec.design == HSY_DESIGN_EPSILON)
            spec.nano_epsilon = nano_permanent;
        good &= example_wire(e->permanent[i], &spec);
        t->permanent = e->permanent[i];
        t->round_days = 1;
    }
    return good;
}

bool example_tasks_make(struct example_tasks *e)
{
    const hsy_spec yes_no = {.size = sizeof yes_no,
                             .mechanism = "rr",
                             .kind = HSY_KIND_YES_NO,
                             .nano_epsilon = 1098612288};
    const hsy_spec values = {.size = sizeof values,
                             .mechanism = "grr",
                             .kind = HSY_KIND_VALUES,
                             .d = 3,
                             .labels = example_browsers,
                             .labels_len = sizeof example_browsers - 1,
                             .nano_epsilon = HSY_NANO / 2};
    const hsy_spec number = {.size = sizeof number,
                             .mechanism = "onebit",
                             .kind = HSY_KIND_NUMBER,
                             .hi = 1440,
                             .nano_epsilon = HSY_NANO};
    const hsy_spec strings = {.size = sizeof strings,
                              .mechanism = "rappor",
                              .kind = HSY_KIND_STRINGS,
                              .design = HSY_DESIGN_RAPPOR,
                              .chance = {{1, 2}, {1, 2}, {3, 4}},
                              .param = {[HSY_PARAM_FILTER_BITS] = 32,
                                        [HSY_PARAM_HASHES] = 2,
                                        [HSY_PARAM_COHORTS] = 64}};
    bool good = true;

    *e = (struct example_tasks){.task = {{.release = 0}}};
    good &=
        example_task(e, 0, "crash", "crashes",
                     "Has the program crashed for you this year?", yes_no, 0);
    good &= example_task(e, 1, "browser.daily", "browser",
                         "Which browser did you use today?", values, 0);
    good &= example_task(e, 2, "dark-mode", "settings",
                         "Do you use the dark colours?", yes_no,
                         2 * (uint64_t)HSY_NANO);
    good &= example_task(e, 3, "minutes", "usage",
                         "How many minutes a day do you use the program?",
                         number, 3 * (uint64_t)HSY_NANO);
    good &= example_task(e, 4, "homepage", "settings",
                         "What is your home page? (gr\xc3\xbc\xc3\x9f dich)",
                         strings, 1);
    e->task[1].slot_days = 1;
    e->task[1].answers = 5;
    e->task[1].sends = 2;
    e->task[1].sample = (hsy_ratio){1, 4};
    e->task[1].delay_seconds = 21600;
    e->task[1].other = 2;
    e->task[2].max_changes = 2;
    e->task[2].slot_days = 28;
    e->task[2].round_days = 7;
    e->task[3].grain = 1440;
    return good;
}

uint8_t *example_document(const hsy_task *tasks, size_t n, uint64_t version,
                          size_t *len)
{
    const hsy_document doc = {.version = version,
                              .issued = EXAMPLE_DAY,
                              .expires = EXAMPLE_DAY + 400};
    uint8_t *bytes;

    if (hsy_document_encode(&doc, NULL, 0, len, tasks, n, NULL) != HSY_OK)
        return NULL;
    bytes = calloc(1, *len + HSY_SIGNATURE);
    if (bytes != NULL)
        hsy_document_encode(&doc, bytes, *len, len, tasks, n, NULL);
    *len += HSY_SIGNATURE;
    return bytes;
}
