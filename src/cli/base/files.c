/* files.c - small files, whole: read into memory, written or not there. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"

#include "host/base/files.h"
#include "host/base/output.h"
#include "host/plot/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_read_file(uint8_t **bytes, size_t *len, const char *path, size_t most)
{
    switch (file_whole(bytes, len, path, most, NULL)) {
    case HSY_OK:
        return 0;
    case HSY_E_IO:
        return cli_fail("%s: %s", path, strerror(errno));
    case HSY_E_RANGE:
        return cli_fail("%s: longer than %zu MiB", path, most >> 20);
    default:
        return cli_fail_nomem();
    }
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

/* As SVG, or as PNG if the path says so. */
static hsy_status files_figure(struct output *out, const char *path,
                               const char *svg, size_t len, hsy_error *err)
{
    const size_t end = strlen(path);
    uint8_t *png = NULL;
    hsy_status st;

    if (end < 4 || strcmp(path + end - 4, ".png") != 0)
        return output_write(out, svg, len);
    st = plot_png(&png, &len, svg, len, err);
    if (st == HSY_OK)
        st = output_write(out, png, len);
    free(png);
    return st;
}

int cli_finish_figure(struct output *out, const char *path, hsy_status made,
                      struct cli_figure *f)
{
    if (made == HSY_OK)
        made = files_figure(out, path, f->svg, f->len, &f->err);
    free(f->svg);
    if (made != HSY_OK) {
        output_abort(out);
        return f->err.status != HSY_OK ? cli_fail_error("figure", &f->err)
                                       : cli_fail_output(path);
    }
    errno = 0;
    return output_commit(out) == HSY_OK ? CLI_DONE : cli_fail_output(path);
}

int cli_write_figure(const char *path, hsy_status made, struct cli_figure *f)
{
    struct output *out = NULL;
    int failed = made == HSY_OK ? cli_open_output(&out, path)
                                : cli_fail_error("figure", &f->err);

    if (!failed)
        return cli_finish_figure(out, path, made, f);
    free(f->svg);
    return failed;
}
