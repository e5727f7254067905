/* device_pack.c - hearsay device pack: what is due, for a file that is carried
 * by hand. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include "host/client/client.h"
#include "host/client/send.h"

#include <unistd.h>

/* A file that is carried counts as acknowledged. */
static int pack_mark(struct device_job *j, struct send_list *all)
{
    hsy_error err = {0};

    for (size_t i = 0; i < all->n; i++) {
        all->items[i].settled = true;
        all->items[i].status = 204;
    }
    return hsy_send_mark(j->home.client, all, &err) == HSY_OK
               ? 0
               : device_fail(j, &err);
}

/* Tasks whose uploads are in no file: the failure says so. */
static int pack_relayed(struct device_job *j)
{
    int failed = 0;
    hsy_task task;

    for (size_t i = 0; hsy_client_task(j->home.client, &task, i); i++)
        if (hsy_client_demands(j->home.client, i))
            failed = cli_fail("%s: its uploads must go through a relay; "
                              "'hearsay device send %s URL' sends them",
                              task.id, j->home.directory);
    return failed;
}

/* Uploads one after the other; each says in its header how long it is. */
static int pack_run(struct device_job *j, struct send_list *all)
{
    hsy_error err = {0};
    int failed = device_open(j);

    if (failed)
        return failed;
    if (hsy_send_gather(j->home.client, CLIENT_DIRECT, all, &err) != HSY_OK)
        return err.status == HSY_E_NOMEM ? cli_fail_nomem()
                                         : device_fail(j, &err);
    failed = cli_write_file(j->options.output, all->bytes, all->len);
    if (!failed && j->options.mark_sent)
        failed = pack_mark(j, all);
    if (!failed)
        cli_note("wrote %zu due upload%s", all->n, all->n == 1 ? "" : "s");
    return failed ? failed : pack_relayed(j);
}

int device_pack(void *to)
{
    struct device_job *j = to;
    struct send_list all = {.bytes = NULL};
    int failed;

    if (j->options.output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(&j->parser, "will not write uploads to a terminal; "
                                     "redirect them, or use -o FILE");
    failed = pack_run(j, &all);
    hsy_send_clear(&all);
    return failed;
}
