/* serve.c - hearsay serve: the collector, its configuration, its tokens. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "host/base/day.h"

#include <stdlib.h>
#include <string.h>

/* ---- Settings ------------------------------------------------------------ */

static bool serve_set(struct cli_parser *p, struct serve_how *how,
                      const char *key, const char *value)
{
    if (how->nsettings == SERVE_SETTINGS) {
        cli_usage(p, "more than %u settings; use a hearsay.yaml",
                  SERVE_SETTINGS);
        return false;
    }
    how->settings[how->nsettings++] = (struct config_setting){key, value};
    return true;
}

bool serve_setting(struct cli_parser *p, void *to)
{
    return serve_set(p, to, p->name, p->value);
}

bool serve_public_key(struct cli_parser *p, void *to)
{
    return serve_set(p, to, "public_key", p->value);
}

bool serve_admin_open(struct cli_parser *p, void *to)
{
    return serve_set(p, to, "admin_open", "yes");
}

bool serve_set_pair(struct cli_parser *p, void *to)
{
    struct serve_how *how = to;
    char *pair = strdup(p->value);
    char *equals = pair != NULL ? strchr(pair, '=') : NULL;

    if (equals == NULL || how->npairs == SERVE_SETTINGS) {
        free(pair);
        cli_usage(p, "--set takes KEY=VALUE, e.g. grace_days=3");
        return false;
    }
    *equals = '\0';
    how->pairs[how->npairs++] = pair;
    return serve_set(p, how, pair, equals + 1);
}

void serve_how_clear(struct serve_how *how)
{
    for (size_t i = 0; i < how->npairs; i++)
        free(how->pairs[i]);
}

/* ---- The command --------------------------------------------------------- */

static const struct cli_option serve_options[] = {
    SERVE_ROWS(NULL, "data directory (created if missing)"), {0}};

/* Without options there is a file. */
static bool serve_said(struct serve_how *how)
{
    how->file = how->parser.operands[0];
    if (how->file == NULL && how->nsettings == 0)
        cli_usage(&how->parser, "missing configuration: give a hearsay.yaml, "
                                "or --data, --document and --public-key");
    return how->parser.exit == 0;
}

int serve_runs(void *to)
{
    return serve_said(to) ? serve_run(to) : CLI_USAGE;
}

int serve_checks(void *to)
{
    return serve_said(to) ? serve_check(to) : CLI_USAGE;
}

static const struct cli_verb serve_verbs[] = {
    {"", "[hearsay.yaml]", "[--data DIR --public-key FILE ...]",
     .run = serve_runs},
    {"check", "[hearsay.yaml]", "[options]", .run = serve_checks,
     .about = "Report every error in the configuration."},
    {"token", NULL, "add|list|revoke|expire|enrol|forwarder ...",
     .own = serve_token, .about = "Manage access tokens."},
    {0}};

static const struct cli_command serve_command = {
    "serve", NULL,
    "Run a collector: accept uploads from devices, count each exactly once, "
    "serve\nestimates. Options override the file. When ready, it prints one "
    "line with its\naddresses. SIGHUP reloads the files. SIGTERM finishes "
    "requests in progress and\nexits. 'check' reports every error in the "
    "configuration. 'token' manages access\ntokens for readers and uploads "
    "('hearsay serve token --help').",
    serve_options, .verbs = serve_verbs};

int cmd_serve(int argc, char **argv)
{
    struct serve_how how = {0};
    const int code = cli_run(&how.parser, &serve_command, argc, argv, &how);

    serve_how_clear(&how);
    return code;
}
