/*
 * png.c - a figure as PNG, for what shows no SVG.
 *
 * librsvg and cairo draw it. They are loaded when a PNG is asked for, as few
 * ever are, and bring some forty libraries.
 */
#define _GNU_SOURCE
#include "host/plot/internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PNG_SCALE 2 /* pixels of the picture a unit of the figure */

struct png_place {
    double x, y, width, height;
};

typedef int png_write(void *to, const unsigned char *bytes, unsigned len);

/* What is called of both, as their manuals have it. */
struct png_functions {
    void *(*parse)(const uint8_t *svg, size_t len, void **error);
    int (*render)(void *handle, void *cairo, const struct png_place *whole,
                  void **error);
    void (*unref)(void *handle);
    void *(*surface_new)(int format, int width, int height);
    void *(*cairo_new)(void *surface);
    int (*save)(void *surface, png_write *write, void *to);
    void (*cairo_end)(void *cairo);
    void (*surface_end)(void *surface);
};

struct png_bytes {
    uint8_t *bytes; /* owned */
    size_t len;
};

static bool png_load(struct png_functions *f)
{
    const struct {
        const char *name;
        void *function;
    } rows[] = {
        {"rsvg_handle_new_from_data", &f->parse},
        {"rsvg_handle_render_document", &f->render},
        {"g_object_unref", &f->unref},
        {"cairo_image_surface_create", &f->surface_new},
        {"cairo_create", &f->cairo_new},
        {"cairo_surface_write_to_png_stream", &f->save},
        {"cairo_destroy", &f->cairo_end},
        {"cairo_surface_destroy", &f->surface_end},
    };
    /* It needs cairo and GObject, which are searched with it. */
    void *lib = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; lib != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        void *found = dlsym(lib, rows[i].name);

        if (found == NULL)
            return false;
        memcpy(rows[i].function, &found, sizeof found);
    }
    return lib != NULL;
}

/* 0, or cairo's "write error". */
static int png_more(void *to, const unsigned char *bytes, unsigned len)
{
    struct png_bytes *out = to;
    uint8_t *more = realloc(out->bytes, out->len + len + 1);

    if (more == NULL)
        return 11;
    memcpy(more + out->len, bytes, len);
    out->bytes = more;
    out->len += len;
    return 0;
}

static bool png_draw(const struct png_functions *f, struct png_bytes *out,
                     void *handle, struct png_place whole)
{
    void *surface = f->surface_new(0, (int)whole.width, (int)whole.height);
    void *cairo = f->cairo_new(surface);
    const bool drawn = f->render(handle, cairo, &whole, NULL) &&
                       f->save(surface, png_more, out) == 0;

    f->cairo_end(cairo);
    f->surface_end(surface);
    return drawn;
}

hsy_status plot_png(uint8_t **png, size_t *len, const char *svg, size_t svg_len,
                    hsy_error *err)
{
    struct png_functions f;
    struct png_bytes out = {NULL, 0};
    unsigned width, height;
    void *handle;
    bool drawn;

    if (!png_load(&f))
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_NONE,
                         "PNG needs librsvg (Debian's librsvg2-2): install "
                         "it, or write SVG");
    if (sscanf(svg, "<svg %*s width=\"%u\" height=\"%u\"", &width, &height) !=
            2 ||
        width > INT16_MAX / PNG_SCALE || height > INT16_MAX / PNG_SCALE)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                         "the figure is too large for PNG: write SVG");
    handle = f.parse((const uint8_t *)svg, svg_len, NULL);
    drawn =
        handle != NULL && png_draw(&f, &out, handle,
                                   (struct png_place){0, 0, PNG_SCALE * width,
                                                      PNG_SCALE * height});
    if (handle != NULL)
        f.unref(handle);
    if (!drawn) {
        free(out.bytes);
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE,
                         "librsvg could not draw the figure");
    }
    *png = out.bytes;
    *len = out.len;
    return HSY_OK;
}
