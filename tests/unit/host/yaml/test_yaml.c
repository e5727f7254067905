/* test_yaml.c - YAML by a table: values at their places, every mistake with its
 * line and its field, and nothing that a file can do to its reader. */
#define _GNU_SOURCE
#include "host/base/ratio.h"
#include "host/yaml/yaml.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* ---- A form with a field of every type ----------------------------------- */

struct inner {
    char *raw;
    uint64_t count;
};

struct item {
    char *name;
    char **list;
    struct inner *inner;
};

struct all {
    char *raw, *text, *path;
    bool flag;
    uint64_t count, size, seconds, days;
    unsigned word;
    double half;
    char **list;
    struct inner *inner;
    struct item *items;
    size_t nitems;
};

static bool take_half(void *out, const char *text)
{
    hsy_ratio r;

    if (!ratio_parse(&r, text, strlen(text)))
        return false;
    *(double *)out = (double)r.num / (double)r.den / 2;
    return true;
}

#define AT(in, member, kind)                                                   \
    .key = #member, .type = (kind), .at = offsetof(struct in, member)

static const char *const words[] = {"red", "green", NULL};
static const struct yaml_field inner_fields[] = {
    {AT(inner, raw, YAML_RAW), .required = true},
    {AT(inner, count, YAML_COUNT), .high = 9},
    {.key = NULL}};
static const struct yaml_map inner_map = {inner_fields, sizeof(struct inner)};
static const struct yaml_field item_fields[] = {
    {AT(item, name, YAML_TEXT), .required = true},
    {AT(item, list, YAML_LIST), .high = 3},
    {AT(item, inner, YAML_MAP), .map = &inner_map},
    {.key = NULL}};
static const struct yaml_map item_map = {item_fields, sizeof(struct item)};
static const struct yaml_field fields[] = {
    {AT(all, raw, YAML_RAW)},
    {AT(all, text, YAML_TEXT), .otherwise = "usual"},
    {AT(all, path, YAML_PATH)},
    {AT(all, flag, YAML_BOOL)},
    {AT(all, count, YAML_COUNT), .low = 2, .high = 12, .otherwise = "7"},
    {AT(all, size, YAML_SIZE), .high = 1 << 20},
    {AT(all, seconds, YAML_SECONDS), .high = 3600},
    {AT(all, days, YAML_DAYS), .high = 30},
    {AT(all, word, YAML_WORD), .words = words},
    {AT(all, half, YAML_OWN), .take = take_half, .wants = "a share",
     .size = sizeof(double)},
    {AT(all, list, YAML_LIST), .high = 4},
    {AT(all, inner, YAML_MAP), .map = &inner_map},
    {AT(all, items, YAML_MAPS), .count = offsetof(struct all, nitems),
     .high = 3, .map = &item_map},
    {.key = NULL}};
static const struct yaml_form form = {.map = {fields, sizeof(struct all)},
                                      .others = "the page has them",
                                      .column = "one item",
                                      .name = "name"};

static struct yaml_notes notes;
static struct all got;

static void forget(void)
{
    yaml_clear(&form.map, &got);
    yaml_notes_clear(&notes);
}

static void read_as(const struct yaml_form *how, const void *text, size_t len)
{
    uint8_t *copy = malloc(len + 1); /* so that a sanitizer sees its end */

    forget();
    memcpy(copy, text, len);
    notes.directory = "beside";
    yaml_read(&notes, how, &got, copy, len);
    free(copy);
}

static void reads(const char *text)
{
    read_as(&form, text, strlen(text));
}

static bool found(uint32_t line, const char *entry, const char *field,
                  const char *says)
{
    for (size_t i = 0; i < notes.nproblems; i++) {
        const hsy_problem *p = &notes.problems[i];

        if (p->line == line && strcmp(p->task, entry) == 0 &&
            strcmp(p->field, field) == 0 && strstr(p->text, says) != NULL)
            return true;
    }
    return false;
}

static bool same(const char *text, const char *want)
{
    return text != NULL && strcmp(text, want) == 0;
}

/* ---- What is read -------------------------------------------------------- */

