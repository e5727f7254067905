/* test_container_json.c - the readable twin says what the stream says. */
#define _GNU_SOURCE /* memfd_create */

#include "host/format/internal.h"
#include "lib/bits/bytes.h"
#include "rig/files.h"
#include "tap.h"

/* More reports than one record takes. */
static void long_twins_are_cut(void)
{
    const size_t n = 150000;
    struct file f = files_twin(&examples[0].spec, n);
    int fd = files_fd(f.bytes, f.len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    uint64_t reports = 0, records = 0;
    bool placed = true;
    hsy_status st;

    while ((st = container_next(r, &item, NULL)) == HSY_OK)
        if (item.type == CONTAINER_RECORD &&
            item.record.type == HSY_RECORD_REPORTS) {
            placed &= item.line == reports + 2;
            reports += item.record.count;
            records++;
        }
    ok(st == HSY_E_END && reports == n && records > 1,
       "a long twin is read in pieces");
    ok(placed, "each says the line of its first report");
    container_close(r);
    close(fd);
    free(f.bytes);
}

static void twins_may_be_joined(void)
{
    struct file a = files_twin(&examples[0].spec, 3);
    struct file b = files_twin(&examples[2].spec, 4), f = files_joined(&a, &b);

    ok(files_drain(f.bytes, f.len, NULL) == HSY_E_END,
       "twins may stand one after the other");
    free(a.bytes);
    free(b.bytes);
    free(f.bytes);
}

/* ---- Text that is wrong -------------------------------------------------- */

/* A twin of three grr reports over six values, one passage replaced. */
static hsy_status with(const char *was, const char *now, hsy_error *err)
{
    struct file f = files_twin(&examples[2].spec, 3);
    char *text = (char *)f.bytes, *at = strstr(text, was);
    size_t tail, len;
    char *changed = malloc(f.len + strlen(now) + 1);
    hsy_status st;

    if (at == NULL) {
        free(changed);
        free(f.bytes);
        return HSY_OK;
    }
    tail = f.len - (size_t)(at - text) - strlen(was);
    len = (size_t)(at - text);
    memcpy(changed, text, len);
    memcpy(changed + len, now, strlen(now));
    memcpy(changed + len + strlen(now), at + strlen(was), tail);
    st = files_drain(changed, len + strlen(now) + tail, err);
    free(changed);
    free(f.bytes);
    return st;
}

static bool refused_at(const char *was, const char *now, uint64_t line)
{
    hsy_error err = {0};

    return with(was, now, &err) == HSY_E_FORMAT && err.status == HSY_E_FORMAT &&
           err.at == line && err.msg != NULL;
}

static void spelling_is_free(void)
{
    ok(with("\"version\":1,", " \"version\" : 1 ,", NULL) == HSY_E_END,
       "spaces do not matter");
    ok(with("\"a,b\"", "\"\\u0061\\u002cb\"", NULL) == HSY_E_END,
       "nor how a letter is written");
    ok(with("\"epsilon\":\"1\"", "\"epsilon\":\"1.5\",\"more\":[7]", NULL) ==
               HSY_E_END &&
           with("\"a,b\"", "\"a,c\"", NULL) == HSY_E_END,
       "what is said of the scheme in words is not read");
}

static void headers_are_checked(void)
{
    ok(refused_at("\"reports\"", "\"tally\"", 1), "other content is refused");
    ok(refused_at("\"reports\"", "\"reports\\u0000x\"", 1),
       "also behind a NUL");
    ok(refused_at("\"version\":1", "\"version\":2", 1) &&
           refused_at("\"version\":1", "\"version\":1.0", 1),
       "other versions are refused");
    ok(refused_at("\"version\":1", "\"version\":1,\"more\":1", 1) &&
           refused_at("\"scheme\"", "\"schema\"", 1),
       "unknown members are refused");
    ok(refused_at("\"version\":1", "\"version\":1,\"version\":1", 1),
       "double members are refused");
    ok(refused_at("\"prefix\":\"8948", "\"prefix\":\"8949", 1) &&
           refused_at("\"prefix\":\"89", "\"prefix\":\"", 1) &&
           refused_at("\"prefix\":\"89", "\"prefix\":\"9", 1) &&
           refused_at("0d0a1a0a", "0D0A1A0A", 1) &&
           refused_at("0d0a1a0a0100000001", "0d0a1a0a0100000002", 1),
       "another prefix is refused, and another spelling of it");
    ok(refused_at("\"labels\":\"03", "\"labels\":\"02", 1) &&
           refused_at("\"labels\":\"03", "\"labels\":\"3", 1) &&
           refused_at("\"labels\":\"03", "\"labels\":\"0003", 1) &&
           refused_at("\"labels\":\"", "\"labels\":7,\"x\":\"", 1),
       "other labels are refused");
    ok(refused_at("\"prefix\":\"", "\"prefix\":7,\"x\":\"", 1) &&
           refused_at("\"prefix\":\"", "\"x\":\"", 1),
       "the prefix must be there");
}

static void lines_are_checked(void)
{
    ok(refused_at("}\n{\"report\":", "}\n{\"report\":8", 2) &&
           refused_at("}\n{\"report\":", "}\n{\"report\":-", 2),
       "a report outside the scheme is refused with its line");
    ok(refused_at("}\n{\"report\":", "}\n\n{\"report\":", 2),
       "an empty line is refused");
    ok(refused_at("}\n{\"report\":", "}\n{\"reports\":", 2) &&
           refused_at("}\n{\"report\":", "}\n{\"end\":3,\"report\":", 2) &&
           refused_at("}\n{\"report\":", "}\n[1]\n{\"report\":", 2),
       "neither a report nor the end is refused");
    ok(refused_at(
           "}\n{\"report\":", "}\n{\"report\":\"1\"}\n{\"report\":", 2) &&
           refused_at(
               "}\n{\"report\":", "}\n{\"report\":1.0}\n{\"report\":", 2),
       "a small report is a whole number");
    ok(refused_at("\"end\":3", "\"end\":2", 5) &&
           refused_at("\"end\":3", "\"end\":-3", 5) &&
           refused_at("\"end\":3", "\"end\":\"3\"", 5),
       "the end says how many reports there are");
    ok(refused_at("}\n{\"report\":",
                  "}\n                                              "
                  "                                {\"report\":",
                  2),
       "a line that is too long is refused");
}

/* Reports of more than 53 bits are hexadecimal. */
static void wide_reports(void)
{
    static const char *const wrong[] = {"{\"report\":12}\n",
                                        "{\"report\":\"\"}\n",
                                        "{\"report\":\"0000000000000g\"}\n",
                                        "{\"report\":\"0000000000000A\"}\n",
                                        "{\"report\":\"00000000000040\"}\n",
                                        "{\"report\":\"0000000000000000\"}\n"};
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "sue",
                           .kind = HSY_KIND_VALUES,
                           .d = 54,
                           .nano_epsilon = HSY_NANO};
    struct file f = files_twin(&spec, 0);
    size_t head = (size_t)((uint8_t *)strchr((char *)f.bytes, '\n') - f.bytes);
    char text[2048];
    unsigned refused = 0;
    int len;

    len = snprintf(text, sizeof text,
                   "%.*s\n{\"report\":\"0000000000ff20\"}\n"
                   "{\"end\":1}\n",
                   (int)head, (char *)f.bytes);
    ok(files_drain(text, (size_t)len, NULL) == HSY_E_END,
       "54 bits are seven bytes in hexadecimal");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        len = snprintf(text, sizeof text, "%.*s\n%s{\"end\":1}\n", (int)head,
                       (char *)f.bytes, wrong[i]);
        refused += files_drain(text, (size_t)len, NULL) == HSY_E_FORMAT;
    }
    ok(refused == sizeof wrong / sizeof wrong[0], "no other spelling is");
    free(f.bytes);
}

