/* file.c - the bytes of a file, and where it is. */
#define _POSIX_C_SOURCE 200809L

#include "host/yaml/yaml.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

static char *file_directory(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

hsy_status yaml_file(uint8_t **text, size_t *len, char **directory,
                     const char *path, hsy_error *err)
{
    hsy_status st = file_whole(text, len, path, YAML_FILE_MAX, err);

    if (st == HSY_E_RANGE)
        return host_fail_limit(err, st, HSY_FIELD_NONE,
                               "the file is longer than 16 MiB", YAML_FILE_MAX);
    if (st != HSY_OK || directory == NULL)
        return st;
    *directory = file_directory(path);
    if (*directory != NULL)
        return HSY_OK;
    free(*text);
    *text = NULL;
    return host_nomem(err);
}
