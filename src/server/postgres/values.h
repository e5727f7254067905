/* values.h - values on their way to a statement, one after another. */
#ifndef SERVER_POSTGRES_VALUES_H
#define SERVER_POSTGRES_VALUES_H

#include "server/postgres/postgres.h"

struct pg_params;

/* pg_put with the values of a list. */
hsy_status pg_put_list(struct pg_link *l, hsy_error *err, const char *sql,
                       const char *form, va_list values);

/* All that a form says (postgres.h): each by one of those that follow, which
 * copy it. */
void pg_values(struct pg_params *p, const char *form, va_list values);

void pg_int(struct pg_params *p, int32_t value);
void pg_long(struct pg_params *p, int64_t value);
void pg_bool(struct pg_params *p, bool value);
void pg_bytes(struct pg_params *p, const void *bytes, size_t len);
void pg_text(struct pg_params *p, const char *text);
void pg_null(struct pg_params *p);
void pg_longs(struct pg_params *p, const int64_t *values, size_t n);
void pg_ints(struct pg_params *p, const int32_t *values, size_t n);
void pg_marks(struct pg_params *p, const bool *values, size_t n);
void pg_items(struct pg_params *p, const void *items, size_t len, size_t n);
void pg_blobs(struct pg_params *p, const void *const *items, const size_t *lens,
              size_t n);

#endif