static void values_come_to_their_places(void)
{
    reads("# a comment\nraw: ''\ntext: \"a\\tb\"\npath: x/y\nflag: on\n"
          "count: 12\nsize: 64K\nseconds: 2m\ndays: 2 weeks\nword: green\n"
          "half: 1/4\nlist: [a, 'b c']\ninner: {raw: >\n    two\n    words\n"
          "  , count: 3}\nitems:\n  - name: one\n    list:\n      - x\n"
          "  - {name: two, inner: {raw: r}}\n");
    ok(eq_u64(notes.nproblems, 1) && found(13, "", "", "not valid YAML"),
       "a block within brackets is none: %zu problems", notes.nproblems);
    reads("# a comment\nraw: ''\ntext: \"a\\tb\"\npath: x/y\nflag: on\n"
          "count: 12\nsize: 64K\nseconds: 2m\ndays: 2 weeks\nword: green\n"
          "half: 1/4\nlist: [a, 'b c']\ninner:\n  raw: >\n    two\n    words\n"
          "  count: 3\nitems:\n  - name: one\n    list:\n      - x\n"
          "  - {name: two, inner: {raw: r}}\n");
    ok(eq_u64(notes.nproblems, 0) && !notes.wrong && notes.whole,
       "block and flow, quoted and not: %s",
       notes.nproblems != 0 ? notes.problems[0].text : "no problem");
    ok(same(got.raw, "") && same(got.text, "a\tb") &&
           same(got.path, "beside/x/y") && got.flag && eq_u64(got.count, 12) &&
           eq_u64(got.size, 65536) && eq_u64(got.seconds, 120) &&
           eq_u64(got.days, 14) && eq_u64(got.word, 1) && got.half == 0.125,
       "scalars of every type");
    ok(eq_u64(yaml_items(got.list), 2) && same(got.list[1], "b c") &&
           same(got.inner->raw, "two words\n") && eq_u64(got.inner->count, 3),
       "a list and a mapping");
    ok(eq_u64(got.nitems, 2) && same(got.items[0].name, "one") &&
           eq_u64(yaml_items(got.items[0].list), 1) &&
           got.items[0].inner == NULL && got.items[1].list == NULL &&
           same(got.items[1].inner->raw, "r"),
       "a list of mappings");
    reads("list: []\nitems: []\n");
    ok(eq_u64(notes.nproblems, 0) && got.list != NULL && got.list[0] == NULL &&
           got.items != NULL && eq_u64(got.nitems, 0) && got.inner == NULL,
       "an empty list is not a list that is not there");
    is_u64(yaml_items(NULL), 0, "which has no items either");
}

static void defaults_and_settings(void)
{
    struct all other = {0};

    forget();
    yaml_defaults(&notes, fields, &got);
    ok(same(got.text, "usual") && eq_u64(got.count, 7), "defaults are texts");
    yaml_take(&notes, &fields[1], &got, "mine", yaml_key("text"), 0);
    yaml_take(&notes, &fields[10], &got, "a,,b", yaml_key("list"), 0);
    ok(same(got.text, "mine") && eq_u64(yaml_items(got.list), 2) &&
           same(got.list[1], "b") && eq_u64(notes.nproblems, 0),
       "a text from elsewhere takes their place, lists have commas");
    yaml_take(&notes, &fields[4], &got, "1", yaml_key("count"), 0);
    ok(eq_u64(got.count, 7) && found(0, "", "count", "from 2 to 12"),
       "its mistakes have no line and change nothing");
    yaml_defaults(&notes, fields, &other);
    ok(!yaml_same(&fields[1], &got, &other) &&
           yaml_same(&fields[4], &got, &other) &&
           yaml_same(&fields[9], &got, &other) &&
           !yaml_same(&fields[10], &got, &other) &&
           yaml_same(&fields[2], &got, &other),
       "fields are compared by type");
    yaml_clear(&form.map, &other);
    ok(other.text == NULL && eq_u64(other.count, 0), "and cleared");
}

/* ---- What is refused ----------------------------------------------------- */

