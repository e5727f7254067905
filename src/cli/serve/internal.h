/* internal.h - what the files of hearsay serve share. */
#ifndef CLI_SERVE_INTERNAL_H
#define CLI_SERVE_INTERNAL_H

#include "cli/base/base.h"

#include "server/collector/serve.h"

#define SERVE_SETTINGS 64u

struct serve_how {
    bool shuffles;    /* 'hearsay shuffle': the file is a shuffler's */
    const char *file; /* hearsay.yaml, NULL: none */
    struct config_setting settings[SERVE_SETTINGS];
    size_t nsettings;
    char *pairs[SERVE_SETTINGS]; /* owned; what --set took apart */
    size_t npairs;

    bool accept_clock;
    struct cli_parser parser; /* for complaints about the arguments */
};

/* ---- What an option sets, for both commands (serve.c): `to` is how ------- */

bool serve_setting(struct cli_parser *p, void *to); /* the key of its name */
bool serve_public_key(struct cli_parser *p, void *to);
bool serve_admin_open(struct cli_parser *p, void *to);
bool serve_set_pair(struct cli_parser *p, void *to);
void serve_how_clear(struct serve_how *how);

/* The options of whoever serves; data: what --data is for. */
#define SERVE_ROWS(of, kept)                                                   \
    {"data", "DIR", kept, CLI_INTO_CALL, .call = serve_setting, .verbs = of},  \
        {"document",                                                           \
         "FILE",                                                               \
         "signed task document (default: the one stored in DIR)",              \
         CLI_INTO_CALL,                                                        \
         .call = serve_setting,                                                \
         .verbs = of},                                                         \
        {"public-key",                                                         \
         "FILE",                                                               \
         "public key of the task signer ('tasks keygen')",                     \
         CLI_INTO_CALL,                                                        \
         .call = serve_public_key,                                             \
         .verbs = of},                                                         \
        {"listen",                                                             \
         "ADDRESS",                                                            \
         "address for devices (default 127.0.0.1:8080; port 0: any free "      \
         "port; or unix:PATH)",                                                \
         CLI_INTO_CALL,                                                        \
         .call = serve_setting,                                                \
         .verbs = of},                                                         \
        {"admin",                                                              \
         "ADDRESS",                                                            \
         "address for readers: estimates, dashboard and /metrics (default: "   \
         "none)",                                                              \
         CLI_INTO_CALL,                                                        \
         .call = serve_setting,                                                \
         .verbs = of},                                                         \
        {"admin-open",                                                         \
         NULL,                                                                 \
         "require no token on --admin; only on loopback or a unix socket",     \
         CLI_INTO_CALL,                                                        \
         .call = serve_admin_open,                                             \
         .verbs = of},                                                         \
        {"set",                                                                \
         "KEY=VALUE...",                                                       \
         "set any other field of hearsay.yaml",                                \
         CLI_INTO_CALL,                                                        \
         .call = serve_set_pair,                                               \
         .verbs = of},                                                         \
        {"accept-clock",                                                       \
         NULL,                                                                 \
         "accept today's date at this start, however far it is from the last " \
         "day stored in DIR",                                                  \
         CLI_INTO_FLAG,                                                        \
         offsetof(struct serve_how, accept_clock),                             \
         .verbs = of},                                                         \
    {                                                                          \
        "rehearsal", "FILE",                                                   \
            "read the time from FILE ('simulate fleet --days'); DIR is only "  \
            "for rehearsals from then on",                                     \
            CLI_INTO_CALL, .call = serve_setting, .verbs = of                  \
    }

/* ---- A collector, or a shuffler (run_collector.c) ------------------------ */

int serve_run(const struct serve_how *how);
int serve_check(const struct serve_how *how);

/* The same as verbs of a struct serve_how, whose operand is the file. */
int serve_runs(void *to);
int serve_checks(void *to);

/* ---- Tokens (token.c) ---------------------------------------------------- */

/* hearsay serve token; argv[0] is "token". */
int serve_token(int argc, char **argv);

#endif
