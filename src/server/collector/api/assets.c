/*
 * assets.c - the files of web/, put into the program by the assembler.
 *
 * The Makefile lists them: ASSETS(A) is A(name in C, path of the URL, file) of
 * each. It makes this object anew when one of them changes.
 */
#include "server/collector/api/assets.h"

#include <string.h>

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

const char *asset_type(const struct asset *a)
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

const struct asset *asset_find(const char *path)
{
    for (size_t i = 0; i < sizeof asset_table / sizeof *asset_table; i++)
        if (strcmp(path, asset_table[i].path) == 0)
            return &asset_table[i];
    return NULL;
}
