/*
 * test_intake.c - a body becomes exactly the uploads it holds: binary and JSON,
 * every single-byte change and truncation, every field at its edges (H03).
 */
#include "host/base/fields.h"
#include "rig/example_roster.h"
#include "rig/sanitized.h"
#include "tap.h"

#include <jansson.h>

static struct roster *roster;

/* ---- Counted as what it says --------------------------------------------- */

static bool all_reports(const hsy_scheme *s, size_t bytes,
                        const uint8_t *packed, size_t n)
{
    uint8_t *reports = malloc(n * bytes);
    bool good = reports != NULL && hsy_unpack(s, reports, packed, n) == HSY_OK;

    for (size_t i = 0; good && i < n; i++)
        good = hsy_check(s, reports + i * bytes) == HSY_OK;
    free(reports);
    return good;
}

/* Whether these bytes, checksums right, are an upload that may be counted: by
 * the rules, read off the bytes alone. */
static bool may_count(const uint8_t *upload, size_t len)
{
    const struct roster_entry *e = NULL;
    hsy_upload head;

    if (hsy_upload_decode(&head, upload, NULL) != HSY_OK)
        return false;
    for (size_t i = 0; i < roster_count(roster); i++)
        if (strcmp(roster_at(roster, i)->task.id, head.task) == 0)
            e = roster_at(roster, i);
    return e != NULL && head.release == 1 &&
           memcmp(head.digest, e->digest, HSY_DIGEST) == 0 &&
           head.epoch >= EXAMPLE_EPOCH - 2 && head.epoch <= EXAMPLE_EPOCH + 1 &&
           head.length == len - HSY_UPLOAD_WIRE &&
           head.length == hsy_packed_size(e->scheme, head.count) &&
           (head.kind == 2 ||
            all_reports(e->scheme, e->report_bytes, upload + HSY_UPLOAD_WIRE,
                        head.count));
}

/* Whether these bytes are counted; if so, as the one upload that they are. */
static bool counts(const uint8_t *upload, size_t len, bool *exactly)
{
    struct intake in;
    uint8_t again[HSY_UPLOAD_WIRE];
    bool counted = false;

    if (example_intake(&in, roster, INTAKE_BINARY, upload, len, NULL) != HSY_OK)
        return false;
    counted = in.uploads[0].verdict == INTAKE_COUNTED;
    *exactly &= in.n == 1;
    if (counted)
        *exactly &=
            hsy_upload_encode(again, &in.uploads[0].head, NULL) == HSY_OK &&
            memcmp(again, upload, sizeof again) == 0 &&
            memcmp(in.uploads[0].payload, upload + HSY_UPLOAD_WIRE,
                   len - HSY_UPLOAD_WIRE) == 0 &&
            strcmp(in.uploads[0].entry->task.id, in.uploads[0].head.task) == 0;
    intake_clear(&in);
    return counted;
}

/* ---- Every change -------------------------------------------------------- */

static void every_byte(const struct roster_entry *e, const char *name)
{
    size_t len;
    uint8_t *upload = example_upload(e, 1, 3, 9, &len), *copy = malloc(len);
    bool refused = true, exactly = true, agree = true;
    unsigned long counted = 0;

    for (size_t at = 0; at < len; at++)
        for (unsigned x = 1; x < 256; x += TEST_SANITIZED ? 5 : 1) {
            bool now;

            memcpy(copy, upload, len);
            copy[at] ^= (uint8_t)x;
            refused &= !counts(copy, len, &exactly);
            example_seal(copy, len);
            now = counts(copy, len, &exactly);
            agree &= now == may_count(copy, len);
            counted += now;
        }
    ok(refused, "%s: every single-byte change is refused", name);
    ok(agree && exactly,
       "%s: with right checksums it is refused or counted as it says", name);
    ok(counted != 0, "%s: control: some are counted", name);
    free(upload);
    free(copy);
}

static void every_truncation(const struct roster_entry *e, const char *name)
{
    size_t len;
    uint8_t *upload = example_upload(e, 1, EXAMPLE_N, 9, &len);
    uint8_t *two = malloc(2 * len);
    bool one_line = true, second_line = true;
    struct intake in;
    hsy_error err;

    memcpy(two, upload, len);
    memcpy(two + len, upload, len);
    for (size_t cut = 0; cut < len; cut++) {
        one_line &= example_intake(&in, roster, INTAKE_BINARY, upload, cut,
                                   &err) == HSY_E_FORMAT &&
                    err.at == (cut != 0) && err.field != HSY_FIELD_NONE &&
                    in.body == NULL;
        if (cut != 0)
            second_line &= example_intake(&in, roster, INTAKE_BINARY, two,
                                          len + cut, &err) == HSY_E_FORMAT &&
                           err.at == 2;
    }
    ok(one_line, "%s: every truncation is refused as the first upload's", name);
    ok(second_line, "%s: cut in the second, it is refused as that one's", name);
    free(upload);
    free(two);
}

