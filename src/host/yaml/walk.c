/*
 * walk.c - a file along its table, by libyaml's events.
 *
 * The recursion is as deep as the table; what lies deeper is skipped without
 * it.
 */
#define _POSIX_C_SOURCE 200809L

#include "host/yaml/internal.h"

#include <stdlib.h>
#include <string.h>

/* Note that a place is on this line. */
static void walk_note(struct yaml_scan *r, struct yaml_place at, uint32_t line)
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
        return event == YAML_MAPPING_START_EVENT ? NULL
                                                 : "must be 'key: value' pairs";
    if (type == YAML_LIST || type == YAML_MAPS)
        return event == YAML_SEQUENCE_START_EVENT
                   ? NULL
                   : "must be a list: [a, b] or lines with '- '";
    return event == YAML_SCALAR_EVENT ? NULL : "must be a plain value";
}

/* Why the node that begins here is none of this type; NULL: it is one. */
static const char *walk_unfit(const struct yaml_scan *r, enum yaml_type type)
{
    const yaml_event_t *e = &r->event;
    const char *wrong = yaml_scan_fancy(r);

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
static bool walk_begins(struct yaml_scan *r, enum yaml_type type,
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
    yaml_scan_skip(r, at);
    return false;
}

static void walk_field(struct yaml_scan *r, const struct yaml_field *f,
                       void *into, struct yaml_place at, uint32_t line);

/* ---- Mappings ------------------------------------------------------------ */

static bool walk_has(const struct yaml_field *fields, const char *key)
{
    while (fields->key != NULL && strcmp(fields->key, key) != 0)
        fields++;
    return fields->key != NULL;
}

/* The field below which a key is known; NULL: none. */
static const struct yaml_field *walk_above(const struct yaml_map *map,
                                           const char *key)
{
    const struct yaml_field *found = NULL;

    for (const struct yaml_field *f = map->fields;
         f->key != NULL && found == NULL; f++)
        if (f->map != NULL)
            found = walk_has(f->map->fields, key) ? f : walk_above(f->map, key);
    return found;
}

/* Whether a key is right in another file: say in which, and where. */
static bool walk_kin(struct yaml_scan *r, const char *key, struct yaml_place at)
{
    for (const struct yaml_kin *k = r->form->kin; k != NULL && k->file != NULL;
         k++) {
        const struct yaml_field *above =
            k->map != NULL ? walk_above(k->map, key) : NULL;
        const char *list =
            above != NULL && above->type == YAML_MAPS ? "an entry of " : "";

        if (k->map != NULL ? above == NULL && !walk_has(k->map->fields, key)
                           : !yaml_listed(key, k->keys))
            continue;
        if (above != NULL)
            yaml_wrong_line(r->notes, yaml_scan_line(r), at,
                            "'%s' does not belong in this file: move it into "
                            "%s'%s' of %s",
                            key, list, above->key, k->file);
        else
            yaml_wrong_line(
                r->notes, yaml_scan_line(r), at,
                "'%s' does not belong in this file: move it into %s", key,
                k->file);
        return true;
    }
    return false;
}

/* A key that is right elsewhere was put into the wrong place; another one is
 * perhaps misspelled. */
static void walk_unknown(struct yaml_scan *r, const char *key,
                         const struct yaml_field *fields, struct yaml_place at)
{
    const struct yaml_field *above = walk_above(&r->form->map, key);
    const char *near = yaml_nearest(key, fields);
    const uint32_t line = yaml_scan_line(r);

    if (walk_has(r->form->map.fields, key))
        yaml_wrong_line(r->notes, line, at,
                        "'%s' does not belong here: move it to the top level "
                        "of the file, without indentation",
                        key);
    else if (above != NULL)
        yaml_wrong_line(r->notes, line, at,
                        "'%s' does not belong here: move it into %s'%s'", key,
                        above->type == YAML_MAPS ? "an entry of " : "",
                        above->key);
    else if (walk_kin(r, key, at))
        return;
    else if (near != NULL)
        yaml_wrong_line(r->notes, line, at,
                        "unknown key '%.32s'; did you mean '%s'?", key, near);
    else
        yaml_wrong_line(r->notes, line, at, "unknown key '%.32s'; %s", key,
                        r->form->others);
}

/* The field of the key that stands here, after a complaint NULL. */
static const struct yaml_field *walk_key(struct yaml_scan *r,
                                         const struct yaml_field *fields,
                                         struct yaml_place at, uint64_t *seen)
{
    const char *wrong = yaml_scan_fancy(r), *key;
    size_t i = 0;

    if (r->event.type != YAML_SCALAR_EVENT || wrong != NULL) {
        yaml_wrong_line(r->notes, yaml_scan_line(r), at, "%s",
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
        yaml_wrong_line(r->notes, yaml_scan_line(r), at, "'%s' is given twice",
                        key);
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

static void walk_missing(struct yaml_scan *r, const struct yaml_field *fields,
                         struct yaml_place at, uint64_t seen)
{
    for (size_t i = 0; fields[i].key != NULL && !r->stopped; i++)
        if (fields[i].required && !(seen >> i & 1))
            yaml_wrong(r->notes, walk_inside(at, &fields[i]), "is missing");
}

static void walk_mapping(struct yaml_scan *r, const struct yaml_map *map,
                         void *into, struct yaml_place at)
{
    uint64_t seen = 0;

    yaml_scan_next(r);
    while (!r->stopped && r->event.type != YAML_MAPPING_END_EVENT) {
        const struct yaml_field *f = walk_key(r, map->fields, at, &seen);
        const uint32_t line = yaml_scan_line(r);

        yaml_scan_skip(r, at); /* the key */
        if (f != NULL)
            walk_field(r, f, into, walk_inside(at, f), line);
        else if (!r->stopped)
            yaml_scan_skip(r, at);
    }
    walk_missing(r, map->fields, at, seen);
    yaml_scan_next(r);
}

/* ---- Lists --------------------------------------------------------------- */

/* Whether another item begins; too many stop it all. */
static bool walk_item(struct yaml_scan *r, const struct yaml_field *f,
                      struct yaml_place at, size_t n)
{
    if (r->stopped || r->event.type == YAML_SEQUENCE_END_EVENT)
        return false;
    if (n < f->high)
        return true;
    yaml_wrong_line(r->notes, yaml_scan_line(r), at,
                    "this list has more than %u items", (unsigned)f->high);
    r->stopped = true;
    return false;
}

/* list has room for one more and its end. */
static void walk_list_text(struct yaml_scan *r, const struct yaml_field *f,
                           char **list, size_t *used)
{
    const char *text = (const char *)r->event.data.scalar.value;

    list[*used] = f->paths ? yaml_path(r->notes, text) : strdup(text);
    if (list[*used] == NULL) {
        yaml_scan_nomem(r);
        return;
    }
    list[++*used] = NULL;
    yaml_scan_next(r);
}

/* What was in the field before goes; an empty list is one. */
static void walk_list(struct yaml_scan *r, const struct yaml_field *f,
                      void *into, struct yaml_place at)
{
    char ***to = (char ***)((char *)into + f->at);
    size_t room = 0, used = 0;

    yaml_take(r->notes, f, into, "", at, 0);
    r->stopped |= r->notes->nomem;
    yaml_scan_next(r);
    for (size_t n = 0; walk_item(r, f, at, n); n++) {
        char **grown = yaml_grow(r->notes, *to, used + 1, &room, sizeof *grown);

        if (grown == NULL) {
            r->stopped = true;
            return;
        }
        *to = grown;
        at.item = n;
        if (walk_begins(r, YAML_RAW, at, yaml_scan_line(r)))
            walk_list_text(r, f, grown, &used);
    }
    yaml_scan_next(r);
}

/* One more struct, zeroed, at the end of an array; NULL: out of memory. */
static void *walk_entry(struct yaml_scan *r, const struct yaml_field *f,
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

static void walk_entries(struct yaml_scan *r, const struct yaml_field *f,
                         void *into)
{
    char **to = (char **)((char *)into + f->at);
    size_t room = 0;

    *to = malloc(1); /* an empty list is one */
    if (*to == NULL)
        yaml_scan_nomem(r);
    yaml_scan_next(r);
    for (size_t n = 0; walk_item(r, f, yaml_key(f->key), n); n++) {
        const struct yaml_place at = {n, NULL, NULL, YAML_NONE};
        void *entry = walk_entry(r, f, into, &room);

        if (entry != NULL && walk_begins(r, YAML_MAP, at, yaml_scan_line(r)))
            walk_mapping(r, f->map, entry, at);
    }
    yaml_scan_next(r);
}

/* ---- Fields -------------------------------------------------------------- */

/* An entry's name, by which it is called from here on. */
static void walk_name(struct yaml_scan *r, struct yaml_place at,
                      const char *text)
{
    struct yaml_notes *n = r->notes;

    if (at.entry < n->nentries && at.sub == NULL && r->form->name != NULL &&
        strcmp(at.key, r->form->name) == 0)
        snprintf(n->entries[at.entry].name, sizeof n->entries[0].name, "%s",
                 text);
}

static void walk_map(struct yaml_scan *r, const struct yaml_field *f,
                     void *into, struct yaml_place at)
{
    void **to = (void **)((char *)into + f->at);

    *to = calloc(1, f->map->size);
    if (*to == NULL)
        yaml_scan_nomem(r);
    else
        walk_mapping(r, f->map, *to, at);
}

/* A field whose key stands on this line. */
static void walk_field(struct yaml_scan *r, const struct yaml_field *f,
                       void *into, struct yaml_place at, uint32_t line)
{
    const bool plain =
        f->one && !r->stopped && r->event.type == YAML_SCALAR_EVENT;
    const char *text;

    if (!walk_begins(r, plain ? YAML_TEXT : f->type, at, line))
        return;
    if (f->type == YAML_MAP) {
        walk_map(r, f, into, at);
    } else if (f->type == YAML_LIST && !plain) {
        walk_list(r, f, into, at);
    } else if (f->type == YAML_MAPS) {
        walk_entries(r, f, into);
    } else {
        text = (const char *)r->event.data.scalar.value;
        walk_name(r, at, text);
        yaml_take(r->notes, f, into, text, at, line);
        yaml_scan_next(r);
    }
}

/* ---- A file -------------------------------------------------------------- */

static void walk_document(struct yaml_scan *r, void *into)
{
    const struct yaml_place file = yaml_key(NULL);
    bool fits;

    yaml_scan_next(r); /* the stream */
    yaml_scan_next(r);
    if (!r->stopped && r->event.type == YAML_STREAM_END_EVENT) {
        yaml_wrong_line(r->notes, 0, file, "the file is empty");
        return;
    }
    yaml_scan_next(r);
    fits = walk_begins(r, YAML_MAP, file, yaml_scan_line(r));
    if (fits)
        walk_mapping(r, &r->form->map, into, file);
    yaml_scan_next(r);
    if (!r->stopped && r->event.type != YAML_STREAM_END_EVENT) {
        yaml_wrong_line(r->notes, yaml_scan_line(r), file,
                        "a second document: one file has one");
        r->stopped = true;
    }
    r->notes->whole = fits && !r->stopped;
}

void yaml_read(struct yaml_notes *n, const struct yaml_form *form, void *into,
               const uint8_t *text, size_t len)
{
    struct yaml_scan r = {.notes = n, .form = form};

    if (!yaml_scan_open(&r, text, len))
        return;
    walk_document(&r, into);
    yaml_scan_close(&r);
}
