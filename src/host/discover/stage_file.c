/* stage_file.c - a stage of a search as a task file. */
#include "host/discover/discover.h"

#include "host/base/day.h"
#include "host/base/written.h"
#include "host/tasks/task_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A text in double quotes: what YAML and JSON agree on. */
static void file_text(FILE *f, const char *text, size_t len)
{
    putc('"', f);
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(f, "\\x%02x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void file_key(FILE *f, const char *key, const char *text)
{
    fprintf(f, "    %s: ", key);
    file_text(f, text, strlen(text));
    putc('\n', f);
}

static void file_epsilon(FILE *f, uint64_t nano)
{
    char text[WRITTEN_NUMBER];

    written_nano(text, nano);
    fprintf(f, "    epsilon: %s\n", text);
}

static void file_asked(FILE *f, const hsy_spec *spec)
{
    static const char *const sizes[] = {"equal", "equal", "rising",
                                        "diminishing"};
    static const uint8_t none[HSY_ALPHABET];
    char alphabet[HSY_ALPHABET_TEXT];

    fputs("    strings: true\n    mechanism: stage\n", f);
    if (spec->oracle != NULL)
        file_key(f, "oracle", spec->oracle);
    if (memcmp(spec->alphabet, none, sizeof none) != 0) {
        hsy_alphabet_text(alphabet, spec->alphabet);
        file_key(f, "alphabet", alphabet);
    }
    file_epsilon(f, spec->nano_epsilon);
    fprintf(f,
            "    set: {bits: %" PRIu64 ", step: %" PRIu64
            ", prefix-bits: %" PRIu64 ", max-candidates: %" PRIu64
            "}\n    sizes: %s\n",
            spec->param[HSY_PARAM_BITS], spec->param[HSY_PARAM_STEP],
            spec->param[HSY_PARAM_PREFIX_BITS],
            spec->param[HSY_PARAM_MAX_CANDIDATES],
            sizes[spec->param[HSY_PARAM_SIZES]]);
}

/* The labels, which are digits, eight in a line. */
static void file_prefixes(FILE *f, const hsy_spec *spec)
{
    const uint8_t *at = spec->labels;

    if (spec->d != 0)
        fputs("    prefixes:", f);
    for (uint32_t i = 0; i < spec->d; i++) {
        const size_t len = (size_t)at[0] | (size_t)at[1] << 8;

        fputs(i == 0 ? " [" : i % 8 == 0 ? ",\n      " : ", ", f);
        file_text(f, (const char *)at + 4, len);
        at += 4 + len;
    }
    if (spec->d != 0)
        fputs("]\n", f);
}

static void file_pace(FILE *f, const hsy_task *task)
{
    char start[DAY_TEXT], end[DAY_TEXT], text[TASK_FIELD_TEXT];

    day_text(start, task->start);
    day_text(end, task->end - 1);
    fprintf(f, "    start: %s\n    end: %s\n", start, end);
    for (const struct task_field *x = task_fields; x->key != NULL; x++)
        if ((x->flags & (TASK_OWN | TASK_PERMANENT | TASK_SHUFFLED)) == 0) {
            task_field_text(x, text, task);
            fprintf(f, "    %s: %s\n", x->key, text);
        }
}

static void file_stage(FILE *f, uint64_t version, const hsy_task *task,
                       const hsy_spec *spec)
{
    const uint64_t step = spec->param[HSY_PARAM_STEP];
    const uint64_t stage = spec->param[HSY_PARAM_PREFIX_BITS] / step;
    const uint64_t stages = spec->param[HSY_PARAM_BITS] / step;

    fprintf(
        f, "# Stage %" PRIu64 " of %" PRIu64 " of a search in batches. %s\n",
        stage, stages,
        stage < stages ? "After it 'hearsay discover next'\n# writes the "
                         "next one: the same task with its number as "
                         "release."
                       : "Of its tally 'hearsay discover show'\n# prints the "
                         "strings that were found.");
    fprintf(f, "version: %" PRIu64 "\ntasks:\n", version);
    fprintf(f, "  - id: %s\n    release: %" PRIu32 "\n    source: %s\n",
            task->id, task->release, task->source);
    fputs("    question: ", f);
    file_text(f, task->question, task->question_len);
    putc('\n', f);
    file_asked(f, spec);
    file_prefixes(f, spec);
    file_pace(f, task);
}

hsy_status discover_stage_text(struct discover_file *out, const hsy_task *task,
                               const hsy_spec *spec, uint64_t version,
                               hsy_error *err)
{
    struct written w;
    hsy_status st;

    *out = (struct discover_file){.wrong = DISCOVER_FINE};
    if (written_open(&w))
        file_stage(w.to, version, task, spec);
    st = written_close(&w, &out->text, &out->len, err);
    if (st != HSY_OK)
        out->wrong = DISCOVER_MEMORY;
    return st;
}
