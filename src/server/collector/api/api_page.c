/* api_page.c - the dashboard, and the events it listens to. */
#include "server/collector/api/api.h"

#include "server/collector/api/assets.h"

#include <stdio.h>

#define PAGE_PATH 128

static void page_answer(struct request *q, const char *path)
{
    const struct asset *a = asset_find(path);

    if (a == NULL) {
        api_problem(q, 404, "Not found", "there is no such file");
        return;
    }
    request_guard(q, ASSETS_POLICY);
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

void api_events(struct request *q, void *ctx)
{
    (void)ctx;
    request_guard(q, NULL);
    request_subscribe(q);
}
