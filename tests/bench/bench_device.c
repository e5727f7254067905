/* bench_device.c - what an answer, and an upload until it is acknowledged, cost
 * a device besides its durable writes. */
#include "bench/bench.h"

#include <stdlib.h>

#define BENCH_DEVICE_START 20000u /* a day */
#define BENCH_DEVICE_DAYS 36500u
#define BENCH_DEVICE_DAY ((uint64_t)86400)

/* A device whose files are memory; every task is asked once a day. */
struct bench_device {
    hsy_scheme *s;
    size_t tasks;
    uint8_t wire[HSY_SCHEME_WIRE];
    uint8_t *document;
    size_t document_len;
    hsy_device *dev;
    hsy_release **releases;
    hsy_source source;
    hsy_policy policy;
    hsy_memory_world memory;
    uint8_t *files;
    uint8_t upload[1024];
    size_t len;
    bool failed;
};

/* Task i: the same question with a plan of its own, so that each is a release
 * with a record of its own. */
static hsy_task bench_device_task(const struct bench_device *x, size_t i)
{
    hsy_task t = {.release = 1,
                  .source = "bench",
                  .question = "?",
                  .question_len = 1,
                  .start = BENCH_DEVICE_START - (uint32_t)i,
                  .end = BENCH_DEVICE_START + BENCH_DEVICE_DAYS,
                  .slot_days = 1,
                  .max_changes = 1,
                  .answers = 1,
                  .sends = 1,
                  .sample = {1, 1},
                  .grace_days = 1,
                  .other = HSY_TASK_CLOSED,
                  .scheme = x->wire};

    t.id[0] = (char)('a' + i / 26);
    t.id[1] = (char)('a' + i % 26);
    return t;
}

static bool bench_device_document(struct bench_device *x, hsy_error *err)
{
    const hsy_document doc = {.version = 1,
                              .issued = BENCH_DEVICE_START,
                              .expires = BENCH_DEVICE_START + 1};
    hsy_task *tasks = calloc(x->tasks, sizeof *tasks);
    size_t len = 0;
    bool made = false;

    for (size_t i = 0; tasks != NULL && i < x->tasks; i++)
        tasks[i] = bench_device_task(x, i);
    if (tasks != NULL && hsy_document_encode(&doc, NULL, 0, &len, tasks,
                                             x->tasks, err) == HSY_OK) {
        x->document_len = len + HSY_SIGNATURE;
        x->document = calloc(1, x->document_len);
        made = x->document != NULL &&
               hsy_document_encode(&doc, x->document, len, &len, tasks,
                                   x->tasks, err) == HSY_OK;
    }
    free(tasks);
    return made;
}

static bool bench_device_admit(struct bench_device *x, hsy_error *err)
{
    hsy_document doc;

    x->releases = calloc(x->tasks, sizeof *x->releases);
    if (x->releases == NULL ||
        hsy_device_accept_document(x->dev, &doc, x->document, x->document_len,
                                   err) != HSY_OK)
        return false;
    for (uint32_t i = 0; i < x->tasks; i++) {
        hsy_task task;

        hsy_document_task(&doc, &task, i);
        x->releases[i] = malloc(hsy_release_size(&task));
        if (x->releases[i] == NULL ||
            hsy_device_admit(x->dev, x->releases[i], &doc, i, err) != HSY_OK)
            return false;
    }
    return true;
}

static bool bench_device_open(struct bench_device *x,
                              const struct bench_case *c, hsy_error *err)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = c->mechanism,
                           .nano_epsilon = HSY_NANO,
                           .kind = HSY_KIND_VALUES,
                           .d = c->d};
    hsy_scheme_info info;
    size_t size;

    x->tasks = c->reports;
    if (!bench_scheme_new(&x->s, &spec))
        return false;
    hsy_scheme_encode(x->s, x->wire);
    hsy_scheme_describe(x->s, &info);
    x->source = (hsy_source){"bench", HSY_NANO, UINT64_MAX, UINT64_MAX};
    x->policy = (hsy_policy){.size = sizeof x->policy,
                             .sources = &x->source,
                             .nsources = 1,
                             .cap_day = UINT64_MAX,
                             .cap_lifetime = UINT64_MAX,
                             .sign_key = {1},
                             .releases = (uint32_t)x->tasks,
                             .release_bytes = 2 * info.report_bytes};
    size = hsy_device_size(&x->policy);
    x->dev = malloc(size);
    x->files = malloc(HSY_FILES * size);
    if (x->dev == NULL || x->files == NULL)
        return false;
    hsy_memory_world_init(&x->memory, x->files, HSY_FILES * size,
                          BENCH_DEVICE_START * BENCH_DEVICE_DAY, 7);
    return bench_device_document(x, err) &&
           hsy_device_create(x->dev, &x->policy, &x->memory.world, err) ==
               HSY_OK &&
           hsy_device_consent_set(x->dev, HSY_CONSENT_SEND, err) == HSY_OK &&
           bench_device_admit(x, err);
}

/* A day: every task is asked once. */
static void bench_device_ask(void *ctx)
{
    struct bench_device *x = ctx;

    x->memory.seconds += BENCH_DEVICE_DAY;
    for (size_t i = 0; i < x->tasks && !x->failed; i++) {
        const hsy_truth truth = {HSY_TRUTH_INDEX, {.index = (uint32_t)i % 7}};
        hsy_answer_state state = HSY_ANSWER_CLOSED;

        x->failed = hsy_device_answer(x->dev, &state, x->releases[i], &truth,
                                      NULL) != HSY_OK ||
                    state != HSY_ANSWERED;
    }
}

/* A day: every task sends once. */
static void bench_device_send(void *ctx)
{
    struct bench_device *x = ctx;
    const hsy_release *const *all = (const hsy_release *const *)x->releases;

    x->memory.seconds += BENCH_DEVICE_DAY;
    for (size_t i = 0; i < x->tasks && !x->failed; i++)
        x->failed = hsy_device_next(x->dev, x->upload, sizeof x->upload,
                                    &x->len, all, x->tasks, NULL) != HSY_OK ||
                    hsy_device_sent(x->dev, all, x->tasks, x->upload, x->len,
                                    NULL) != HSY_OK;
}

static void bench_device_free(struct bench_device *x)
{
    for (size_t i = 0; x->releases != NULL && i < x->tasks; i++)
        free(x->releases[i]);
    free(x->releases);
    free(x->files);
    free(x->dev);
    free(x->document);
    free(x->s);
}

static double bench_device_of(struct bench *b, const struct bench_case *c,
                              bool next)
{
    struct bench_device x = {0};
    hsy_error err = {.msg = "out of memory"};
    double rate = 0;

    if (!bench_device_open(&x, c, &err)) {
        bench_fail("%s: %s", c->name, err.msg);
    } else {
        rate = bench_best(b, (double)x.tasks,
                          next ? bench_device_send : bench_device_ask, &x);
    }
    if (x.failed) {
        bench_fail("%s: the device did not answer or send", c->name);
        rate = 0;
    }
    bench_device_free(&x);
    return rate;
}

double bench_device(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    (void)level;
    return bench_device_of(b, c, false);
}

double bench_device_next(struct bench *b, const struct bench_case *c,
                         hsy_cpu level)
{
    (void)level;
    return bench_device_of(b, c, true);
}

#undef BENCH_DEVICE_START
#undef BENCH_DEVICE_DAYS
#undef BENCH_DEVICE_DAY
