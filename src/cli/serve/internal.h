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
    const char *words[4]; /* operands: "check", "token", "add", ... */
    size_t nwords;
    const char *data;
    const char *storage; /* a URL, for tokens; NULL: they are in data */
    int role;            /* from LISTEN_SCRAPER on, -1: none */
    uint64_t count, quota;
    uint32_t expires; /* a day; 0: none */
};

/* ---- What an option sets, for both commands (serve.c): `to` is how ------- */

bool serve_setting(struct cli_parser *p, void *to); /* the key of its name */
bool serve_data(struct cli_parser *p, void *to);
bool serve_public_key(struct cli_parser *p, void *to);
bool serve_admin_open(struct cli_parser *p, void *to);
bool serve_set_pair(struct cli_parser *p, void *to);
bool serve_operand(struct cli_parser *p, void *to);
void serve_how_clear(struct serve_how *how);

/* ---- A collector, or a shuffler (run_collector.c) ------------------------ */

int serve_run(const struct serve_how *how);
int serve_check(const struct serve_how *how);

/* ---- Tokens (token.c) ---------------------------------------------------- */

int serve_token_add(const struct serve_how *how, const char *name);
int serve_token_list(const struct serve_how *how, const char *name);
int serve_token_revoke(const struct serve_how *how, const char *name);
int serve_token_expire(const struct serve_how *how, const char *task);
int serve_token_enrol(const struct serve_how *how, const char *task);
int serve_token_forwarder(const struct serve_how *how, const char *name);

#endif