static void mistakes_have_a_line_and_a_field(void)
{
    static const struct {
        const char *text, *entry, *field, *says;
        uint32_t line;
    } rows[] = {
        {"", "", "", "empty", 0},
        {"# nothing\n\n", "", "", "empty", 0},
        {"plain\n", "", "", "pairs", 1},
        {"- a\n", "", "", "pairs", 1},
        {"coun: 3\n", "", "", "did you mean 'count'", 1},
        {"flag: no\nother_thing: 3\n", "", "", "'other_thing'; the page", 2},
        {"count: 3\nraw: x\ncount: 4\n", "", "", "'count' is given twice", 3},
        {"count:\n  - 3\n", "", "count", "plain value", 1},
        {"list: a\n", "", "list", "must be a list", 1},
        {"list: {a: b}\n", "", "list", "must be a list", 1},
        {"inner: 3\n", "", "inner", "pairs", 1},
        {"items: {name: x}\n", "", "items", "must be a list", 1},
        {"items:\n- x\n", "1", "", "pairs", 2},
        {"items:\n- name: a\n- list: [x]\n", "2", "name", "is missing", 3},
        {"items:\n- name: a\n  inner: {count: 2}\n", "a", "inner.raw",
         "is missing", 3},
        {"items:\n- name: a\n  inner:\n    raw: x\n    count: 10\n", "a",
         "inner.count", "from 0 to 9", 5},
        {"items:\n- name: ''\n", "1", "name", "is empty", 2},
        {"items:\n- {name: a, list: [x, [y]]}\n", "a", "list", "plain", 2},
        {"list: [a, b, c, d, e]\n", "", "list", "more than 4 items", 1},
        {"list:\n- a\n- b\n- c\n- d\n- e\n", "", "list", "more than 4", 6},
        {"items: [{name: a}, {name: b}, {name: c}, {name: d}]\n", "", "items",
         "more than 3 items", 1},
        {"count: 1\n", "", "count", "a number, from 2 to 12", 1},
        {"count: 0x3\n", "", "count", "from 2 to 12", 1},
        {"count: -3\n", "", "count", "from 2 to 12", 1},
        {"size: 2M\n", "", "size", ", e.g. 64M, from 0 to 1048576", 1},
        {"seconds: soon\n", "", "seconds", "or 30s", 1},
        {"days: 5 weeks\n", "", "days", "of days, from 0 to 30", 1},
        {"word: blue\n", "", "word", "one of: red, green", 1},
        {"flag: ~\n", "", "flag", "yes or no", 1},
        {"half: 2\n", "", "half", "a share", 1},
        {"text:\n", "", "text", "empty; leave it out", 1},
        {"raw: &a x\n", "", "raw", "anchors", 1},
        {"raw: *a\n", "", "raw", "aliases", 1},
        {"raw: !!str x\n", "", "raw", "tags", 1},
        {"&a raw: x\n", "", "", "anchors", 1},
        {"? [raw]\n: x\n", "", "", "a key must be a plain word", 1},
        {"raw: a\n---\nraw: b\n", "", "", "a second document", 2},
        {"raw: a\n...\nraw: b\n", "", "", "not valid YAML", 3},
        {"raw: [\n", "", "", "not valid YAML", 1},
        {"raw: a\n\tcount: 3\n", "", "", "not valid YAML", 2},
        {"raw: 'a\n", "", "", "not valid YAML", 1},
        {"raw: \"\\x\"\n", "", "", "not valid YAML", 1},
        {"raw: \"a\\0b\"\n", "", "raw", "NUL", 1},
        {"flag: yes\r\ncount: 99\r\n", "", "count", "from 2", 2},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reads(rows[i].text);
        ok(notes.wrong &&
               found(rows[i].line, rows[i].entry, rows[i].field, rows[i].says),
           "mistake %zu, %s: %s", i, rows[i].says,
           notes.nproblems != 0 ? notes.problems[0].text : "none");
    }
}

static void all_are_listed_at_once(void)
{
    reads("cuont: 3\nlist: a\nflag: perhaps\nitems:\n- lst: []\n  name: x\n"
          "- name: y\n  inner: {raw: r, count: x}\nsize: x\nraw: fine\n");
    ok(eq_u64(notes.nproblems, 6) && notes.whole &&
           found(1, "", "", "unknown key") && found(2, "", "list", "") &&
           found(3, "", "flag", "") &&
           found(5, "1", "", "did you mean 'list'") &&
           found(8, "y", "inner.count", "") && found(9, "", "size", "") &&
           same(got.raw, "fine"),
       "six mistakes, and what is sound is read");
    yaml_wrong(&notes, yaml_key("raw"), "not %s either", "that");
    yaml_wrong(&notes, (struct yaml_place){1, "inner", "raw", YAML_NONE}, "x");
    yaml_wrong(&notes, (struct yaml_place){1, "list", NULL, YAML_NONE}, "z");
    yaml_warn(&notes, (struct yaml_place){0, "name", NULL, YAML_NONE}, "w");
    ok(found(10, "", "raw", "not that either") &&
           found(8, "y", "inner.raw", "x") && found(7, "y", "list", "z") &&
           found(6, "x", "name", "w") && notes.problems[9].warning,
       "what is found later has its line, or that of what encloses it");
    reads("count: 99\nraw: [\n");
    ok(!notes.whole, "a file that breaks off is not whole");
}

/* ---- Hostile files ------------------------------------------------------- */

static bool refused(const char *says)
{
    return notes.wrong && notes.nproblems >= 1 &&
           strstr(notes.problems[notes.nproblems - 1].text, says) != NULL;
}

static void bytes_that_are_no_text(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *says;
    } rows[] = {
        {"raw: \xff\n", 7, "not UTF-8"},
        {"raw: \xc3", 6, "not UTF-8"},
        {"raw: \xed\xa0\x80\n", 9, "not UTF-8"},
        {"raw: \xc0\xaf\n", 8, "not UTF-8"},
        {"\xef\xbb\xbfraw: a\n", 10, "byte-order mark"},
        {"\xff\xfer\0a\0", 6, "not UTF-8"},
        {"raw: a\0b\n", 9, "not valid YAML"},
        {"raw\0: a\n", 8, "not valid YAML"},
        {"raw: \x07\n", 7, "not valid YAML"},
        {"\0", 1, "not valid YAML"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        read_as(&form, rows[i].bytes, rows[i].len);
        ok(refused(rows[i].says) && !notes.whole && got.raw == NULL,
           "bytes %zu: %s", i,
           notes.nproblems != 0 ? notes.problems[0].text : "none");
    }
}

