/* test_randomizer.c - truths, one a line, to reports or to a noisy tally. */
#define _DEFAULT_SOURCE
#include "host/format/randomizer.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const hsy_spec yes_no = {.size = sizeof(hsy_spec),
                                .kind = HSY_KIND_YES_NO,
                                .d = 2,
                                .mechanism = "rr",
                                .nano_epsilon = HSY_NANO};
static const hsy_spec counted = {.size = sizeof(hsy_spec),
                                 .kind = HSY_KIND_YES_NO,
                                 .d = 2,
                                 .mechanism = "central",
                                 .nano_epsilon = HSY_NANO};
static const uint64_t seed = 7;

static hsy_scheme *scheme(const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));

    if (s == NULL || hsy_scheme_init(s, spec, NULL) != HSY_OK)
        exit(1);
    return s;
}

/* A descriptor from which this text is read. */
static int input(const char *text)
{
    FILE *f = tmpfile();
    int fd;

    if (f == NULL || fputs(text, f) == EOF || fflush(f) != 0)
        exit(1);
    fd = dup(fileno(f));
    fclose(f);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static struct randomizer how(const hsy_spec *spec, const hsy_scheme *s)
{
    return (struct randomizer){
        .scheme = s, .coder = {.scheme = s, .spec = spec}, .seed = &seed};
}

/* The stream of a text, in memory; *len is 0 after a failure. */
static uint8_t *stream(struct randomized *done, const char *text, bool json,
                       size_t *len, hsy_error *err)
{
    hsy_scheme *s = scheme(&yes_no);
    struct randomizer r = how(&yes_no, s);
    struct output *out = NULL;
    uint8_t *bytes = NULL;
    int fd = input(text);

    *len = 0;
    r.json = json;
    if (output_memory(&out) != HSY_OK)
        exit(1);
    if (randomize_stream(done, &r, out, fd, err) == HSY_OK)
        output_take(out, &bytes, len);
    else
        output_abort(out);
    close(fd);
    free(s);
    return bytes;
}

static void truths_become_reports(void)
{
    struct randomized done, again;
    hsy_error err = {0};
    size_t len, more;
    uint8_t *a = stream(&done, "yes\nno\nyes\n", false, &len, &err);
    uint8_t *b = stream(&again, "yes\nno\nyes", false, &more, &err);

    ok(eq_u64(done.written, 3) && len != 0, "three truths are three reports");
    ok(eq_u64(more, len) && a != NULL && b != NULL && eq_bytes(a, b, len),
       "a seed gives the same stream again");
    free(a);
    free(b);
    a = stream(&done, "yes\n", true, &len, &err);
    ok(len > 0 && a != NULL && eq_int(a[0], '{'), "or its readable twin");
    free(a);
    a = stream(&done, "", false, &len, &err);
    ok(len != 0 && eq_u64(done.written, 0), "nobody makes an empty stream");
    free(a);
}

static void a_bad_line_is_named(void)
{
    struct randomized done;
    hsy_error err = {0};
    size_t len;

    free(stream(&done, "yes\nno\nperhaps\n", false, &len, &err));
    ok(eq_u64(len, 0) && eq_int(done.trouble, RANDOMIZER_TRUTH) &&
           eq_u64(done.line, 3) && eq_int(done.wrong.trouble, TRUTH_NOT_YES_NO),
       "the line and what is wrong with it are told, not its text");
    free(stream(&done, "\xef\xbb\xbfyes\n", false, &len, &err));
    ok(eq_int(done.trouble, RANDOMIZER_LINES) && eq_int(err.at != 0, 1),
       "a text that is none is told from a truth that is none");
}

static hsy_status curate(struct randomized *done, int64_t *memory,
                         const hsy_scheme *s, hsy_tally *tally,
                         const char *text, hsy_error *err)
{
    struct randomizer r = how(&counted, s);
    int fd = input(text);
    hsy_status st;

    hsy_tally_init(tally, s, memory);
    st = curator_release(done, tally, &r, fd, err);
    close(fd);
    return st;
}

static void a_curator_counts(void)
{
    hsy_scheme *s = scheme(&counted);
    const size_t words = hsy_tally_words(s);
    int64_t *a = calloc(words, sizeof *a), *b = calloc(words, sizeof *b);
    struct randomized done;
    hsy_error err = {0};
    hsy_tally tally;

    is_status(curate(&done, a, s, &tally, "yes\nno\nno\n", &err), HSY_OK,
              "truths become a release");
    is_u64(done.written, 3, "of all the people");
    ok(curate(&done, b, s, &tally, "no\nyes\nno\n", &err) == HSY_OK &&
           eq_bytes(a, b, words * sizeof *a),
       "which does not tell their order");
    ok(curate(&done, b, s, &tally, "no\n7\n", &err) != HSY_OK &&
           eq_int(done.trouble, RANDOMIZER_TRUTH) && eq_u64(done.line, 2),
       "a bad line is named");
    free(a);
    free(b);
    free(s);
}

int main(void)
{
    truths_become_reports();
    a_bad_line_is_named();
    a_curator_counts();
    return tap_done();
}
