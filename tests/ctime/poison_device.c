/*
 * poison_device.c - a device that answers truths which valgrind follows.
 *
 * usage, under valgrind: poison_device truth|key|branch. The truth is poisoned,
 * or with it the device's keys, and so its secret coins and all that is
 * written; `branch` is a control that looks at what was written.
 */
#include "lib/device/internal.h"
#include "lib/scheme/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#define DAY0 20500u
#define ROOM 65536u

static uint8_t files[HSY_FILES * ROOM];
static hsy_memory_world memory;

static const struct {
    const char *mechanism;
    hsy_kind kind;
    uint64_t permanent; /* 0: fresh */
    uint32_t changes, answers, sends;
} cases[] = {
    {"rr", HSY_KIND_YES_NO, 0, 1, 4, 2},
    {"grr", HSY_KIND_VALUES, 0, 1, 1, 1},
    {"sue", HSY_KIND_VALUES, 0, 1, 1, 1},
    {"olh", HSY_KIND_STRINGS, 0, 1, 1, 1},
    {"pem", HSY_KIND_STRINGS, 0, 1, 1, 1},
    {"grr", HSY_KIND_VALUES, 2 * (uint64_t)HSY_NANO, 3, 1, 1},
    {"sue", HSY_KIND_VALUES, 2 * (uint64_t)HSY_NANO, 3, 1, 1},
    {"olh", HSY_KIND_VALUES, 2 * (uint64_t)HSY_NANO, 3, 1, 1},
    {"onebit", HSY_KIND_NUMBER, 2 * (uint64_t)HSY_NANO, 3, 1, 1},
    {"dbitflip", HSY_KIND_BINS, 2 * (uint64_t)HSY_NANO, 3, 1, 1},
};

#define CASES (sizeof cases / sizeof cases[0])

static hsy_task tasks[CASES];
static uint8_t wires[CASES][2][HSY_SCHEME_WIRE];
static hsy_release *releases[CASES];

static void poison_wire(uint8_t wire[HSY_SCHEME_WIRE], const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));

    if (s == NULL || hsy_scheme_init(s, spec, NULL) != HSY_OK)
        abort();
    hsy_scheme_encode(s, wire);
    free(s);
}

static void poison_task(size_t i)
{
    hsy_task *t = &tasks[i];
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = cases[i].mechanism,
                     .kind = cases[i].kind,
                     .nano_epsilon = HSY_NANO};

    if (spec.kind == HSY_KIND_VALUES || spec.kind == HSY_KIND_BINS)
        spec.d = 30;
    if (spec.kind == HSY_KIND_NUMBER || spec.kind == HSY_KIND_BINS)
        spec.hi = 1000;
    if (strcmp(cases[i].mechanism, "dbitflip") == 0)
        spec.param[HSY_PARAM_SAMPLED_BITS] = 4;
    if (strcmp(cases[i].mechanism, "pem") == 0) { /* three words; half of the
                                                     strings are foreign */
        spec.param[HSY_PARAM_BITS] = 132;
        if (hsy_alphabet_parse(spec.alphabet, "a-j", 3, NULL) != HSY_OK)
            abort();
    }
    poison_wire(wires[i][0], &spec);
    *t = (hsy_task){.release = 1,
                    .id = {(char)('a' + i)},
                    .source = "source",
                    .question = "?",
                    .question_len = 1,
                    .start = DAY0,
                    .end = DAY0 + 360,
                    .slot_days = 1,
                    .max_changes = cases[i].changes,
                    .answers = cases[i].answers,
                    .sends = cases[i].sends,
                    .sample = {1, 1},
                    .other = HSY_TASK_CLOSED,
                    .scheme = wires[i][0]};
    if (cases[i].permanent != 0) {
        hsy_spec_decode(&spec, wires[i][0], NULL, 0, NULL);
        spec.nano_epsilon = cases[i].permanent;
        poison_wire(wires[i][1], &spec);
        t->permanent = wires[i][1];
        t->slot_days = 10;
        t->round_days = 1;
    }
}

