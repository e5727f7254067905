/* ask.c - statements with their values, and what is made of those. */
#include "server/postgres/values.h"

#include <string.h>

void pg_values(struct pg_params *p, const char *form, va_list values)
{
    for (; *form != '\0'; form++) {
        const void *items = strchr("tbILMBV", *form) != NULL
                                ? va_arg(values, const void *)
                                : NULL;
        const size_t *lens =
            *form == 'V' ? va_arg(values, const size_t *) : NULL;
        const size_t len = *form == 'B' ? va_arg(values, size_t) : 0;
        const size_t n =
            strchr("bILMBV", *form) != NULL ? va_arg(values, size_t) : 0;

        switch (*form) {
        case 'i':
            pg_int(p, va_arg(values, int32_t));
            break;
        case 'l':
            pg_long(p, va_arg(values, int64_t));
            break;
        case 'o':
            pg_bool(p, va_arg(values, int) != 0);
            break;
        case 't':
            pg_text(p, items);
            break;
        case 'b':
            pg_bytes(p, items, n);
            break;
        case 'I':
            pg_ints(p, items, n);
            break;
        case 'L':
            pg_longs(p, items, n);
            break;
        case 'M':
            pg_marks(p, items, n);
            break;
        case 'B':
            pg_items(p, items, len, n);
            break;
        case 'V':
            pg_blobs(p, items, lens, n);
            break;
        default:
            pg_null(p);
        }
    }
}

hsy_status pg_put(struct pg_link *l, hsy_error *err, const char *sql,
                  const char *form, ...)
{
    va_list values;
    hsy_status st;

    va_start(values, form);
    st = pg_put_list(l, err, sql, form, values);
    va_end(values);
    return st;
}

hsy_status pg_ask_list(struct pg_link *l, struct pg_rows **rows, hsy_error *err,
                       const char *sql, const char *form, va_list values)
{
    struct pg_rows *got = NULL;
    hsy_status st = pg_put_list(l, err, sql, form, values), end;

    if (rows != NULL)
        *rows = NULL;
    if (st == HSY_OK)
        st = pg_turn(l, err);
    if (st == HSY_OK)
        st = pg_take(l, &got, err);
    if (st == HSY_OK || st == HSY_E_REFUSED) {
        end = pg_end(l, err);
        st = end != HSY_OK ? end : st;
    }
    if (st == HSY_OK && rows != NULL)
        *rows = got;
    else
        pg_rows_free(got);
    return st;
}

hsy_status pg_ask(struct pg_link *l, struct pg_rows **rows, hsy_error *err,
                  const char *sql, const char *form, ...)
{
    va_list values;
    hsy_status st;

    va_start(values, form);
    st = pg_ask_list(l, rows, err, sql, form, values);
    va_end(values);
    return st;
}

hsy_status pg_do(struct pg_link *l, const char *sql, hsy_error *err)
{
    return pg_ask(l, NULL, err, sql, "");
}

hsy_status pg_begin(struct pg_link *l, hsy_error *err)
{
    return pg_do(l, "begin", err);
}

hsy_status pg_begin_reading(struct pg_link *l, hsy_error *err)
{
    return pg_do(
        l, "begin transaction isolation level repeatable read read only", err);
}

hsy_status pg_finish(struct pg_link *l, hsy_status st, hsy_error *err)
{
    if (st == HSY_OK)
        return pg_commit(l, err);
    pg_rollback(l);
    return st;
}
