/* example_shuffled.c - see example_shuffled.h. */

#include "rig/example_shuffled.h"

#include "rig/device_sign.h"

hsy_statement example_statement(const hsy_task *task, uint32_t place,
                                uint32_t of, uint32_t from)
{
    hsy_statement s = {.release = task->release,
                       .place = place,
                       .of = of,
                       .min_batch = task->min_batch,
                       .max_wait = task->max_wait,
                       .close_after_seconds = task->close_after_seconds,
                       .from = from,
                       .until = from + 500,
                       .operated_by = "Verein f\xc3\xbcr Statistik"};

    memcpy(s.task, task->id, sizeof s.task);
    memset(s.sign_key, (int)(100 + place), sizeof s.sign_key);
    memset(s.seal_key, (int)(200 + place), sizeof s.seal_key);
    if (place == 1) { /* those of example_parties */
        s.gateway_keys = 2;
        memset(s.gateway[0], 31, HSY_SEAL_KEY);
        memset(s.gateway[1], 32, HSY_SEAL_KEY);
    }
    return s;
}

void example_shuffle(hsy_task *task, struct example_statements *e,
                     uint32_t shufflers, uint32_t from)
{
    memset(e->collector_key, 33, sizeof e->collector_key);
    task->collector_key = e->collector_key;
    task->model = HSY_MODEL_SHUFFLED;
    task->flags = HSY_TASK_RELAY;
    task->shufflers = shufflers;
    task->min_batch = 50000;
    task->max_wait = 2;
    task->close_after_seconds = 21600;
    task->assume_honest = (hsy_ratio){9, 10};
    task->delta = (hsy_ratio){1, 100000000};
    task->nano_central = EXAMPLE_CENTRAL;
    task->statements = e->wire[0];
    for (uint32_t i = 0; i < shufflers; i++) {
        hsy_statement s = example_statement(task, i + 1, shufflers, from);

        hsy_statement_encode(e->wire[i], &s, NULL);
        world_sign(e->wire[i] + HSY_STATEMENT_SIGNED, s.sign_key, e->wire[i],
                   HSY_STATEMENT_SIGNED);
    }
}

hsy_parties example_parties(void)
{
    static const char relay[] = "https://relay.example/ohttp";
    hsy_parties p = {.request_bytes = 512,
                     .response_bytes = 256,
                     .gateway_keys = 2,
                     .relay = relay,
                     .relay_len = sizeof relay - 1};

    p.gateway[0].id = 7;
    p.gateway[1].id = 8;
    memset(p.gateway[0].key, 31, HSY_SEAL_KEY);
    memset(p.gateway[1].key, 32, HSY_SEAL_KEY);
    return p;
}
