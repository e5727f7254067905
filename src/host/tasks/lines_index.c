/*
 * lines_index.c - where everything in a task file stands, by libyaml.
 *
 * The events of the file are followed along libcyaml's schema. What has another
 * shape is complained of with its line: unknown and double keys, a list where a
 * word should be, aliases, anchors, tags, a second document. The recursion is
 * as deep as the schema; what lies deeper is skipped without it. Nothing is
 * ever expanded, so a small file stays small.
 */
#include "host/tasks/tasks.h"

#include "lib/bits/utf8.h"

#include <string.h>
#include <yaml.h>

#define LINES_DEPTH 16u /* of what is skipped */

struct lines_reader {
    hsy_tasks *tasks;
    const struct tasks_form *form;
    yaml_parser_t parser;
    yaml_event_t event; /* the one to look at */
    uint32_t last;      /* line of the file */
    bool stopped;       /* the file cannot be read on */
};

/* From 1 on. What libyaml finds missing at the end it puts past the end. */
static uint32_t lines_number(const struct lines_reader *r,
                             const yaml_mark_t *mark)
{
    return mark->line < r->last ? (uint32_t)mark->line + 1 : r->last;
}

static uint32_t lines_now(const struct lines_reader *r)
{
    return lines_number(r, &r->event.start_mark);
}

/* What libyaml says, with the mark it says it about. */
static void lines_broken(struct lines_reader *r)
{
    const struct tasks_place file = {.task = TASKS_NONE, .item = TASKS_NONE};
    const yaml_parser_t *p = &r->parser;

    r->stopped = true;
    if (p->error == YAML_MEMORY_ERROR) {
        r->tasks->nomem = true;
        return;
    }
    tasks_wrong_line(r->tasks, lines_number(r, &p->problem_mark), file,
                     "this is not YAML: %s; begin the keys of %s in one "
                     "column, indent with spaces, not tabs, and quote what is "
                     "no plain word",
                     p->problem != NULL ? p->problem : "it cannot be read",
                     r->form->column);
}

/* Move on to the next event. */
static void lines_next(struct lines_reader *r)
{
    if (r->stopped)
        return;
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event))
        lines_broken(r);
}

static bool lines_opens(const yaml_event_t *e)
{
    return e->type == YAML_MAPPING_START_EVENT ||
           e->type == YAML_SEQUENCE_START_EVENT;
}

static bool lines_closes(const yaml_event_t *e)
{
    return e->type == YAML_MAPPING_END_EVENT ||
           e->type == YAML_SEQUENCE_END_EVENT;
}

/* Past the node that begins here. */
static void lines_skip(struct lines_reader *r, struct tasks_place at)
{
    size_t depth = 0;

    do {
        if (lines_opens(&r->event) && ++depth > LINES_DEPTH) {
            tasks_wrong_line(r->tasks, lines_now(r), at, "nested too deeply");
            r->stopped = true;
        }
        if (lines_closes(&r->event))
            depth--;
        lines_next(r);
    } while (depth > 0 && !r->stopped);
}

/* Note that a place is on this line. */
static void lines_note(struct lines_reader *r, struct tasks_place at,
                       uint32_t line)
{
    hsy_tasks *t = r->tasks;
    struct tasks_line *grown =
        tasks_grow(t, t->lines, t->nlines, &t->lines_room, sizeof *grown);

    if (grown == NULL) {
        r->stopped = true;
        return;
    }
    t->lines = grown;
    if (at.key == NULL && at.task < HSY_TASKS_MAX)
        t->first[at.task] = t->nlines;
    t->lines[t->nlines++] = (struct tasks_line){.task = at.task,
                                                .item = at.item,
                                                .key = at.key,
                                                .sub = at.sub,
                                                .line = line};
}

/* What YAML offers and a task file has no use for; NULL: nothing. */
static const char *lines_fancy(const yaml_event_t *e)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (e->type == YAML_ALIAS_EVENT)
        return "aliases (*) are not allowed: write it out";
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
    }
    return anchor != NULL ? "anchors (&) are not allowed: write it out"
           : tag != NULL  ? "tags (!) are not allowed"
                          : NULL;
}

