/* cluster_store.c - hearsay store init-cluster: the tables of a cluster. */
#include "cli/store/internal.h"

#include "server/cluster/cluster.h"
#include "server/process/config.h"

#include <stdlib.h>

/* What a configuration says; its mistakes are those of 'serve check'. */
static int cluster_config(struct config *f, const char *path)
{
    hsy_problem *problems = NULL;
    hsy_error err = {0};
    size_t n = 0;
    const hsy_status st = config_read(f, path, NULL, 0, &problems, &n, &err);

    free(problems);
    if (st == HSY_E_IO)
        return cli_fail_file(path, &err);
    if (st != HSY_OK)
        return cli_fail("%s: it cannot be used; 'hearsay serve check %s' says "
                        "why",
                        path, path);
    if (!config_many(f)) {
        config_clear(f);
        return cli_fail("%s: it has no 'storage': say there which databases "
                        "the cluster has",
                        path);
    }
    return 0;
}

int store_run_init_cluster(const struct store_how *how)
{
    struct config f = {0};
    char reason[PG_REASON] = "";
    const char *about = NULL;
    hsy_error err = {0};
    size_t made = 0;
    int failed = cluster_config(&f, how->words[1]);
    hsy_status st;

    if (failed)
        return failed;
    {
        const struct cluster_options o = {.size = sizeof o,
                                          .storage = f.storage,
                                          .node = "init",
                                          .rehearsal = f.rehearsal != NULL};

        st = cluster_init(&o, &made, &about, reason, &err);
    }
    config_clear(&f);
    if (st != HSY_OK)
        return cli_fail("%s: %s%s%s", about != NULL ? about : "storage",
                        err.msg != NULL ? err.msg : "failed",
                        reason[0] != '\0' ? ": " : "", reason);
    if (made == 0)
        printf("nothing to do: all shards have their tables\n");
    else
        printf("%zu shard%s made\n", made, made == 1 ? "" : "s");
    return cli_finish();
}
