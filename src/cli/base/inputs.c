/* inputs.c - files that a command is given: opened, named, read by line. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Standard input or output, as the case may be. */
static bool inputs_standard(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

const char *cli_input_name(const char *path)
{
    return inputs_standard(path) ? "standard input" : path;
}

const char *cli_output_path(const char *value)
{
    return inputs_standard(value) ? NULL : value;
}

int cli_check_inputs(struct cli_parser *p, const char *const *paths, size_t n)
{
    size_t uses = 0;

    for (size_t i = 0; i < n; i++)
        uses += paths[i] != NULL && inputs_standard(paths[i]);
    if (uses <= 1)
        return 0;
    return cli_usage(p, "standard input can be read only once; name a file for "
                        "the other input");
}

int cli_open_input(const char *path)
{
    int fd;

    if (inputs_standard(path))
        return STDIN_FILENO;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1)
        cli_fail("%s: %s", path, strerror(errno));
    return fd;
}

void cli_close_input(int fd)
{
    if (fd > STDIN_FILENO)
        close(fd);
}

/* ---- Read by line -------------------------------------------------------- */

int cli_fail_input(const char *name, const hsy_error *err)
{
    return err->status == HSY_E_NOMEM ? cli_fail_nomem()
                                      : cli_fail_line(name, err);
}

int cli_fail_read(hsy_status st, const char *path, const hsy_error *err)
{
    const char *name = cli_input_name(path);

    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st == HSY_E_IO)
        return cli_fail("%s: %s", name, strerror(errno));
    return err->at != 0 ? cli_fail_line(name, err) : cli_fail_error(name, err);
}

int cli_labels_read(struct labels *l, const char *path)
{
    int fd = cli_open_input(path);
    hsy_error err = {0};
    hsy_status st;

    if (fd == -1)
        return CLI_FAILED;
    st = labels_read(l, fd, &err);
    cli_close_input(fd);
    return st == HSY_OK ? 0 : cli_fail_input(cli_input_name(path), &err);
}

static int inputs_fail_matrix(const char *name, const struct matrix_wrong *w,
                              const hsy_error *err)
{
    if (w->field != 0 && err->limit != 0)
        return cli_fail("%s: line %zu, field %zu: a matrix has at most %u "
                        "states",
                        name, w->line, w->field, HSY_MATRIX_MAX);
    if (w->field != 0)
        return cli_fail("%s: line %zu, field %zu: %s", name, w->line, w->field,
                        err->msg);
    if (w->line != 0)
        return cli_fail("%s: line %zu: %zu fields, where the first line has "
                        "%zu",
                        name, w->line, w->fields, w->wanted);
    return cli_fail("%s: %zu lines of %zu fields: %s", name, w->lines,
                    w->fields, err->msg);
}

int cli_matrix_read(struct matrix_file *out, const char *path)
{
    const char *name = cli_input_name(path);
    int fd = cli_open_input(path);
    struct matrix_wrong wrong;
    hsy_error err = {0};
    hsy_status st;

    if (fd == -1)
        return CLI_FAILED;
    st = matrix_file_read(out, &wrong, fd, &err);
    cli_close_input(fd);
    if (st == HSY_OK)
        return 0;
    return st == HSY_E_FORMAT && err.at == 0
               ? inputs_fail_matrix(name, &wrong, &err)
               : cli_fail_input(name, &err);
}
