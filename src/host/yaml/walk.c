/*
 * walk.c - a file along its table, by libyaml's events.
 *
 * The recursion is as deep as the table; what lies deeper is skipped without
 * it. libyaml itself reads deep nesting without recursion, so that a file of
 * brackets costs no more than its bytes.
 */
#define _POSIX_C_SOURCE 200809L

#include "host/yaml/yaml.h"

#include "lib/bits/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define WALK_ANCHORS 64u /* of a file that are kept */

/* A scalar that an alias may stand for; both owned. */
struct walk_anchor {
    char *name, *text;
};

struct walk_reader {
    struct yaml_notes *notes;
    const struct yaml_form *form;
    yaml_parser_t parser;
    yaml_event_t event; /* the one to look at */
    uint32_t last;      /* line of the file */
    bool stopped;       /* the file cannot be read on */
    struct walk_anchor anchors[WALK_ANCHORS];
    size_t nanchors;
};

/* From 1 on. What libyaml finds missing at the end it puts past the end. */
static uint32_t walk_number(const struct walk_reader *r,
                            const yaml_mark_t *mark)
{
    return mark->line < r->last ? (uint32_t)mark->line + 1 : r->last;
}

static uint32_t walk_now(const struct walk_reader *r)
{
    return walk_number(r, &r->event.start_mark);
}

static void walk_nomem(struct walk_reader *r)
{
    r->notes->nomem = true;
    r->stopped = true;
}

/* What libyaml says, with the mark it says it about. */
static void walk_broken(struct walk_reader *r)
{
    const yaml_parser_t *p = &r->parser;

    r->stopped = true;
    if (p->error == YAML_MEMORY_ERROR) {
        r->notes->nomem = true;
        return;
    }
    yaml_wrong_line(r->notes, walk_number(r, &p->problem_mark), yaml_key(NULL),
                    "this is not YAML: %s; begin the keys of %s in one "
                    "column, indent with spaces, not tabs, and quote what is "
                    "no plain word",
                    p->problem != NULL ? p->problem : "it cannot be read",
                    r->form->column);
}

/* ---- Anchors and aliases ------------------------------------------------- */

static void walk_forget(struct walk_reader *r)
{
    for (size_t i = 0; i < r->nanchors; i++) {
        free(r->anchors[i].name);
        free(r->anchors[i].text);
    }
}

/* Keep a scalar by its anchor, if it is one that a field could have. */
static void walk_remember(struct walk_reader *r)
{
    const char *name = (const char *)r->event.data.scalar.anchor;
    const char *text = (const char *)r->event.data.scalar.value;
    struct walk_anchor *a = &r->anchors[r->nanchors];

    if (name == NULL || r->nanchors == WALK_ANCHORS ||
        r->event.data.scalar.length > YAML_TEXT_MAX ||
        strlen(text) != r->event.data.scalar.length)
        return;
    *a = (struct walk_anchor){.name = strdup(name), .text = strdup(text)};
    r->nanchors++;
    if (a->name == NULL || a->text == NULL)
        walk_nomem(r);
}

/* The scalar that an alias stands for, in its place: the last of that name. If
 * there is none, it stays an alias. */
static void walk_resolve(struct walk_reader *r)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    const yaml_char_t *text;
    yaml_event_t scalar;
    size_t i = r->nanchors;

    while (i > 0 && strcmp(r->anchors[i - 1].name, name) != 0)
        i--;
    if (i == 0)
        return;
    text = (const yaml_char_t *)r->anchors[i - 1].text;
    if (!yaml_scalar_event_initialize(&scalar, NULL, NULL, text, -1, 1, 1,
                                      YAML_PLAIN_SCALAR_STYLE)) {
        walk_nomem(r);
        return;
    }
    scalar.start_mark = r->event.start_mark;
    scalar.end_mark = r->event.end_mark;
    yaml_event_delete(&r->event);
    r->event = scalar;
}

/* What YAML offers and the form has no use for; NULL: nothing. */
static const char *walk_fancy(const struct walk_reader *r)
{
    const yaml_event_t *e = &r->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (e->type == YAML_ALIAS_EVENT)
        return "aliases (*) are not allowed: write it out";
    if (r->form->aliases)
        return NULL;
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

/* ---- Events -------------------------------------------------------------- */

/* Move on to the next event. */
static void walk_next(struct walk_reader *r)
{
    if (r->stopped)
        return;
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event))
        walk_broken(r);
    else if (r->form->aliases && r->event.type == YAML_SCALAR_EVENT)
        walk_remember(r);
    else if (r->form->aliases && r->event.type == YAML_ALIAS_EVENT)
        walk_resolve(r);
}