/* The event a type begins with, and its name. */
static const struct lines_type {
    enum cyaml_type type;
    yaml_event_type_t event;
    const char *wanted;
} lines_types[] = {
    {CYAML_STRING, YAML_SCALAR_EVENT, "this must be a plain value"},
    {CYAML_SEQUENCE, YAML_SEQUENCE_START_EVENT,
     "this must be a list: [a, b] or lines with '- '"},
    {CYAML_MAPPING, YAML_MAPPING_START_EVENT,
     "this must be 'key: value' pairs"},
};

/* Why the node that begins here is none of this type; NULL: it is one. */
static const char *lines_unfit(const yaml_event_t *e,
                               const cyaml_schema_value_t *schema)
{
    const char *wrong = lines_fancy(e);

    for (size_t i = 0; i < 3 && wrong == NULL; i++)
        if (lines_types[i].type == schema->type &&
            lines_types[i].event != e->type)
            wrong = lines_types[i].wanted;
    if (wrong == NULL && e->type == YAML_SCALAR_EVENT) {
        if (e->data.scalar.length > schema->string.max)
            wrong = "this is longer than 4096 bytes";
        else if (memchr(e->data.scalar.value, 0, e->data.scalar.length))
            wrong = "this holds a NUL";
    }
    return wrong;
}

static void lines_value(struct lines_reader *r,
                        const cyaml_schema_value_t *schema,
                        struct tasks_place at, uint32_t line);

/* The field of the key that stands here, after a complaint NULL. */
static const cyaml_schema_field_t *
lines_field(struct lines_reader *r, const cyaml_schema_field_t *fields,
            struct tasks_place at, uint64_t *seen)
{
    const char *wrong = lines_fancy(&r->event), *key, *near;
    size_t i = 0;

    if (r->event.type != YAML_SCALAR_EVENT || wrong != NULL) {
        tasks_wrong_line(r->tasks, lines_now(r), at, "%s",
                         wrong != NULL ? wrong : "a key must be a plain word");
        return NULL;
    }
    key = (const char *)r->event.data.scalar.value;
    while (fields[i].key != NULL && strcmp(fields[i].key, key) != 0)
        i++;
    near = tasks_nearest(key, fields);
    if (fields[i].key == NULL) {
        tasks_wrong_line(r->tasks, lines_now(r), at,
                         near != NULL ? "no such key: '%.32s'; did you mean "
                                        "'%s'?"
                                      : "no such key: '%.32s'; %s has them",
                         key, near != NULL ? near : r->form->page);
        r->tasks->mild++;
        return NULL;
    }
    if (*seen >> i & 1) {
        tasks_wrong_line(r->tasks, lines_now(r), at, "'%s' is given twice",
                         key);
        return NULL;
    }
    *seen |= (uint64_t)1 << i;
    return &fields[i];
}

static void lines_mapping(struct lines_reader *r,
                          const cyaml_schema_field_t *fields,
                          struct tasks_place at)
{
    uint64_t seen = 0;

    lines_next(r);
    while (!r->stopped && r->event.type != YAML_MAPPING_END_EVENT) {
        struct tasks_place inside = at;
        const cyaml_schema_field_t *field = lines_field(r, fields, at, &seen);
        const uint32_t line = lines_now(r);

        lines_skip(r, at); /* the key */
        if (field == NULL) {
            if (!r->stopped)
                lines_skip(r, at);
            continue;
        }
        if (at.key == NULL)
            inside.key = field->key;
        else
            inside.sub = field->key;
        lines_value(r, &field->value, inside, line);
    }
    lines_next(r);
}

/* The items of the list of tasks are tasks, of any other list its items. */
static void lines_sequence(struct lines_reader *r,
                           const cyaml_schema_value_t *schema,
                           struct tasks_place at)
{
    const bool tasks = schema->sequence.entry->type == CYAML_MAPPING;
    size_t count = 0;

