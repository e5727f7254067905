/*
 * assets.h - the files of the dashboard, inside the program.
 *
 * The page is served from memory: it needs no directory, and works where there
 * is no internet. It holds no data and no secret; what it shows it asks for
 * with the reader's token.
 */
#ifndef SERVER_COLLECTOR_API_ASSETS_H
#define SERVER_COLLECTOR_API_ASSETS_H

#include <stdint.h>

/* What a browser may do on behalf of the page: run and show what came with it,
 * ask this server, nothing else. To be sent as Content-Security-Policy. */
#define ASSETS_POLICY                                                          \
    "default-src 'none'; script-src 'self'; style-src 'self'; "                \
    "img-src 'self'; connect-src 'self'; base-uri 'none'; "                    \
    "form-action 'none'; frame-ancestors 'none'"

struct asset {
    const char *path; /* "/", "/assets/app.js": one segment below assets */
    const uint8_t *bytes, *end; /* all of them, for ever */
};

/* The file at that path of a URL, or NULL. Any thread. */
const struct asset *asset_find(const char *path);

/* As in Content-Type, by the ending of its name. */
const char *asset_type(const struct asset *a);

#endif
