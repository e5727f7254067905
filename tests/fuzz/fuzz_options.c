/*
 * fuzz_options.c - a question in options: lists in CSV, ranges, designs,
 * parameters. Arguments are separated by NUL.
 */
#define _GNU_SOURCE

#include "fuzz_cli.h"

#define OPTIONS_MAX 32u

/* The labels as a record of CSV, every field quoted; the caller frees it. */
static char *options_csv(const struct labels *l)
{
    char *csv = malloc(2 * l->len + 3 * (size_t)l->d + 1), *to = csv;

    fuzz_expect(csv != NULL, "there is memory");
    for (uint32_t i = 0; i < l->d; i++) {
        size_t len;
        const char *label = labels_at(l, i, &len);

        if (i > 0)
            *to++ = ',';
        *to++ = '"';
        for (size_t k = 0; k < len; k++) {
            if (label[k] == '"')
                *to++ = '"';
            *to++ = label[k];
        }
        *to++ = '"';
    }
    *to = '\0';
    return csv;
}

static void options_list_again(const struct cli_spec *spec)
{
    char *csv = options_csv(&spec->labels);
    char *argv[] = {"fuzz", "--epsilon", "1", "--values", csv, NULL};
    struct cli_spec again = {0};
    bool asked = false;

    fuzz_expect(fuzz_ask(&again, 5, argv, &asked) == CLI_DONE && asked &&
                    again.labels.len == spec->labels.len &&
                    memcmp(again.labels.block, spec->labels.block,
                           spec->labels.len) == 0,
                "a list that is quoted throughout is the same list");
    cli_spec_clear(&again);
    free(csv);
}

static int options_resolve(const struct cli_spec *spec)
{
    hsy_scheme *s = NULL;
    hsy_scheme_info info;
    int failed = cli_scheme_new(&s, &spec->spec);

    if (failed)
        return failed;
    hsy_scheme_describe(s, &info);
    fuzz_expect(info.epsilon_exact <= info.epsilon,
                "no scheme spends more than it claims");
    fuzz_expect(!spec->has_epsilon ||
                    info.nano_epsilon <= spec->spec.nano_epsilon,
                "nor more than was asked for");
    free(s);
    return CLI_DONE;
}

static int options_try(int argc, char **argv)
{
    struct cli_spec spec = {0};
    bool asked;
    int failed = fuzz_ask(&spec, argc, argv, &asked);

    if (asked && spec.values != NULL && !spec.other)
        options_list_again(&spec);
    if (asked && !cli_spec_trivial(&spec))
        failed = options_resolve(&spec);
    cli_spec_clear(&spec);
    return failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1), *argv[OPTIONS_MAX + 2];
    struct fuzz_said said;
    int argc = 1;

    fuzz_expect(text != NULL, "there is memory");
    memcpy(text, data, len);
    text[len] = '\0';
    argv[0] = "fuzz";
    for (size_t at = 0; at < len && argc <= (int)OPTIONS_MAX;
         at += strlen(text + at) + 1) {
        argv[argc++] = text + at;
        /* Help is no message. */
        if (strncmp(text + at, "--help", 6) == 0 ||
            strcmp(text + at, "-h") == 0)
            argc = 1;
    }
    argv[argc] = NULL;
    fuzz_listen(&said);
    fuzz_understand(&said, options_try(argc, argv));
    free(text);
    return 0;
}
