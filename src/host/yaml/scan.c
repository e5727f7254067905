/*
 * scan.c - libyaml's events, one at a time, with their lines.
 *
 * libyaml reads deep nesting without recursion, so that a file of brackets
 * costs no more than its bytes.
 */
#define _POSIX_C_SOURCE 200809L

#include "host/yaml/internal.h"

#include "lib/bits/utf8.h"

#include <stdlib.h>
#include <string.h>

/* From 1 on. What libyaml finds missing at the end it puts past the end. */
static uint32_t scan_number(const struct yaml_scan *r, const yaml_mark_t *mark)
{
    return mark->line < r->last ? (uint32_t)mark->line + 1 : r->last;
}

uint32_t yaml_scan_line(const struct yaml_scan *r)
{
    return scan_number(r, &r->event.start_mark);
}

void yaml_scan_nomem(struct yaml_scan *r)
{
    r->notes->nomem = true;
    r->stopped = true;
}

/* What libyaml says, with the mark it says it about. */
static void scan_broken(struct yaml_scan *r)
{
    const yaml_parser_t *p = &r->parser;

    r->stopped = true;
    if (p->error == YAML_MEMORY_ERROR) {
        r->notes->nomem = true;
        return;
    }
    yaml_wrong_line(r->notes, scan_number(r, &p->problem_mark), yaml_key(NULL),
                    "not valid YAML: %s; begin the keys of %s in one column, "
                    "indent with spaces, not tabs, and quote values with "
                    "special characters",
                    p->problem != NULL ? p->problem : "it cannot be read",
                    r->form->column);
}

/* ---- Anchors and aliases ------------------------------------------------- */

static void scan_forget(struct yaml_scan *r)
{
    for (size_t i = 0; i < r->nanchors; i++) {
        free(r->anchors[i].name);
        free(r->anchors[i].text);
    }
}

/* Keep a scalar by its anchor, if it is one that a field could have. */
static void scan_remember(struct yaml_scan *r)
{
    const char *name = (const char *)r->event.data.scalar.anchor;
    const char *text = (const char *)r->event.data.scalar.value;
    struct yaml_anchor *a = &r->anchors[r->nanchors];

    if (name == NULL || r->nanchors == SCAN_ANCHORS ||
        r->event.data.scalar.length > YAML_TEXT_MAX ||
        strlen(text) != r->event.data.scalar.length)
        return;
    *a = (struct yaml_anchor){.name = strdup(name), .text = strdup(text)};
    r->nanchors++;
    if (a->name == NULL || a->text == NULL)
        yaml_scan_nomem(r);
}

/* The scalar that an alias stands for, in its place: the last of that name. If
 * there is none, it stays an alias. */
static void scan_resolve(struct yaml_scan *r)
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
        yaml_scan_nomem(r);
        return;
    }
    scalar.start_mark = r->event.start_mark;
    scalar.end_mark = r->event.end_mark;
    yaml_event_delete(&r->event);
    r->event = scalar;
}

const char *yaml_scan_fancy(const struct yaml_scan *r)
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

void yaml_scan_next(struct yaml_scan *r)
{
    if (r->stopped)
        return;
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event))
        scan_broken(r);
    else if (r->form->aliases && r->event.type == YAML_SCALAR_EVENT)
        scan_remember(r);
    else if (r->form->aliases && r->event.type == YAML_ALIAS_EVENT)
        scan_resolve(r);
}

static bool scan_opens(const yaml_event_t *e)
{
    return e->type == YAML_MAPPING_START_EVENT ||
           e->type == YAML_SEQUENCE_START_EVENT;
}

static bool scan_closes(const yaml_event_t *e)
{
    return e->type == YAML_MAPPING_END_EVENT ||
           e->type == YAML_SEQUENCE_END_EVENT;
}

void yaml_scan_skip(struct yaml_scan *r, struct yaml_place at)
{
    size_t depth = 0;

    do {
        if (scan_opens(&r->event) && ++depth > YAML_DEPTH_MAX) {
            yaml_wrong_line(r->notes, yaml_scan_line(r), at,
                            "nested too deeply");
            r->stopped = true;
        }
        if (scan_closes(&r->event))
            depth--;
        yaml_scan_next(r);
    } while (depth > 0 && !r->stopped);
}

/* ---- A file -------------------------------------------------------------- */

/* libyaml would take UTF-16 and byte-order marks; people would not see them.
 * *lines: as libyaml counts them, a line that was begun included. */
static bool scan_utf8(struct yaml_notes *n, uint32_t *lines,
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

bool yaml_scan_open(struct yaml_scan *r, const uint8_t *text, size_t len)
{
    if (!scan_utf8(r->notes, &r->last, text, len))
        return false;
    if (!yaml_parser_initialize(&r->parser)) {
        r->notes->nomem = true;
        return false;
    }
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, text, len);
    return true;
}

void yaml_scan_close(struct yaml_scan *r)
{
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    scan_forget(r);
}