static void null_uploads(const struct roster_entry *e, const char *name)
{
    size_t len;
    uint8_t *upload = example_upload(e, 2, EXAMPLE_N, 9, &len);
    bool exactly = true;

    ok(counts(upload, len, &exactly) && exactly,
       "%s: a null upload is taken whatever it holds", name);
    upload = realloc(upload, len + 1);
    upload[len] = 0;
    upload[104] = (uint8_t)(upload[104] + 1); /* 255 would go back to 0 */
    example_seal(upload, len + 1);
    ok(!counts(upload, len + 1, &exactly), "%s: but only of the right length",
       name);
    free(upload);
}

/* ---- Verdicts ------------------------------------------------------------ */

struct edge {
    const char *name;
    void (*change)(hsy_upload *head);
    enum intake_verdict verdict;
};

static void edge_nothing(hsy_upload *h)
{
    (void)h;
}
static void edge_task(hsy_upload *h)
{
    h->task[2] = 'x';
}
static void edge_longer(hsy_upload *h)
{
    memcpy(h->task, "t02.more", 9);
}
static void edge_release(hsy_upload *h)
{
    h->release = 2;
}
static void edge_top_release(hsy_upload *h)
{
    h->release = UINT32_MAX;
}
static void edge_digest(hsy_upload *h)
{
    h->digest[31] ^= 1;
}
static void edge_first(hsy_upload *h)
{
    h->epoch = EXAMPLE_EPOCH - 2;
}
static void edge_closed(hsy_upload *h)
{
    h->epoch = EXAMPLE_EPOCH - 3;
}
static void edge_last(hsy_upload *h)
{
    h->epoch = EXAMPLE_EPOCH + 1;
}
static void edge_early(hsy_upload *h)
{
    h->epoch = EXAMPLE_EPOCH + 2;
}
static void edge_before(hsy_upload *h)
{
    h->epoch = EXAMPLE_DAY;
}
static void edge_zero(hsy_upload *h)
{
    h->epoch = 0;
}
static void edge_never(hsy_upload *h)
{
    h->epoch = UINT32_MAX;
}
static void edge_more(hsy_upload *h)
{
    h->count += 8;
}
static void edge_fewer(hsy_upload *h)
{
    h->count = 1;
}

static void verdicts(void)
{
    static const struct edge edges[] = {
        {"a good one", edge_nothing, INTAKE_COUNTED},
        {"another task", edge_task, INTAKE_UNKNOWN},
        {"a task whose name begins so", edge_longer, INTAKE_UNKNOWN},
        {"a later release", edge_release, INTAKE_UNKNOWN},
        {"the last release there can be", edge_top_release, INTAKE_UNKNOWN},
        {"another scheme", edge_digest, INTAKE_SCHEME},
        {"the first open epoch", edge_first, INTAKE_COUNTED},
        {"an epoch that is closed", edge_closed, INTAKE_CLOSED},
        {"tomorrow", edge_last, INTAKE_COUNTED},
        {"the day after tomorrow", edge_early, INTAKE_EARLY},
        {"before anything can be due", edge_before, INTAKE_EARLY},
        {"epoch 0", edge_zero, INTAKE_EARLY},
        {"the last epoch there can be", edge_never, INTAKE_EARLY},
        {"more reports than there are", edge_more, INTAKE_REPORT},
        {"fewer reports than there are", edge_fewer, INTAKE_REPORT},
    };
    size_t len;
    uint8_t *upload =
        example_upload(roster_at(roster, 2), 1, EXAMPLE_N, 9, &len);

    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        struct intake in = {0};
        hsy_upload head;

        hsy_upload_decode(&head, upload, NULL);
        edges[i].change(&head);
        hsy_upload_encode(upload, &head, NULL);
        ok(example_intake(&in, roster, INTAKE_BINARY, upload, len, NULL) ==
                   HSY_OK &&
               in.uploads[0].verdict == edges[i].verdict &&
               (in.uploads[0].entry != NULL) ==
                   (edges[i].verdict == INTAKE_COUNTED ||
                    edges[i].verdict == INTAKE_REPORT),
           "%s: %s", edges[i].name, intake_verdicts[edges[i].verdict].name);
        intake_clear(&in);
        free(upload);
        upload = example_upload(roster_at(roster, 2), 1, EXAMPLE_N, 9, &len);
    }
    free(upload);
}