    lines_next(r);
    while (!r->stopped && r->event.type != YAML_SEQUENCE_END_EVENT) {
        struct tasks_place inside = at;

        if (count == schema->sequence.max) {
            tasks_wrong_line(r->tasks, lines_now(r), at,
                             "this list has more than %u items",
                             schema->sequence.max);
            r->stopped = true;
        }
        if (tasks)
            inside = (struct tasks_place){.task = count, .item = TASKS_NONE};
        else
            inside.item = count;
        count++;
        lines_value(r, schema->sequence.entry, inside, lines_now(r));
    }
    lines_next(r);
}

/* A task's id, by which it is called from here on. */
static void lines_name(struct lines_reader *r, struct tasks_place at)
{
    if (at.task < HSY_TASKS_MAX && at.sub == NULL && at.item == TASKS_NONE &&
        strcmp(at.key, "id") == 0)
        snprintf(r->tasks->ids[at.task], sizeof r->tasks->ids[0], "%s",
                 (const char *)r->event.data.scalar.value);
}

/* A node of the schema, called for on this line. */
static void lines_value(struct lines_reader *r,
                        const cyaml_schema_value_t *schema,
                        struct tasks_place at, uint32_t line)
{
    const char *wrong;

    if (r->stopped)
        return;
    lines_note(r, at, line);
    wrong = lines_unfit(&r->event, schema);
    if (wrong != NULL) {
        tasks_wrong_line(r->tasks, line, at, "%s", wrong);
        r->tasks->mild += at.key != NULL && lines_fancy(&r->event) == NULL;
        lines_skip(r, at);
    } else if (schema->type == CYAML_MAPPING) {
        lines_mapping(r, schema->mapping.fields, at);
    } else if (schema->type == CYAML_SEQUENCE) {
        lines_sequence(r, schema, at);
    } else {
        lines_name(r, at);
        lines_next(r);
    }
}

static void lines_document(struct lines_reader *r)
{
    const struct tasks_place file = {.task = TASKS_NONE, .item = TASKS_NONE};

    lines_next(r); /* the stream */
    lines_next(r);
    if (!r->stopped && r->event.type == YAML_STREAM_END_EVENT) {
        tasks_wrong_line(r->tasks, 0, file, "the file is empty");
        return;
    }
    lines_next(r);
    lines_value(r, r->form->schema, file, lines_now(r));
    lines_next(r);
    if (!r->stopped && r->event.type != YAML_STREAM_END_EVENT)
        tasks_wrong_line(r->tasks, lines_now(r), file,
                         "a second document: one file has one");
}

/* libyaml would take UTF-16 and byte-order marks; people would not see them.
 * *lines: as libyaml counts them, a line that was begun included. */
static bool lines_utf8(hsy_tasks *t, uint32_t *lines, const uint8_t *text,
                       size_t len)
{
    const struct tasks_place file = {.task = TASKS_NONE, .item = TASKS_NONE};
    uint32_t line = 1, c = 0, before = 0;

    for (size_t at = 0, n; at < len; at += n, before = c) {
        n = utf8_one(&c, text + at, len - at);
        if (n == 0 || (at == 0 && c == 0xfeff)) {
            tasks_wrong_line(t, line, file,
                             n == 0 ? "the file is not UTF-8"
                                    : "the file begins with a byte-order "
                                      "mark: save it without");
            return false;
        }
        line += at + n < len && ((c == '\n' && before != '\r') || c == '\r' ||
                                 c == 0x85 || c == 0x2028 || c == 0x2029);
    }
    *lines = line;
    return true;
}

void tasks_index(hsy_tasks *t, const struct tasks_form *form,
                 const uint8_t *text, size_t len)
{
    struct lines_reader r = {.tasks = t, .form = form};

    if (!lines_utf8(t, &r.last, text, len))
        return;
    if (!yaml_parser_initialize(&r.parser)) {
        t->nomem = true;
        return;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, text, len);
    lines_document(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
}
