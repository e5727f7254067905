/* attributes.c - several attributes on the command line. */
#define _DEFAULT_SOURCE
#include "cli/base/attributes.h"

#include "host/format/spec_text.h"

#include <stdlib.h>
#include <string.h>

/* ---- --attribute NAME=KIND ----------------------------------------------- */

/* NAME? says that a field may be empty. */
static bool attributes_name(struct cli_column_spec *a, const char *text,
                            size_t len)
{
    a->none = len > 1 && text[len - 1] == '?';
    a->name_len = len - a->none;
    a->name = strndup(text, a->name_len);
    return a->name != NULL;
}

/*
 * yes-no, strings, @FILE, LO:HI, LO:HI/BINS, or a list A,B,C. A list has a
 * comma and a range a colon between two numbers, so a list of two times of day
 * is told from a range by its comma.
 */
static int attributes_kind(struct cli_column_spec *a, struct cli_parser *p)
{
    struct cli_spec *c = &a->spec;
    char *slash = strchr(a->kind, '/');

    if (strcmp(a->kind, "yes-no") == 0) {
        c->yes_no = !a->none;
        c->values = a->none ? "yes,no" : NULL;
    } else if (strcmp(a->kind, "strings") == 0) {
        c->strings = true;
    } else if (strcmp(a->kind, "@-") == 0) {
        return cli_usage(p,
                         "--attribute %s: a list cannot be read from standard "
                         "input; name a file",
                         a->name);
    } else if (a->kind[0] == '@') {
        c->values_file = a->kind + 1;
    } else if (strchr(a->kind, ',') != NULL) {
        c->values = a->kind;
    } else if (strchr(a->kind, ':') != NULL) {
        c->range = a->kind;
        c->has_bins = slash != NULL;
        if (slash != NULL)
            *slash = '\0';
        if (slash != NULL && (!cli_parse_count(&c->bins, slash + 1) ||
                              c->bins < 2 || c->bins > HSY_VALUES_MAX))
            return cli_usage(
                p, "--attribute %s: BINS of LO:HI/BINS must be from 2 to %u",
                a->name, HSY_VALUES_MAX);
    } else {
        return cli_usage(p,
                         "--attribute %s: KIND must be yes-no, A,B,C, @FILE, "
                         "LO:HI, LO:HI/BINS or strings",
                         a->name);
    }
    return 0;
}

static bool attributes_known(const struct cli_tuple *t, const char *name,
                             size_t len)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->columns[i].name_len == len &&
            memcmp(t->columns[i].name, name, len) == 0)
            return true;
    return false;
}

bool cli_tuple_add(struct cli_parser *p, void *to)
{
    struct cli_spec *c = to;
    const char *equals = strchr(p->value, '=');
    struct cli_column_spec *a;

    if (equals == NULL || equals == p->value || equals[1] == '\0') {
        cli_usage(p, "--attribute takes NAME=KIND, e.g. smoker=yes-no");
        return false;
    }
    if (c->tuple == NULL)
        c->tuple = calloc(1, sizeof *c->tuple);
    if (c->tuple == NULL) {
        p->exit = cli_fail_nomem();
        return false;
    }
    if (c->tuple->count == HSY_ATTRIBUTES_MAX) {
        cli_usage(p, "--attribute: at most %u attributes", HSY_ATTRIBUTES_MAX);
        return false;
    }
    a = &c->tuple->columns[c->tuple->count];
    a->kind = strdup(equals + 1);
    if (a->kind == NULL ||
        !attributes_name(a, p->value, (size_t)(equals - p->value))) {
        p->exit = cli_fail_nomem();
        return false;
    }
    if (attributes_known(c->tuple, a->name, a->name_len)) {
        cli_usage(p, "--attribute %s: given twice", a->name);
        return false;
    }
    c->tuple->count++;
    return attributes_kind(a, p) == 0;
}

/* ---- From attributes to a spec ------------------------------------------- */