/* A task that is over: its last uploads may come, nothing later. */
static void task_over(void)
{
    const struct roster_entry *e = roster_at(roster, 0);
    const struct intake_days days = {.first = e->last, .last = e->last + 1};
    size_t len;
    uint8_t *upload = example_upload(e, 1, 1, 9, &len);
    hsy_upload head;
    struct intake in;
    enum intake_verdict got[2];

    for (uint32_t i = 0; i < 2; i++) {
        uint8_t *body = malloc(len);

        hsy_upload_decode(&head, upload, NULL);
        head.epoch = e->last + i;
        hsy_upload_encode(upload, &head, NULL);
        memcpy(body, upload, len);
        intake_read(&in, roster, days, NULL, INTAKE_BINARY, body, len, NULL);
        got[i] = in.uploads[0].verdict;
        intake_clear(&in);
    }
    ok(got[0] == INTAKE_COUNTED && got[1] == INTAKE_CLOSED,
       "a task takes its last uploads and none after them");
    free(upload);
}

static uint32_t gate_most(void *ctx, struct intake_upload *u)
{
    u->enrolled = true;
    return *(const uint32_t *)ctx;
}

/* The verdict on an upload of n reports or nulls from who may bring so many;
 * UINT32_MAX: nobody was asked. */
static enum intake_verdict sent_by(uint32_t most, uint32_t kind, size_t n)
{
    const struct intake_days days = {.first = EXAMPLE_EPOCH - 2,
                                     .last = EXAMPLE_EPOCH + 1};
    const struct intake_gate gate = {.most = gate_most, .ctx = &most};
    size_t len;
    uint8_t *upload =
        example_upload(roster_at(roster, 0), kind, n, (uint8_t)n, &len);
    struct intake in;
    enum intake_verdict got;

    intake_read(&in, roster, days, most == UINT32_MAX ? NULL : &gate,
                INTAKE_BINARY, upload, len, NULL);
    got = in.uploads[0].verdict;
    intake_clear(&in);
    return got;
}

/* What an upload weighs is never its own word alone. */
static void senders(void)
{
    for (uint32_t kind = 1; kind <= 2; kind++) {
        const char *what = kind == 1 ? "reports" : "nulls";

        ok(sent_by(UINT32_MAX, kind, 1) == INTAKE_COUNTED &&
               sent_by(UINT32_MAX, kind, 2) == INTAKE_MANY &&
               sent_by(UINT32_MAX, kind, 4097) == INTAKE_MANY,
           "%s: a device brings one an upload", what);
        ok(sent_by(7, kind, 7) == INTAKE_COUNTED &&
               sent_by(7, kind, 8) == INTAKE_MANY,
           "%s: a forwarder as many as he may", what);
        ok(sent_by(0, kind, 1) == INTAKE_TOKEN,
           "%s: who may bring none needs a token", what);
    }
}

static void many(void)
{
    const size_t most = INTAKE_UPLOADS_MAX;
    size_t len;
    uint8_t *upload = example_upload(roster_at(roster, 0), 1, 1, 9, &len);
    uint8_t *body = malloc((most + 1) * len);
    struct intake in = {0};
    hsy_error err;

    for (size_t i = 0; i <= most; i++)
        memcpy(body + i * len, upload, len);
    ok(example_intake(&in, roster, INTAKE_BINARY, body, most * len, NULL) ==
               HSY_OK &&
           in.n == most && in.uploads[most - 1].verdict == INTAKE_COUNTED,
       "a request brings %zu uploads", most);
    intake_clear(&in);
    ok(example_intake(&in, roster, INTAKE_BINARY, body, (most + 1) * len,
                      &err) == HSY_E_FORMAT &&
           err.at == most + 1,
       "and not one more");
    free(upload);
    free(body);
}

/* ---- JSON ---------------------------------------------------------------- */

static void hex(char *out, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
}

/* Reports as the readable twin writes them. */
static json_t *twin_reports(const struct roster_entry *e, const uint8_t *packed,
                            size_t n)
{
    const size_t one_len = hsy_packed_size(e->scheme, 1);
    uint8_t *reports = malloc(n * e->report_bytes), *one = malloc(one_len);
    char *text = malloc(2 * one_len + 1);
    json_t *list = json_array();
    hsy_scheme_info info;

    hsy_scheme_describe(e->scheme, &info);
    hsy_unpack(e->scheme, reports, packed, n);
    for (size_t i = 0; i < n; i++) {
        json_int_t value = 0;

        hsy_pack(e->scheme, one, reports + i * e->report_bytes, 1);
        for (size_t b = 0; b < one_len && b < 8; b++)
            value |= (json_int_t)((uint64_t)one[b] << 8 * b);
        hex(text, one, one_len);
        json_array_append_new(list, info.packed_bits <= 53 ? json_integer(value)
                                                           : json_string(text));
    }
    free(reports);
    free(one);
    free(text);
    return list;
}

