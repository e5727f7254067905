/* store_forget.c - hearsay store: what may be forgotten. */
#include "store_parts.h"

#include <inttypes.h>

int store_run_forget_nulls(const struct store_how *how)
{
    struct store_data d;
    hsy_error err = {0};
    uint64_t n = 0;
    int failed = store_open(&d, how->words[1]);

    if (!failed)
        failed = store_fold(&d);
    if (!failed && engine_forget_nulls(d.engine, how->day, &n, &err) != HSY_OK)
        failed = store_complain(d.directory, &err);
    if (!failed)
        printf("%" PRIu64 " ids of null uploads are forgotten\n", n);
    store_shut(&d);
    return failed ? failed : cli_finish();
}