static bool walk_opens(const yaml_event_t *e)
{
    return e->type == YAML_MAPPING_START_EVENT ||
           e->type == YAML_SEQUENCE_START_EVENT;
}

static bool walk_closes(const yaml_event_t *e)
{
    return e->type == YAML_MAPPING_END_EVENT ||
           e->type == YAML_SEQUENCE_END_EVENT;
}

/* Past the node that begins here. */
static void walk_skip(struct walk_reader *r, struct yaml_place at)
{
    size_t depth = 0;

    do {
        if (walk_opens(&r->event) && ++depth > YAML_DEPTH_MAX) {
            yaml_wrong_line(r->notes, walk_now(r), at, "nested too deeply");
            r->stopped = true;
        }
        if (walk_closes(&r->event))
            depth--;
        walk_next(r);
    } while (depth > 0 && !r->stopped);
}

/* Note that a place is on this line. */
static void walk_note(struct walk_reader *r, struct yaml_place at,
                      uint32_t line)
{
    struct yaml_notes *n = r->notes;
    struct yaml_line *grown =
        yaml_grow(n, n->lines, n->nlines, &n->lines_room, sizeof *grown);

    if (grown == NULL) {
        r->stopped = true;
        return;
    }
    n->lines = grown;
    n->lines[n->nlines++] = (struct yaml_line){.at = at, .line = line};
}

/* ---- Nodes --------------------------------------------------------------- */

/* What an event that begins no node of a type should be; NULL: it begins one.
 */
static const char *walk_shape(enum yaml_type type, yaml_event_type_t event)
{
    if (type == YAML_MAP)
        return event == YAML_MAPPING_START_EVENT
                   ? NULL
                   : "this must be 'key: value' pairs";
    if (type == YAML_LIST || type == YAML_MAPS)
        return event == YAML_SEQUENCE_START_EVENT
                   ? NULL
                   : "this must be a list: [a, b] or lines with '- '";
    return event == YAML_SCALAR_EVENT ? NULL : "this must be a plain value";
}

/* Why the node that begins here is none of this type; NULL: it is one. */
static const char *walk_unfit(const struct walk_reader *r, enum yaml_type type)
{
    const yaml_event_t *e = &r->event;
    const char *wrong = walk_fancy(r);

    if (wrong == NULL)
        wrong = walk_shape(type, e->type);
    if (wrong != NULL || e->type != YAML_SCALAR_EVENT)
        return wrong;
    if (e->data.scalar.length > YAML_TEXT_MAX)
        return "this is longer than 4096 bytes";
    return memchr(e->data.scalar.value, 0, e->data.scalar.length) != NULL
               ? "this holds a NUL"
               : NULL;
}

/* Whether the node that begins here, called for on this line, is of a type;
 * after a complaint it is skipped. */
static bool walk_begins(struct walk_reader *r, enum yaml_type type,
                        struct yaml_place at, uint32_t line)
{
    const char *wrong;

    if (!r->stopped)
        walk_note(r, at, line);
    if (r->stopped)
        return false;
    wrong = walk_unfit(r, type);
    if (wrong == NULL)
        return true;
    yaml_wrong_line(r->notes, line, at, "%s", wrong);
    walk_skip(r, at);
    return false;
}

static void walk_field(struct walk_reader *r, const struct yaml_field *f,
                       void *into, struct yaml_place at, uint32_t line);

/* ---- Mappings ------------------------------------------------------------ */

static void walk_unknown(struct walk_reader *r, const char *key,
                         const struct yaml_field *fields, struct yaml_place at)
{
    const char *near = yaml_nearest(key, fields);

    if (near != NULL)
        yaml_wrong_line(r->notes, walk_now(r), at,
                        "no such key: '%.32s'; did you mean '%s'?", key, near);
    else
        yaml_wrong_line(r->notes, walk_now(r), at, "no such key: '%.32s'; %s",
                        key, r->form->others);
}

/* The field of the key that stands here, after a complaint NULL. */
static const struct yaml_field *walk_key(struct walk_reader *r,
                                         const struct yaml_field *fields,
                                         struct yaml_place at, uint64_t *seen)
{
    const char *wrong = walk_fancy(r), *key;
    size_t i = 0;