/* n times a text after another, as a file. */
static void reads_many(const char *first, const char *again, size_t n)
{
    const size_t head = strlen(first), each = strlen(again);
    char *text = malloc(head + n * each + 1);

    memcpy(text, first, head);
    for (size_t i = 0; i < n; i++)
        memcpy(text + head + i * each, again, each);
    read_as(&form, text, head + n * each);
    free(text);
}

static void deep_and_huge(void)
{
    static const char *const deep[] = {"[", "{a: ", "- ", "? "};
    char *text = malloc(4200);

    for (size_t i = 0; i < sizeof deep / sizeof deep[0]; i++) {
        reads_many("nothing:\n ", deep[i], 50000);
        ok(notes.wrong && !notes.whole && notes.nproblems <= 3,
           "fifty thousand times '%s' are refused: %s", deep[i],
           notes.problems[notes.nproblems - 1].text);
    }
    reads("nothing: [[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]\n");
    ok(eq_u64(notes.nproblems, 1) && notes.whole,
       "sixteen deep is passed over");
    reads("nothing: [[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]\n");
    ok(refused("nested too deeply"), "seventeen deep is not");
    memset(text, 'x', 4200);
    memcpy(text, "raw: ", 5);
    read_as(&form, text, 5 + 4096);
    ok(!notes.wrong && eq_u64(strlen(got.raw), 4096), "a text of 4096 bytes");
    read_as(&form, text, 5 + 4097);
    ok(refused("longer than 4096 bytes") && got.raw == NULL, "is the longest");
    free(text);
    reads_many("", "unknown_thing: 1\n", 1000);
    ok(notes.wrong && eq_u64(notes.nproblems, YAML_PROBLEMS_MAX),
       "of a thousand mistakes two hundred are listed");
}

/* Every beginning of a sound file: read, or refused with a line of it. */
static void cut_short(void)
{
    static const char text[] = "raw: 'a b'\nlist: [x, \"y\"]\nitems:\n"
                               "  - {name: one, inner: {raw: |-}}\n"
                               "  - name: two # that\n    list:\n    - z\n";
    size_t broken = 0;
    bool sound = true;

    for (size_t len = 0; len < sizeof text; len++) {
        uint32_t lines = 1;

        for (size_t i = 0; i < len; i++)
            lines += text[i] == '\n';
        read_as(&form, text, len);
        broken += !notes.whole;
        sound &= notes.whole || notes.wrong;
        for (size_t i = 0; i < notes.nproblems; i++)
            sound &= notes.problems[i].line <= lines;
    }
    ok(sound && broken > 10, "a file that is cut anywhere: %zu are broken",
       broken);
}

static void messages_are_tame(void)
{
    reads(
        "\"a\\e[31m\\u202e\": 1\nitems:\n- name: \"\\e]0;x\\a\"\n  lits: 1\n");
    ok(eq_u64(notes.nproblems, 2) &&
           strstr(notes.problems[0].text, "'a?[31m?"
                                          "?"
                                          "?'") != NULL &&
           eq_text(notes.problems[1].task, "?]0;x?"),
       "text of a file does not steer a terminal: %s", notes.problems[0].text);
}

/* ---- Aliases, where a form has them -------------------------------------- */

static void aliases_of_scalars(void)
{
    struct yaml_form loose = form;
    static const char good[] = "raw: &a !!str x\nlist: [*a, &a y, *a]\n"
                               "inner: &m\n  raw: *a\n";
    static const char odd[] = "inner: &m {raw: x}\nitems: [{name: *n}, *m]\n";

    loose.aliases = true;
    read_as(&loose, good, sizeof good - 1);
    ok(!notes.wrong && same(got.list[0], "x") && same(got.list[2], "y") &&
           same(got.inner->raw, "y"),
       "stand for the last scalar of their name");
    read_as(&loose, odd, sizeof odd - 1);
    ok(eq_u64(notes.nproblems, 2) && found(2, "1", "name", "aliases") &&
           found(2, "2", "", "aliases"),
       "and for nothing else: nothing is ever expanded");
}

int main(void)
{
    values_come_to_their_places();
    defaults_and_settings();
    mistakes_have_a_line_and_a_field();
    all_are_listed_at_once();
    bytes_that_are_no_text();
    deep_and_huge();
    cut_short();
    messages_are_tame();
    aliases_of_scalars();
    forget();
    return tap_done();
}
