/* parties_file.c - the relay and the keys that a task file names. */
#include "host/tasks/internal.h"

#include "host/seal/seal.h"
#include "host/tasks/keys.h"

#include <stdlib.h>
#include <string.h>

#define PARTIES_FILE_ROOM 128u /* that a sealed document adds, at most */

/* A public key in a file of that name; false after a complaint. */
static bool parties_file_key(hsy_tasks *t, uint8_t key[HSY_SEAL_KEY],
                             struct yaml_place at, const char *name)
{
    char *path = t->directory != NULL ? yaml_path(&t->notes, name) : NULL;
    hsy_error err = {0};
    hsy_status st;

    if (t->directory == NULL) {
        yaml_wrong(&t->notes, at, "no file can be read from here");
        return false;
    }
    if (path == NULL) {
        t->notes.nomem = true;
        return false;
    }
    st = keys_seal_public(key, path, &err);
    free(path);
    if (st != HSY_OK)
        yaml_wrong(&t->notes, at, "%.100s: %s", name, err.msg);
    return st == HSY_OK;
}

/* A gateway calls a key by the first byte of its name (docs/relay.md). */
static void parties_file_gateway(hsy_tasks *t)
{
    char *const *files = t->file.gateway_keys;
    const struct yaml_place at = yaml_key("gateway_keys");
    hsy_parties *p = &t->parties;

    for (; files != NULL && *files != NULL; files++) {
        uint8_t name[SEAL_KEY_ID];

        if (!parties_file_key(t, p->gateway[p->gateway_keys].key, at, *files))
            return;
        seal_key_id(name, p->gateway[p->gateway_keys].key);
        p->gateway[p->gateway_keys++].id = name[0];
    }
    if (p->gateway_keys != 0) {
        p->request_bytes = HSY_REQUEST_MIN;
        p->response_bytes = HSY_RESPONSE_BYTES;
    }
}

/* Where a gateway opens what relays bring (docs/relay.md). */
static bool parties_file_at_gateway(const char *url)
{
    static const char path[] = "/v1/ohttp";
    const size_t len = strcspn(url, "?#");

    return len >= sizeof path - 1 &&
           memcmp(url + len - (sizeof path - 1), path, sizeof path - 1) == 0;
}

void tasks_parties(hsy_tasks *t)
{
    const char *relay = t->file.relay;

    parties_file_gateway(t);
    if (t->file.collector_key != NULL)
        parties_file_key(t, t->collector_key, yaml_key("collector_key"),
                         t->file.collector_key);
    if (relay != NULL && strncmp(relay, "https://", 8) != 0 &&
        strncmp(relay, "http://", 7) != 0)
        yaml_wrong(&t->notes, yaml_key("relay"),
                   "must be a URL, e.g. https://relay.example/");
    else if (relay != NULL && parties_file_at_gateway(relay))
        yaml_warn(&t->notes, yaml_key("relay"),
                  "/v1/ohttp is a gateway: uploads sent there reveal their "
                  "addresses to the party that opens them; use a relay that "
                  "somebody else runs");
    for (uint32_t i = 0; i < t->parties.gateway_keys; i++)
        if (t->file.collector_key != NULL &&
            memcmp(t->parties.gateway[i].key, t->collector_key, HSY_SEAL_KEY) ==
                0)
            yaml_wrong(&t->notes, yaml_key("collector_key"),
                       "this is a gateway's key, which the first shuffler "
                       "has: reports are sealed for the collector alone");
    t->parties.relay = relay;
    t->parties.relay_len = relay != NULL ? strlen(relay) : 0;
    t->head.parties = &t->parties;
}

/* The relay has to know this length, so it changes as seldom as can be: it is
 * 64 KiB until a document needs more. */
void tasks_document_bytes(hsy_tasks *t)
{
    uint32_t bytes = HSY_DOCUMENT_BYTES_MIN;
    size_t len = 0;

    if (t->parties.gateway_keys == 0 ||
        hsy_document_encode(&t->head, NULL, 0, &len, t->tasks, t->ntasks,
                            NULL) != HSY_OK)
        return;
    len += HSY_SIGNATURE + PARTIES_FILE_ROOM;
    while (bytes < len && bytes < HSY_DOCUMENT_BYTES_MAX)
        bytes *= 2;
    if (bytes >= len)
        t->parties.document_bytes = bytes;
    else
        yaml_warn(&t->notes, yaml_key("gateway_keys"),
                  "the document is longer than 1 MiB: devices cannot fetch it "
                  "through a relay");
}