    if (r->event.type != YAML_SCALAR_EVENT || wrong != NULL) {
        yaml_wrong_line(r->notes, walk_now(r), at, "%s",
                        wrong != NULL ? wrong : "a key must be a plain word");
        return NULL;
    }
    key = (const char *)r->event.data.scalar.value;
    while (fields[i].key != NULL && strcmp(fields[i].key, key) != 0)
        i++;
    if (fields[i].key == NULL) {
        walk_unknown(r, key, fields, at);
        return NULL;
    }
    if (*seen >> i & 1) {
        yaml_wrong_line(r->notes, walk_now(r), at, "'%s' is given twice", key);
        return NULL;
    }
    *seen |= (uint64_t)1 << i;
    return &fields[i];
}

/* The place of a field: in an entry or the file, or in a mapping of either. */
static struct yaml_place walk_inside(struct yaml_place at,
                                     const struct yaml_field *f)
{
    if (at.key == NULL)
        at.key = f->key;
    else
        at.sub = f->key;
    return at;
}

static void walk_missing(struct walk_reader *r, const struct yaml_field *fields,
                         struct yaml_place at, uint64_t seen)
{
    for (size_t i = 0; fields[i].key != NULL && !r->stopped; i++)
        if (fields[i].required && !(seen >> i & 1))
            yaml_wrong(r->notes, walk_inside(at, &fields[i]), "is missing");
}

static void walk_mapping(struct walk_reader *r, const struct yaml_map *map,
                         void *into, struct yaml_place at)
{
    uint64_t seen = 0;

    walk_next(r);
    while (!r->stopped && r->event.type != YAML_MAPPING_END_EVENT) {
        const struct yaml_field *f = walk_key(r, map->fields, at, &seen);
        const uint32_t line = walk_now(r);

        walk_skip(r, at); /* the key */
        if (f != NULL)
            walk_field(r, f, into, walk_inside(at, f), line);
        else if (!r->stopped)
            walk_skip(r, at);
    }
    walk_missing(r, map->fields, at, seen);
    walk_next(r);
}

/* ---- Lists --------------------------------------------------------------- */

/* Whether another item begins; too many stop it all. */
static bool walk_item(struct walk_reader *r, const struct yaml_field *f,
                      struct yaml_place at, size_t n)
{
    if (r->stopped || r->event.type == YAML_SEQUENCE_END_EVENT)
        return false;
    if (n < f->high)
        return true;
    yaml_wrong_line(r->notes, walk_now(r), at,
                    "this list has more than %u items", (unsigned)f->high);
    r->stopped = true;
    return false;
}

/* list has room for one more and its end. */
static void walk_list_text(struct walk_reader *r, char **list, size_t *used)
{
    list[*used] = strdup((const char *)r->event.data.scalar.value);
    if (list[*used] == NULL) {
        walk_nomem(r);
        return;
    }
    list[++*used] = NULL;
    walk_next(r);
}

/* What was in the field before goes; an empty list is one. */
static void walk_list(struct walk_reader *r, const struct yaml_field *f,
                      void *into, struct yaml_place at)
{
    char ***to = (char ***)((char *)into + f->at);
    size_t room = 0, used = 0;

    yaml_take(r->notes, f, into, "", at, 0);
    r->stopped |= r->notes->nomem;
    walk_next(r);
    for (size_t n = 0; walk_item(r, f, at, n); n++) {
        char **grown = yaml_grow(r->notes, *to, used + 1, &room, sizeof *grown);

        if (grown == NULL) {
            r->stopped = true;
            return;
        }
        *to = grown;
        at.item = n;
        if (walk_begins(r, YAML_RAW, at, walk_now(r)))
            walk_list_text(r, grown, &used);
    }
    walk_next(r);
}

/* One more struct, zeroed, at the end of an array; NULL: out of memory. */
static void *walk_entry(struct walk_reader *r, const struct yaml_field *f,
                        void *into, size_t *room)
{
    char **to = (char **)((char *)into + f->at), *grown;
    size_t *n = (size_t *)((char *)into + f->count);
    struct yaml_notes *notes = r->notes;
    struct yaml_entry *entries =
        yaml_grow(notes, notes->entries, notes->nentries, &notes->entries_room,
                  sizeof *entries);

    if (entries != NULL)
        notes->entries = entries;
    grown = yaml_grow(notes, *to, *n, room, f->map->size);
    if (grown != NULL)
        *to = grown;
    if (grown == NULL || entries == NULL) {
        r->stopped = true;
        return NULL;
    }
    notes->entries[notes->nentries++] =
        (struct yaml_entry){.first = notes->nlines};
    memset(grown + *n * f->map->size, 0, f->map->size);
    return grown + (*n)++ * f->map->size;
}

