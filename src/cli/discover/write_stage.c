/* write_stage.c - a stage of a search as a task file. */
#define _DEFAULT_SOURCE
#include "cli/discover/batches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A text in double quotes: what YAML and JSON agree on. */
static void write_text(FILE *f, const char *text, size_t len)
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

static void write_key(FILE *f, const char *key, const char *text)
{
    fprintf(f, "    %s: ", key);
    write_text(f, text, strlen(text));
    putc('\n', f);
}

/* Nano-epsilon as a decimal, which is exact. */
static void write_epsilon(FILE *f, uint64_t nano)
{
    char text[32];
    size_t len = (size_t)snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64,
                                  nano / HSY_NANO, nano % HSY_NANO);

    while (text[len - 1] == '0')
        len--;
    len -= text[len - 1] == '.';
    fprintf(f, "    epsilon: %.*s\n", (int)len, text);
}

static void write_asked(FILE *f, const hsy_spec *spec)
{
    static const char *const sizes[] = {"equal", "equal", "rising",
                                        "diminishing"};
    static const uint8_t none[HSY_ALPHABET];
    char alphabet[HSY_ALPHABET_TEXT];

    fputs("    strings: true\n    mechanism: stage\n", f);
    if (spec->oracle != NULL)
        write_key(f, "oracle", spec->oracle);
    if (memcmp(spec->alphabet, none, sizeof none) != 0) {
        hsy_alphabet_text(alphabet, spec->alphabet);
        write_key(f, "alphabet", alphabet);
    }
    write_epsilon(f, spec->nano_epsilon);
    fprintf(f,
            "    set: {bits: %" PRIu64 ", step: %" PRIu64 ", w: %" PRIu64
            ", width: %" PRIu64 "}\n    sizes: %s\n",
            spec->param[HSY_PARAM_BITS], spec->param[HSY_PARAM_STEP],
            spec->param[HSY_PARAM_W], spec->param[HSY_PARAM_WIDTH],
            sizes[spec->param[HSY_PARAM_MIX]]);
}

/* The labels, which are digits, eight in a line. */
static void write_prefixes(FILE *f, const hsy_spec *spec)
{
    const uint8_t *at = spec->labels;

    if (spec->d != 0)
        fputs("    prefixes:", f);
    for (uint32_t i = 0; i < spec->d; i++) {
        const size_t len = (size_t)at[0] | (size_t)at[1] << 8;

        fputs(i == 0 ? " [" : i % 8 == 0 ? ",\n      " : ", ", f);
        write_text(f, (const char *)at + 4, len);
        at += 4 + len;
    }
    if (spec->d != 0)
        fputs("]\n", f);
}

static void write_pace(FILE *f, const hsy_task *task)
{
    char start[16], end[16];

    day_text(start, task->start);
    day_text(end, task->end - 1);
    fprintf(f, "    start: %s\n    end: %s\n", start, end);
    if (task->sample.num != task->sample.den)
        fprintf(f, "    sample: %" PRIu64 "/%" PRIu64 "\n", task->sample.num,
                task->sample.den);
    fprintf(f,
            "    delay: %" PRIu32 "s\n    grace: %" PRIu32
            "d\n    min_reports: %" PRIu32 "\n",
            task->delay_seconds, task->grace_days, task->min_reports);
}

static void write_stage(FILE *f, uint64_t version, const hsy_task *task,
                        const hsy_spec *spec)
{
    const uint64_t step = spec->param[HSY_PARAM_STEP];
    const uint64_t stage = spec->param[HSY_PARAM_W] / step;
    const uint64_t stages = spec->param[HSY_PARAM_BITS] / step;

    fprintf(f,
            "# Stage %" PRIu64 " of %" PRIu64 " of a search in batches. %s\n",
            stage, stages,
            stage < stages ? "After it 'hearsay discover --next'\n# writes the "
                             "next one: the same task with its number as "
                             "release."
                           : "Of its tally 'hearsay discover'\n# prints the "
                             "strings that were found.");
    fprintf(f, "version: %" PRIu64 "\ntasks:\n", version);
    fprintf(f, "  - id: %s\n    release: %" PRIu32 "\n    source: %s\n",
            task->id, task->release, task->source);
    fputs("    question: ", f);
    write_text(f, task->question, task->question_len);
    putc('\n', f);
    write_asked(f, spec);
    write_prefixes(f, spec);
    write_pace(f, task);
}

int batches_write(const char *path, uint64_t version, const hsy_task *task,
                  const hsy_spec *spec)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    bool whole;
    int failed;

    if (f == NULL)
        return cli_fail_nomem();
    write_stage(f, version, task, spec);
    whole = ferror(f) == 0;
    whole &= fclose(f) == 0;
    whole &= text != NULL; /* cutting it to its length may fail silently */
    failed = whole ? cli_write_file(path, text, len) : cli_fail_nomem();
    free(text);
    return failed;
}
