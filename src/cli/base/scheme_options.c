/* scheme_options.c - the scheme of a spec, or what the spec lacks. */
#include "cli/base/base.h"

#include <stdlib.h>

/* The same message with the option in the field's place. */
static void scheme_refused_field(const hsy_spec *spec, const hsy_error *err)
{
    const char *list = spec->labels != NULL ? "--values" : "--domain";
    const struct cli_field_option values = {
        HSY_FIELD_VALUES, spec->kind == HSY_KIND_BINS ? "--bins" : list};
    const bool asked =
        spec->kind == HSY_KIND_BINS || spec->kind == HSY_KIND_VALUES;

    cli_fail_option(err, &values, asked ? 1 : 0);
}

#define SCHEME_NAMES 64u

const char *cli_mechanism_meant(char room[CLI_MEANT], const char *name)
{
    const char *names[SCHEME_NAMES + 1] = {NULL};
    const hsy_catalogue *row;

    for (size_t i = 0; i < SCHEME_NAMES && (row = hsy_mechanism_at(i)); i++)
        names[i] = row->name;
    return cli_meant(room, name, names, "; 'hearsay mechanisms' lists them");
}

/* Say so if the mechanism does not take the question, and which it takes. */
static bool scheme_refused_kind(const hsy_spec *spec)
{
    static const char *const options[] = {
        [HSY_KIND_YES_NO] = "--yes-no",   [HSY_KIND_VALUES] = "--values",
        [HSY_KIND_NUMBER] = "--range",    [HSY_KIND_BINS] = "--range --bins",
        [HSY_KIND_STRINGS] = "--strings", [HSY_KIND_TUPLE] = "--attribute"};
    const hsy_catalogue *entry =
        spec->mechanism != NULL ? hsy_mechanism_named(spec->mechanism) : NULL;
    char list[96] = "";
    size_t at = 0;

    if (entry == NULL || (entry->kinds >> spec->kind & 1) != 0)
        return false;
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
        if (options[k] != NULL && (entry->kinds >> k & 1) != 0)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                                   at == 0 ? "" : ", ", options[k]);
    cli_note(
        "--mechanism %s does not support this kind of question; it supports %s",
        spec->mechanism, list);
    return true;
}

int cli_scheme_refused(const hsy_spec *spec, hsy_error *err)
{
    char meant[CLI_MEANT];

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->status == HSY_E_UNKNOWN && spec->mechanism != NULL &&
        err->field != HSY_FIELD_ORACLE)
        cli_note("--mechanism: %s%s", err->msg,
                 cli_mechanism_meant(meant, spec->mechanism));
    else if (err->field == HSY_FIELD_EPSILON)
        /* Its limit is in nano-epsilon. */
        cli_note("--epsilon: %s%s", err->msg,
                 spec->design != HSY_DESIGN_EPSILON
                     ? "; raise it, or change other parameters with --set"
                     : "");
    else if (!scheme_refused_kind(spec))
        scheme_refused_field(spec, err);
    return CLI_USAGE;
}

int cli_scheme_new(hsy_scheme **out, const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_error err = {0};

    if (s == NULL)
        return cli_fail_nomem();
    if (hsy_scheme_init(s, spec, &err) == HSY_OK) {
        *out = s;
        return 0;
    }
    free(s);
    return cli_scheme_refused(spec, &err);
}

int cli_scheme_curator(const char *mechanism)
{
    cli_note("--mechanism %s: this is a curator's release, not a report; use "
             "'hearsay release'",
             mechanism);
    return CLI_USAGE;
}

int cli_scheme_reports(const hsy_scheme *s)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    return info.central ? cli_scheme_curator(info.mechanism) : 0;
}