static void walk_entries(struct walk_reader *r, const struct yaml_field *f,
                         void *into)
{
    char **to = (char **)((char *)into + f->at);
    size_t room = 0;

    *to = malloc(1); /* an empty list is one */
    if (*to == NULL)
        walk_nomem(r);
    walk_next(r);
    for (size_t n = 0; walk_item(r, f, yaml_key(f->key), n); n++) {
        const struct yaml_place at = {n, NULL, NULL, YAML_NONE};
        void *entry = walk_entry(r, f, into, &room);

        if (entry != NULL && walk_begins(r, YAML_MAP, at, walk_now(r)))
            walk_mapping(r, f->map, entry, at);
    }
    walk_next(r);
}

/* ---- Fields -------------------------------------------------------------- */

/* An entry's name, by which it is called from here on. */
static void walk_name(struct walk_reader *r, struct yaml_place at,
                      const char *text)
{
    struct yaml_notes *n = r->notes;

    if (at.entry < n->nentries && at.sub == NULL && r->form->name != NULL &&
        strcmp(at.key, r->form->name) == 0)
        snprintf(n->entries[at.entry].name, sizeof n->entries[0].name, "%s",
                 text);
}

static void walk_map(struct walk_reader *r, const struct yaml_field *f,
                     void *into, struct yaml_place at)
{
    void **to = (void **)((char *)into + f->at);

    *to = calloc(1, f->map->size);
    if (*to == NULL)
        walk_nomem(r);
    else
        walk_mapping(r, f->map, *to, at);
}

/* A field whose key stands on this line. */
static void walk_field(struct walk_reader *r, const struct yaml_field *f,
                       void *into, struct yaml_place at, uint32_t line)
{
    const char *text;

    if (!walk_begins(r, f->type, at, line))
        return;
    if (f->type == YAML_MAP) {
        walk_map(r, f, into, at);
    } else if (f->type == YAML_LIST) {
        walk_list(r, f, into, at);
    } else if (f->type == YAML_MAPS) {
        walk_entries(r, f, into);
    } else {
        text = (const char *)r->event.data.scalar.value;
        walk_name(r, at, text);
        yaml_take(r->notes, f, into, text, at, line);
        walk_next(r);
    }
}

/* ---- A file -------------------------------------------------------------- */

static void walk_document(struct walk_reader *r, void *into)
{
    const struct yaml_place file = yaml_key(NULL);
    bool fits;

    walk_next(r); /* the stream */
    walk_next(r);
    if (!r->stopped && r->event.type == YAML_STREAM_END_EVENT) {
        yaml_wrong_line(r->notes, 0, file, "the file is empty");
        return;
    }
    walk_next(r);
    fits = walk_begins(r, YAML_MAP, file, walk_now(r));
    if (fits)
        walk_mapping(r, &r->form->map, into, file);
    walk_next(r);
    if (!r->stopped && r->event.type != YAML_STREAM_END_EVENT) {
        yaml_wrong_line(r->notes, walk_now(r), file,
                        "a second document: one file has one");
        r->stopped = true;
    }
    r->notes->whole = fits && !r->stopped;
}

/* libyaml would take UTF-16 and byte-order marks; people would not see them.
 * *lines: as libyaml counts them, a line that was begun included. */
static bool walk_utf8(struct yaml_notes *n, uint32_t *lines,
                      const uint8_t *text, size_t len)
{
    uint32_t line = 1, c = 0, before = 0;

    for (size_t at = 0, bytes; at < len; at += bytes, before = c) {
        bytes = utf8_one(&c, text + at, len - at);
        if (bytes == 0 || (at == 0 && c == 0xfeff)) {
            yaml_wrong_line(n, line, yaml_key(NULL),
                            bytes == 0 ? "the file is not UTF-8"
                                       : "the file begins with a byte-order "
                                         "mark: save it without");
            return false;
        }
        line +=
            at + bytes < len && ((c == '\n' && before != '\r') || c == '\r' ||
                                 c == 0x85 || c == 0x2028 || c == 0x2029);
    }
    *lines = line;
    return true;
}

void yaml_read(struct yaml_notes *n, const struct yaml_form *form, void *into,
               const uint8_t *text, size_t len)
{
    struct walk_reader r = {.notes = n, .form = form};

    if (!walk_utf8(n, &r.last, text, len))
        return;
    if (!yaml_parser_initialize(&r.parser)) {
        n->nomem = true;
        return;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, text, len);
    walk_document(&r, into);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    walk_forget(&r);
}