static void labels_must_be_text(void)
{
    static const uint8_t labels[] = "\1\0\0\0a\1\0\0\0\xff";
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = 2,
                           .labels = labels,
                           .labels_len = sizeof labels - 1,
                           .nano_epsilon = HSY_NANO};
    hsy_scheme *s = example_scheme(&spec);
    struct output *out = files_open();
    hsy_error err = {0};
    struct file f;

    if (s == NULL) {
        output_abort(out);
        tap_skip("the library takes UTF-8 labels only");
        return;
    }
    ok(container_put_json_head(out, s, labels, spec.labels_len, &err) ==
               HSY_E_RANGE &&
           err.status == HSY_E_RANGE && strstr(err.msg, "UTF-8") != NULL,
       "labels that are not UTF-8 have no twin");
    f = files_close(out);
    ok(f.len == 0, "then nothing is written");
    free(f.bytes);
    free(s);
}

/* Labels of quotes take four times their bytes in JSON: 68 MB of header. */
static void header_may_be_too_long(void)
{
    enum { LABELS = 4150, LEN = 4 + HSY_LABEL_MAX };
    uint8_t *labels = malloc(LABELS * LEN);
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "grr",
                     .kind = HSY_KIND_VALUES,
                     .d = LABELS,
                     .labels = labels,
                     .labels_len = LABELS * LEN,
                     .nano_epsilon = HSY_NANO};
    struct output *out = files_open();
    hsy_error err = {0};
    hsy_scheme *s;
    struct file f;

    memset(labels, '"', LABELS * LEN);
    for (unsigned i = 0; i < LABELS; i++) {
        bytes_put32(labels + i * LEN, HSY_LABEL_MAX);
        labels[i * LEN + 4] = (uint8_t)('0' + i / 64);
        labels[i * LEN + 5] = (uint8_t)('0' + i % 64);
    }
    s = example_scheme(&spec);
    ok(container_put_json_head(out, s, labels, LABELS * LEN, &err) ==
               HSY_E_RANGE &&
           err.status == HSY_E_RANGE && err.limit == CONTAINER_HEAD_MAX &&
           err.field == HSY_FIELD_VALUES,
       "a header line that no reader takes is refused, with the limit");
    f = files_close(out);
    ok(f.len == 0, "then nothing is written either");
    free(f.bytes);
    free(s);
    free(labels);
}

static void header_is_readable(void)
{
    static const char want[] =
        "{\"hearsay\":\"reports\",\"version\":1,\"scheme\":{\"mechanism\":"
        "\"oue\",\"kind\":\"bins\",\"epsilon\":\"0.5\",\"bins\":70,\"lo\":"
        "\"-1.05\",\"hi\":\"20.00\",\"scale\":2,\"digest\":\"";
    struct file f = files_twin(&examples[4].spec, 1);

    ok(strncmp((char *)f.bytes, want, sizeof want - 1) == 0,
       "a header says what was asked in words and decimals");
    free(f.bytes);
}

int main(void)
{
    if (!files_begin())
        return 1;
    long_twins_are_cut();
    twins_may_be_joined();
    spelling_is_free();
    headers_are_checked();
    lines_are_checked();
    wide_reports();
    labels_must_be_text();
    header_may_be_too_long();
    header_is_readable();
    files_done();
    return tap_done();
}
