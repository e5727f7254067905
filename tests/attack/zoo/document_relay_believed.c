/* document_relay_believed.c - a client whose policy demands a relay, and which
 * is content with the one that the document names: the collector, who signs the
 * document, names itself and sees every address. */
#include "zoo_sealed.h"

static hsy_status believed_gather(void *ctx, struct send_list *list,
                                  hsy_error *err)
{
    const struct send_hooks *hooks = ctx;
    const hsy_status st = hooks->gather(hooks->ctx, list, err);

    list->way.unpinned = false;
    return st;
}

static hsy_status believed_settle(void *ctx, const struct send_list *list,
                                  hsy_error *err)
{
    const struct send_hooks *hooks = ctx;

    return hooks->settle(hooks->ctx, list, err);
}

hsy_status zoo_document_relay_believed_send(const struct send_hooks *hooks,
                                            const char *url,
                                            const hsy_send_options *options,
                                            hsy_send_result *result,
                                            hsy_error *err)
{
    struct send_hooks same = *hooks;
    const struct send_hooks all = {believed_gather, believed_settle, &same,
                                   NULL};

    return hsy_send_all(&all, url, options, result, err);
}