/* The text of an upload in JSON; the caller frees it. */
static char *twin(const uint8_t *upload, const char *member, json_t *payload)
{
    char digest[2 * HSY_DIGEST + 1], id[33], *text;
    hsy_upload head;
    json_t *root;

    hsy_upload_decode(&head, upload, NULL);
    hex(digest, head.digest, HSY_DIGEST);
    hex(id, head.id, 16);
    root = json_pack("{s:[{s:s,s:i,s:s,s:s,s:s,s:o}]}", "uploads", "task",
                     head.task, "release", (int)head.release, "digest", digest,
                     "epoch", "2026-02-23", "id", id, member, payload);
    text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

static void same_upload(const struct roster_entry *e, const char *name)
{
    size_t len;
    uint8_t *upload = example_upload(e, 1, EXAMPLE_N, 9, &len);
    char *text = twin(upload, "reports",
                      twin_reports(e, upload + HSY_UPLOAD_WIRE, EXAMPLE_N));
    struct intake a = {0}, b = {0};
    bool same = example_intake(&a, roster, INTAKE_BINARY, upload, len, NULL) ==
                    HSY_OK &&
                example_intake(&b, roster, INTAKE_JSON, text, strlen(text),
                               NULL) == HSY_OK;

    ok(same && b.uploads[0].verdict == INTAKE_COUNTED &&
           a.uploads[0].entry == b.uploads[0].entry &&
           a.uploads[0].head.checksum == b.uploads[0].head.checksum &&
           memcmp(a.uploads[0].payload, b.uploads[0].payload,
                  len - HSY_UPLOAD_WIRE) == 0 &&
           memcmp(a.uploads[0].digest, b.uploads[0].digest, 32) == 0,
       "%s: in JSON it is the same upload", name);
    intake_clear(&a);
    intake_clear(&b);
    free(upload);
    free(text);
}

static void null_twin(void)
{
    size_t len;
    uint8_t *upload = example_upload(roster_at(roster, 0), 2, 3, 9, &len);
    char *text = twin(upload, "null", json_integer(3));
    struct intake in = {0};

    ok(example_intake(&in, roster, INTAKE_JSON, text, strlen(text), NULL) ==
               HSY_OK &&
           in.uploads[0].verdict == INTAKE_COUNTED &&
           in.uploads[0].head.kind == 2 && in.uploads[0].head.count == 3 &&
           in.uploads[0].payload[0] == 0,
       "a null upload in JSON is one of zeros");
    intake_clear(&in);
    free(text);
    text = twin(upload, "null", json_integer(UINT32_MAX));
    ok(example_intake(&in, roster, INTAKE_JSON, text, strlen(text), NULL) ==
               HSY_OK &&
           in.uploads[0].verdict == INTAKE_REPORT && in.made != NULL,
       "one of more reports than an upload has costs no memory");
    intake_clear(&in);
    free(upload);
    free(text);
}

/* One change of a good text. */
struct wrong {
    const char *from, *to, *field;
};

static bool replaced(char *out, size_t room, const char *text,
                     const struct wrong *w)
{
    const char *at = strstr(text, w->from);

    if (at == NULL)
        return false;
    return snprintf(out, room, "%.*s%s%s", (int)(at - text), text, w->to,
                    at + strlen(w->from)) < (int)room;
}

static void wrong_json(void)
{
    static const struct wrong wrongs[] = {
        {"{\"uploads\"", "{\"more\":1,\"uploads\"", "uploads"},
        {"\"uploads\":[", "\"uploads\":[],\"uploads\":[", "body"},
        {"\"task\":", "\"tisk\":", "task"},
        {"\"task\":\"t00\"", "\"task\":7", "task"},
        {"\"task\":\"t00\"", "\"task\":\"T00\"", "task"},
        {"\"task\":\"t00\"", "\"task\":\"\"", "task"},
        {"\"task\":\"t00\"", "\"task\":\"t\\u0000\"", "body"},
        {"\"task\":\"t00\"", "\"task\":\"t00\",\"task\":\"t00\"", "body"},
        {"\"task\":\"t00\"", "\"task\":\"t00\",\"extra\":0", "uploads"},
        {"t00", "abcdefghijklmnopqrstuvwxyz0123456", "task"},
        {"\"release\":1", "\"release\":0", "release"},
        {"\"release\":1", "\"release\":-1", "release"},
        {"\"release\":1", "\"release\":1.0", "release"},
        {"\"release\":1", "\"release\":4294967296", "release"},
        {"\"release\":1", "\"release\":\"1\"", "release"},
        {"\"digest\":\"", "\"digest\":\"0", "digest"},
        {"2026-02-23", "2026-02-30", "epoch"},
        {"2026-02-23", "yesterday", "epoch"},
        {"\"2026-02-23\"", "20507", "epoch"},
        {"\"id\":\"09", "\"id\":\"0G", "id"},
        {"\"id\":\"09", "\"id\":\"", "id"},
        {"\"reports\":[", "\"reports\":[],\"null\":[", "uploads"},
        {"\"reports\":[0,1,0]", "\"reports\":[]", "reports"},
        {"\"reports\":[0,1,0]", "\"reports\":3", "reports"},
        {"\"reports\":[0,1,0]", "\"null\":0", "reports"},
        {"\"reports\":[0,1,0]", "\"null\":[0]", "reports"},
        {"]}]}", "]}]} x", "body"},
        {"]}]}", "]}]", "body"},
    };
    size_t len;
    uint8_t *upload = example_upload(roster_at(roster, 0), 1, 3, 9, &len);
    json_t *reports = json_pack("[i,i,i]", 0, 1, 0);
    char *text = twin(upload, "reports", reports), changed[2048];
    struct intake in;
    hsy_error err;

    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        bool there = replaced(changed, sizeof changed, text, &wrongs[i]);

        err = (hsy_error){.msg = NULL};
        ok(there &&
               example_intake(&in, roster, INTAKE_JSON, changed,
                              strlen(changed), &err) == HSY_E_FORMAT &&
               err.field != HSY_FIELD_NONE &&
               strcmp(host_field_name(err.field), wrongs[i].field) == 0 &&
               err.msg != NULL,
           "JSON with %s is refused for its %s", wrongs[i].to, wrongs[i].field);
    }
    free(text);
    free(upload);
}

