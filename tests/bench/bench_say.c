/* bench_say.c - messages, and schemes that fail with one. */
#include "bench/bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("hearsay-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void bench_nomem(void)
{
    bench_fail("out of memory");
}

bool bench_scheme_new(hsy_scheme **out, const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_error err = {0};

    if (s == NULL) {
        bench_nomem();
        return false;
    }
    if (hsy_scheme_init(s, spec, &err) == HSY_OK) {
        *out = s;
        return true;
    }
    free(s);
    bench_fail("%s: %s", spec->mechanism, err.msg);
    return false;
}

int bench_finish(void)
{
    if (ferror(stdout) == 0 && fflush(stdout) == 0)
        return BENCH_DONE;
    bench_fail("standard output: %s", strerror(errno));
    return BENCH_FAILED;
}
