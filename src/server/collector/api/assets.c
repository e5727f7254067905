/*
 * assets.c - the files of web/, put into the program by the assembler.
 *
 * The names are those of web/ and web/vendor/; a file that is not listed is not
 * served. The Makefile makes this object anew when one of them changes.
 */
#include "server/collector/api/assets.h"

#include <string.h>

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define TEXT "text/plain; charset=utf-8"
#define PICTURE "image/svg+xml"

#define MODULE(A, name)                                                        \
    A(name, "/assets/" #name ".js", SCRIPT, "web/" #name ".js")

/* Name in C, path of the URL, type, file. */
#define ASSETS(A)                                                              \
    A(page, "/", HTML, "web/index.html")                                       \
    A(style, "/assets/style.css", CSS, "web/style.css")                        \
    A(icon, "/assets/icon.svg", PICTURE, "web/icon.svg")                       \
    A(uplot, "/assets/uPlot.iife.min.js", SCRIPT,                              \
      "web/vendor/uPlot.iife.min.js")                                          \
    A(uplot_css, "/assets/uPlot.min.css", CSS, "web/vendor/uPlot.min.css")     \
    A(uplot_licence, "/assets/uPlot.LICENSE.txt", TEXT,                        \
      "web/vendor/uPlot.LICENSE.txt")                                          \
    MODULE(A, api)                                                             \
    MODULE(A, app)                                                             \
    MODULE(A, bars)                                                            \
    MODULE(A, collector)                                                       \
    MODULE(A, columns)                                                         \
    MODULE(A, compare)                                                         \
    MODULE(A, dom)                                                             \
    MODULE(A, estimate)                                                        \
    MODULE(A, live)                                                            \
    MODULE(A, numbers)                                                         \
    MODULE(A, overtime)                                                        \
    MODULE(A, privacy)                                                         \
    MODULE(A, series)                                                          \
    MODULE(A, signin)                                                          \
    MODULE(A, task)                                                            \
    MODULE(A, tasks)                                                           \
    MODULE(A, theme)                                                           \
    MODULE(A, words)

#define INCLUDE(name, path, type, file)                                        \
    extern const uint8_t asset_##name[], asset_##name##_end[];                 \
    __asm__(".pushsection .rodata\n"                                           \
            "asset_" #name ":\n"                                               \
            ".incbin \"" file "\"\n"                                           \
            "asset_" #name "_end:\n"                                           \
            ".byte 0\n"                                                        \
            ".popsection\n");
ASSETS(INCLUDE)

#define PLACE(name, path, type, file)                                          \
    {path, type, asset_##name, asset_##name##_end},

static const struct asset asset_table[] = {ASSETS(PLACE)};

const struct asset *asset_find(const char *path)
{
    for (size_t i = 0; i < sizeof asset_table / sizeof *asset_table; i++)
        if (strcmp(path, asset_table[i].path) == 0)
            return &asset_table[i];
    return NULL;
}