/* What is short to write and long in memory is refused before it takes any. */
static void many_braces(char brace, size_t n, bool many)
{
    char *text = malloc(n);
    struct intake in;
    hsy_error err = {.at = 0};

    memset(text, brace, n);
    ok(example_intake(&in, roster, INTAKE_JSON, text, n, &err) ==
               HSY_E_FORMAT &&
           (err.at == INTAKE_UPLOADS_MAX + 1) == many,
       "%zu times %c is %s", n, brace,
       many ? "more than a request may have" : "not JSON");
    free(text);
}

static void wrong_reports(void)
{
    static const char *const values[] = {"2",   "-1",   "1.0",  "\"1\"",
                                         "[1]", "null", "true", "4294967296"};
    size_t len;
    uint8_t *upload = example_upload(roster_at(roster, 0), 1, 1, 9, &len);
    struct intake in;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        json_t *list = json_array();
        char *text;

        json_array_append_new(list,
                              json_loads(values[i], JSON_DECODE_ANY, NULL));
        text = twin(upload, "reports", list);
        in = (struct intake){0};
        ok(example_intake(&in, roster, INTAKE_JSON, text, strlen(text), NULL) ==
                   HSY_OK &&
               in.uploads[0].verdict == INTAKE_REPORT,
           "%s is no report of rr", values[i]);
        intake_clear(&in);
        free(text);
    }
    free(upload);
}

int main(void)
{
    roster = example_roster();
    ok(roster != NULL && roster_count(roster) >= 26,
       "there is a task of every mechanism");
    for (size_t i = 0; i < roster_count(roster); i++) {
        const struct roster_entry *e = roster_at(roster, i);
        const char *name = examples[strtoul(e->task.id + 1, NULL, 10)].name;

        every_byte(e, name);
        every_truncation(e, name);
        null_uploads(e, name);
        same_upload(e, name);
    }
    verdicts();
    task_over();
    senders();
    many();
    null_twin();
    wrong_json();
    wrong_reports();
    many_braces('{', INTAKE_UPLOADS_MAX + 1, false);
    many_braces('{', INTAKE_UPLOADS_MAX + 2, true);
    many_braces('[', INTAKE_UPLOADS_MAX + 1, false);
    many_braces('[', INTAKE_UPLOADS_MAX + 2, true);
    roster_drop(roster);
    return tap_done();
}
