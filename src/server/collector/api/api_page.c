/*
 * api_page.c - the dashboard.
 *
 * The page is served from memory: it needs no directory, and works where there
 * is no internet. It holds no data and no secret; what it shows it asks for
 * with the reader's token. The Makefile lists its files: ASSETS(A) is A(name in
 * C, path of the URL, file) of each. It makes this object anew when one of them
 * changes.
 */
#include "server/collector/api/api.h"

#include <stdio.h>
#include <string.h>

#define PAGE_PATH 128

/* What a browser may do on behalf of the page: run and show what came with it,
 * ask this server, nothing else. To be sent as Content-Security-Policy. */
#define PAGE_POLICY                                                            \
    "default-src 'none'; script-src 'self'; style-src 'self'; "                \
    "img-src 'self'; connect-src 'self'; base-uri 'none'; "                    \
    "form-action 'none'; frame-ancestors 'none'"

struct asset {
    const char *path; /* "/", "/assets/app.js": one segment below assets */
    const uint8_t *bytes, *end; /* all of them, for ever */
};

#define INCLUDE(name, path, file)                                              \
    extern const uint8_t asset_##name[], asset_##name##_end[];                 \
    __asm__(".pushsection .rodata\n"                                           \
            "asset_" #name ":\n"                                               \
            ".incbin \"" #file "\"\n"                                          \
            "asset_" #name "_end:\n"                                           \
            ".byte 0\n"                                                        \
            ".popsection\n");
ASSETS(INCLUDE)

#define PLACE(name, path, file) {#path, asset_##name, asset_##name##_end},

static const struct asset asset_table[] = {ASSETS(PLACE)};

/* As in Content-Type, by the ending of its name. */
static const char *asset_type(const struct asset *a)
{
    static const char *const types[][2] = {
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".txt", "text/plain; charset=utf-8"}};
    const char *ending = strrchr(a->path, '.');

    for (size_t i = 0; ending != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(ending, types[i][0]) == 0)
            return types[i][1];
    return "text/html; charset=utf-8";
}

static const struct asset *asset_find(const char *path)
{
    for (size_t i = 0; i < sizeof asset_table / sizeof *asset_table; i++)
        if (strcmp(path, asset_table[i].path) == 0)
            return &asset_table[i];
    return NULL;
}

static void page_answer(struct request *q, const char *path)
{
    const struct asset *a = asset_find(path);

    if (a == NULL) {
        api_problem(q, 404, "Not found", "there is no such file");
        return;
    }
    request_guard(q, PAGE_POLICY);
    request_answer(q, 200, asset_type(a), a->bytes, (size_t)(a->end - a->bytes),
                   NULL);
}

void api_page(struct request *q, void *ctx)
{
    (void)ctx;
    page_answer(q, "/");
}

void api_asset(struct request *q, void *ctx)
{
    char path[PAGE_PATH];

    (void)ctx;
    if (snprintf(path, sizeof path, "/assets/%s", request_segment(q, 0)) >=
        (int)sizeof path)
        path[0] = '\0';
    page_answer(q, path);
}
