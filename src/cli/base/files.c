/* files.c - small files, whole: read into memory, written or not there. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"

#include "host/base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_read_file(uint8_t **bytes, size_t *len, const char *path, size_t most)
{
    FILE *f = fopen(path, "rbe");
    size_t room = 0, used = 0;
    uint8_t *all = NULL;
    int failed = f == NULL ? cli_fail("%s: %s", path, strerror(errno)) : 0;

    while (!failed && used == room) {
        uint8_t *grown = realloc(all, 2 * room + 65536);

        if (grown == NULL) {
            failed = cli_fail_nomem();
            break;
        }
        all = grown;
        room = 2 * room + 65536;
        used += fread(all + used, 1, room - used, f);
        if (ferror(f))
            failed = cli_fail("%s: %s", path, strerror(errno));
        else if (used > most)
            failed = cli_fail("%s: longer than %zu MiB", path, most >> 20);
    }
    if (f != NULL)
        fclose(f);
    if (failed) {
        free(all);
        return failed;
    }
    *bytes = all;
    *len = used;
    return 0;
}

int cli_open_output(struct output **out, const char *path)
{
    hsy_status st;

    errno = 0;
    st = output_open(out, path);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : cli_fail_output(path);
}

int cli_write_file(const char *path, const void *bytes, size_t len)
{
    struct output *out = NULL;
    int failed = cli_open_output(&out, path);

    if (failed)
        return failed;
    if (len != 0)
        output_write(out, bytes, len); /* commit says whether it failed */
    return output_commit(out) == HSY_OK ? 0 : cli_fail_output(path);
}

int cli_finish_figure(struct output *out, const char *path, hsy_status made,
                      char *svg, size_t len, const hsy_error *err)
{
    if (made == HSY_OK)
        made = output_write(out, svg, len);
    free(svg);
    if (made != HSY_OK) {
        output_abort(out);
        return err->status != HSY_OK ? cli_fail_error("figure", err)
                                     : cli_fail_output(path);
    }
    errno = 0;
    return output_commit(out) == HSY_OK ? CLI_DONE : cli_fail_output(path);
}

int cli_write_figure(const char *path, hsy_status made, char *svg, size_t len,
                     const hsy_error *err)
{
    struct output *out = NULL;
    int failed = made == HSY_OK ? cli_open_output(&out, path)
                                : cli_fail_error("figure", err);

    if (!failed)
        return cli_finish_figure(out, path, made, svg, len, err);
    free(svg);
    return failed;
}
