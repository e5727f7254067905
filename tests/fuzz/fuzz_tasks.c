/*
 * fuzz_tasks.c - task files: problems with a line that there is, or tasks that
 * make a document which opens again as the same tasks.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "host/tasks/internal.h"

#define TASKS_TODAY 20773u /* 2026-11-16 */

static void tasks_complain(const hsy_tasks *t, size_t lines)
{
    const hsy_problem *p;
    size_t n = hsy_tasks_problems(t, &p), wrong = 0;

    for (size_t i = 0; i < n; i++) {
        fuzz_expect(p[i].line <= lines, "a problem's line is in the file");
        fuzz_expect(p[i].text[0] != '\0', "a problem says what is wrong");
        for (const char *c = p[i].text; *c != '\0'; c++)
            fuzz_expect((unsigned char)*c >= 0x20 && *c != 0x7f,
                        "a message is one line of text");
        wrong += !p[i].warning;
    }
    fuzz_expect((wrong != 0) == t->notes.wrong, "what is refused is explained");
}

static void tasks_compile(const hsy_tasks *t)
{
    static const uint8_t secret[HSY_SIGN_SECRET]; /* no secret of any key */
    uint8_t *bytes = NULL;
    hsy_document doc;
    size_t len = 0;

    fuzz_expect(hsy_document_encode(&t->head, NULL, 0, &len, t->tasks,
                                    t->ntasks, NULL) == HSY_OK,
                "sound tasks make a document");
    bytes = calloc(1, len + HSY_SIGNATURE);
    fuzz_expect(bytes != NULL, "there is memory");
    hsy_document_encode(&t->head, bytes, len, &len, t->tasks, t->ntasks, NULL);
    fuzz_expect(hsy_document_open(&doc, bytes, len + HSY_SIGNATURE, NULL) ==
                        HSY_OK &&
                    doc.tasks == t->ntasks,
                "which opens");
    free(bytes);
    fuzz_expect(hsy_tasks_compile(t, &bytes, &len, secret, NULL, NULL) ==
                    HSY_E_RANGE,
                "a secret that is none signs nothing");
}

/* A small file: the time it takes is libyaml's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    hsy_tasks *t = calloc(1, sizeof *t);
    size_t lines = 1;

    fuzz_expect(t != NULL, "there is memory");
    for (size_t i = 0; i < len; i++)
        lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
    t->today = TASKS_TODAY;
    tasks_read_bytes(t, data, len);
    fuzz_expect(!t->notes.nomem, "there is memory");
    tasks_complain(t, lines);
    if (!t->notes.wrong)
        tasks_compile(t);
    hsy_tasks_free(t);
    return 0;
}
