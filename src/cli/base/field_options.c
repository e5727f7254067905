/* field_options.c - which option says a field of the library. */
#include "cli/base/base.h"
#include "host/format/spec_text.h"

#include <string.h>

static const struct cli_field_option option_usual[] = {
    {HSY_FIELD_CHANCE, "--set"},
    {HSY_FIELD_DESIGN, "--set"},
    {HSY_FIELD_MATRIX, "--set matrix"},
    {HSY_FIELD_MECHANISM, "--mechanism"},
    {HSY_FIELD_ALPHABET, "--alphabet"},
    {HSY_FIELD_ORACLE, "--oracle"},
    {HSY_FIELD_LABELS, "--values"},
    {HSY_FIELD_RANGE, "--range"},
    {HSY_FIELD_SCALE, "--range"},
    {HSY_FIELD_BINS, "--bins"},
    {HSY_FIELD_MAX_BITS, "--max-bits"},
    {HSY_FIELD_MAX_STEPS, "--max-steps"},
    {HSY_FIELD_ATTRIBUTE, "--attribute"},
    {HSY_FIELD_DELTA, "--delta"},
    {HSY_FIELD_EPSILON, "--epsilon"},
    {HSY_FIELD_EPSILON_REPORT, "--epsilon"},
    {HSY_FIELD_TARGETS, "--targets"},
    {HSY_FIELD_LYING, "--lying"},
    {HSY_FIELD_HELD, "--held"},
    {HSY_FIELD_GRAIN, "--grain"},
    {HSY_FIELD_TOP, "--top"},
    {HSY_FIELD_KEEP, "--keep"},
    {HSY_FIELD_ALPHA, "--alpha"},
    {HSY_FIELD_THRESHOLD, "--threshold"},
    {HSY_FIELD_MAX_CANDIDATES, "--max-candidates"},
    {HSY_FIELD_WORDS, "--words"},
    {HOST_FIELD_USERS, "--users"},
    {HSY_FIELD_GROUP, "--users"}};

static const char *option_find(const struct cli_field_option *rows, size_t n,
                               uint32_t field)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].field == field)
            return rows[i].option;
    return NULL;
}

const char *cli_option_of(char room[CLI_OPTION], uint32_t field,
                          const struct cli_field_option *own, size_t n)
{
    const char *name = hsy_field_name(field);
    const char *option = option_find(own, n, field);

    if (option == NULL && spec_text_param(name, strlen(name)) < HSY_PARAMS) {
        snprintf(room, CLI_OPTION, "--set %s", name);
        return room;
    }
    return option != NULL
               ? option
               : option_find(option_usual,
                             sizeof option_usual / sizeof option_usual[0],
                             field);
}

int cli_fail_option(const hsy_error *err, const struct cli_field_option *own,
                    size_t n)
{
    char room[CLI_OPTION];
    const char *option = cli_option_of(room, err->field, own, n);
    hsy_error said = *err;

    if (option != NULL)
        said.field = HSY_FIELD_NONE;
    return cli_fail_at(option, &said);
}