/* Add the value "none". */
static int attributes_none(struct cli_column_spec *a, struct cli_parser *p)
{
    static const char none[12] = "none"; /* 8 bytes may be read beyond */
    struct labels *l = &a->spec.labels;
    hsy_error err = {0};

    if (l->d == 0)
        return cli_usage(p,
                         "--attribute %s?: only yes-no and lists of values may "
                         "have empty fields",
                         a->name);
    a->none_place = labels_find(l, (const uint8_t *)none, 4);
    if (a->none_place != l->d)
        return cli_usage(p,
                         "--attribute %s?: \"none\" stands for an empty field "
                         "and cannot be a value too; rename that value",
                         a->name);
    if (labels_add(l, none, 4, &err) != HSY_OK ||
        labels_index(l, &err) != HSY_OK)
        return err.status == HSY_E_NOMEM
                   ? cli_fail_nomem()
                   : cli_usage(p, "--attribute %s?: %s", a->name, err.msg);
    spec_text_labels(&a->spec.spec, l);
    return 0;
}

static int attributes_resolve(struct cli_column_spec *a,
                              const struct cli_spec *all, struct cli_parser *p)
{
    struct cli_spec *c = &a->spec;
    int failed;

    c->has_epsilon = true;
    c->spec.nano_epsilon = all->spec.nano_epsilon;
    c->other = all->other && (c->values != NULL || c->values_file != NULL);
    c->clip = all->clip && c->range != NULL;
    failed = cli_spec_finish(c, p);
    if (!failed && a->none)
        failed = attributes_none(a, p);
    if (!failed && cli_spec_trivial(c))
        failed = cli_usage(
            p, "--attribute %s: has only one value; list two or more", a->name);
    if (failed) /* what was said named no column */
        return failed;
    return cli_scheme_new(&a->scheme, &c->spec);
}

static int attributes_refused(const struct cli_column_spec *a,
                              const hsy_error *err)
{
    return cli_fail("--attribute %s: %s", a->name,
                    err->msg != NULL ? err->msg : hsy_strstatus(err->status));
}

/* The block: first its size, then itself. */
static int attributes_encode(struct cli_tuple *t)
{
    size_t room = 0, len = 0;

    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < t->count; i++) {
            const struct cli_column_spec *a = &t->columns[i];
            hsy_error err = {0};

            if (hsy_attribute_encode(t->block, room, turn == 0 ? &room : &len,
                                     &(hsy_attribute){.name = a->name,
                                                      .name_len = a->name_len,
                                                      .spec = a->spec.spec},
                                     &err) != HSY_OK)
                return attributes_refused(a, &err);
        }
        if (turn == 0)
            t->block = malloc(room);
        if (t->block == NULL)
            return cli_fail_nomem();
    }
    t->block_len = len;
    return 0;
}

static struct record_column attributes_column(const struct cli_column_spec *a)
{
    return (struct record_column){.name = a->name,
                                  .name_len = a->name_len,
                                  .none = a->none,
                                  .none_place = a->none_place,
                                  .coder = cli_coder(&a->spec, a->scheme)};
}

int cli_tuple_finish(struct cli_spec *c, struct cli_parser *p)
{
    struct cli_tuple *t = c->tuple;
    int failed = 0;

    if (t->count < 2)
        return cli_usage(p, "--attribute: give at least two attributes; for "
                            "one use --yes-no, --values or --range");
    for (size_t i = 0; i < t->count && !failed; i++)
        failed = attributes_resolve(&t->columns[i], c, p);
    if (!failed)
        failed = attributes_encode(t);
    if (failed)
        return failed;
    for (size_t i = 0; i < t->count; i++)
        t->records.columns[i] = attributes_column(&t->columns[i]);
    t->records.count = t->count;
    t->records.others = c->ignore_columns;
    if (records_open(&t->records, NULL) != HSY_OK)
        return cli_fail_nomem();
    c->spec.kind = HSY_KIND_TUPLE;
    c->spec.labels = t->block;
    c->spec.labels_len = t->block_len;
    return 0;
}

void cli_tuple_free(struct cli_tuple *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < HSY_ATTRIBUTES_MAX; i++) {
        free(t->columns[i].name);
        free(t->columns[i].kind);
        free(t->columns[i].scheme);
        cli_spec_clear(&t->columns[i].spec);
    }
    records_close(&t->records);
    free(t->block);
    free(t);
}
