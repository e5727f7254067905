/* device_pack.c - hearsay device pack: what is due, for a file that is carried
 * by hand. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include "host/client/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Uploads one after the other; each says in its header how long it is. */
struct pack_all {
    uint8_t *bytes; /* owned */
    size_t len, room;
    uint64_t count;
};

static hsy_status pack_one(void *ctx, const uint8_t *upload, size_t len)
{
    struct pack_all *all = ctx;

    if (all->room - all->len < len) {
        size_t room = 2 * all->room + len + 4096;
        uint8_t *larger = realloc(all->bytes, room);

        if (larger == NULL)
            return HSY_E_NOMEM;
        all->bytes = larger;
        all->room = room;
    }
    memcpy(all->bytes + all->len, upload, len);
    all->len += len;
    all->count++;
    return HSY_OK;
}

static int pack_mark(struct device_job *j, const struct pack_all *all)
{
    hsy_error err = {0};
    size_t at = 0;

    while (at < all->len) {
        hsy_upload upload;
        size_t len;

        if (hsy_upload_decode(&upload, all->bytes + at, &err) != HSY_OK)
            return device_fail(j, &err);
        len = HSY_UPLOAD_WIRE + upload.length;
        if (hsy_client_sent(j->client, all->bytes + at, len, &err) != HSY_OK)
            return device_fail(j, &err);
        at += len;
    }
    return 0;
}

static int pack_run(struct device_job *j, struct pack_all *all)
{
    hsy_error err = {0};
    int failed = device_open(j);

    if (failed)
        return failed;
    if (hsy_client_due(j->client, pack_one, all, &err) != HSY_OK)
        return err.status == HSY_E_NOMEM ? cli_fail_nomem()
                                         : device_fail(j, &err);
    failed = cli_write_file(j->how->output, all->bytes, all->len);
    if (!failed && j->how->mark_sent)
        failed = pack_mark(j, all);
    if (!failed)
        cli_note("%" PRIu64 " upload%s due", all->count,
                 all->count == 1 ? " was" : "s were");
    return failed;
}

int device_pack(struct device_job *j)
{
    struct pack_all all = {.bytes = NULL};
    int failed;

    if (j->how->mark_sent && j->how->output == NULL)
        return cli_usage(j->parser,
                         "--mark-sent needs -o FILE: what is counted as sent "
                         "must stand somewhere");
    if (j->how->output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(
            j->parser, "uploads are not for a terminal: redirect them, or use "
                       "-o FILE");
    failed = pack_run(j, &all);
    free(all.bytes);
    return failed;
}