static hsy_device *poison_device(void)
{
    static const hsy_source source = {"source", 10 * (uint64_t)HSY_NANO,
                                      1000 * (uint64_t)HSY_NANO,
                                      1000 * (uint64_t)HSY_NANO};
    static uint8_t bytes[ROOM];
    const hsy_policy policy = {.size = sizeof policy,
                               .sources = &source,
                               .nsources = 1,
                               .cap_day = 1000 * (uint64_t)HSY_NANO,
                               .cap_lifetime = 1000 * (uint64_t)HSY_NANO,
                               .sign_key = {1},
                               .releases = 16};
    const hsy_document head = {
        .version = 1, .issued = DAY0, .expires = DAY0 + 999};
    hsy_device *dev = malloc(hsy_device_size(&policy));
    hsy_document doc;
    size_t len;

    hsy_memory_world_init(&memory, files, sizeof files,
                          (uint64_t)DAY0 * DEVICE_DAY, 5);
    for (size_t i = 0; i < CASES; i++)
        poison_task(i);
    if (dev == NULL ||
        hsy_document_encode(&head, bytes, sizeof bytes, &len, tasks, CASES,
                            NULL) != HSY_OK ||
        hsy_device_create(dev, &policy, &memory.world, NULL) != HSY_OK ||
        hsy_device_accept_document(dev, &doc, bytes, len + HSY_SIGNATURE,
                                   NULL) != HSY_OK ||
        hsy_device_consent_set(dev, HSY_CONSENT_SEND, NULL) != HSY_OK)
        abort();
    for (uint32_t i = 0; i < CASES; i++) {
        releases[i] = malloc(hsy_release_size(&tasks[i]));
        if (releases[i] == NULL ||
            hsy_device_admit(dev, releases[i], &doc, i, NULL) != HSY_OK)
            abort();
    }
    return dev;
}

/* A truth inside the domain or outside, poisoned in all but its type. */
static hsy_truth poison_truth(const hsy_release *r, uint32_t value,
                              char text[64])
{
    hsy_truth t = {.type = HSY_TRUTH_INDEX};

    t.u.index = value;
    if (r->scheme->kind == HSY_KIND_STRINGS) {
        memset(text, 'a' + (int)value % 20, 64);
        t.type = HSY_TRUTH_BYTES;
        t.u.bytes.data = text;
        t.u.bytes.len = value % 64;
        t.u.bytes.room = 64;
        (void)VALGRIND_MAKE_MEM_UNDEFINED(text, 64);
        (void)VALGRIND_MAKE_MEM_UNDEFINED(&t.u.bytes.len, sizeof t.u.bytes.len);
    } else if (r->scheme->hi != 0) {
        t.type = HSY_TRUTH_NUMBER;
        t.u.number = (int64_t)value * 50 - 100;
        (void)VALGRIND_MAKE_MEM_UNDEFINED(&t.u.number, sizeof t.u.number);
    } else {
        (void)VALGRIND_MAKE_MEM_UNDEFINED(&t.u.index, sizeof t.u.index);
    }
    return t;
}

/* The device's own coins; the published ones are anybody's to know. */
static hsy_status poison_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                               const hsy_context *context)
{
    const hsy_device *dev = ctx;

    hsy_keyed_open(room, dev->keys.coins, context);
    (void)VALGRIND_MAKE_MEM_DEFINED(&room->published, sizeof room->published);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

static int poison_answers(hsy_device *dev)
{
    unsigned answered = 0;

    for (uint32_t k = 0; k < 4 * CASES; k++) {
        const hsy_release *r = releases[k % CASES];
        char text[64];
        hsy_truth t = poison_truth(r, 7 * k, text);
        hsy_answer_state state = 0;

        memory.seconds = (uint64_t)(DAY0 + k / CASES) * DEVICE_DAY;
        if (hsy_device_answer(dev, &state, r, &t, NULL) != HSY_OK)
            return 1;
        answered += state == HSY_ANSWERED;
    }
    printf("%u answers\n", answered);
    return answered == 4 * CASES ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";
    hsy_device *dev = poison_device();
    int status;

    hsy_device_coins(dev, poison_coins, dev);
    if (strcmp(mode, "key") == 0)
        (void)VALGRIND_MAKE_MEM_UNDEFINED(&dev->keys, sizeof dev->keys);
    status = poison_answers(dev);
    if (strcmp(mode, "branch") == 0)
        status = files[ROOM + memory.file[HSY_FILE_A].len - 1] == 17;
    for (size_t i = 0; i < CASES; i++)
        free(releases[i]);
    free(dev);
    return status;
}
