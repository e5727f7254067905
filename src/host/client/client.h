/* client.h - what the files of a client share. */
#ifndef HOST_CLIENT_CLIENT_H
#define HOST_CLIENT_CLIENT_H

#include "host/base/owned.h"
#include "host/client/world.h"

struct client_refusal {
    hsy_task task; /* its pointers lead into the document */
    hsy_error why;
};

struct hsy_client {
    hsy_host *host;
    struct owned owned; /* all that follows but bytes and each release */
    hsy_policy policy;  /* with all that it points to */
    hsy_device *device;
    uint8_t *bytes; /* of the document */
    hsy_document document;
    hsy_release **releases; /* those admitted */
    uint32_t *places;       /* of each in the document */
    size_t nreleases;
    hsy_release **direct; /* of these, all that may go without a relay */
    size_t ndirect;
    struct client_refusal *refusals;
    size_t nrefusals;
};

/* Which of the releases is of this task; nreleases if none is. */
size_t hsy_client_find(const hsy_client *c, const char *task);

/* Whether uploads of a release leave through the relay only: its task demands
 * it, or the policy, or another task that is the same release under another
 * name, whose answers they are as well. */
bool hsy_client_demands(const hsy_client *c, size_t i);
/* The same, of an upload. */
bool hsy_client_relayed(const hsy_client *c, const uint8_t *upload);

/* ---- Truths from text (answer_text.c) ------------------------------------ */

/* A truth and the room that a string of it stands in: a byte more than any
 * value has, so that a longer text is none. */
struct client_truth {
    hsy_truth truth;
    uint8_t room[HSY_LABEL_MAX + 1];
};

/* As hsy_client_answer_text: HSY_E_FORMAT or HSY_E_RANGE for a text that is no
 * answer. Wipe out afterwards. */
hsy_status hsy_client_parse(struct client_truth *out, const hsy_release *r,
                            const hsy_task *task, const char *text, size_t len,
                            hsy_error *err);

/* ---- All that is due (due.c) --------------------------------------------- */

/* Takes an upload; anything but HSY_OK ends. */
typedef hsy_status client_each(void *ctx, const uint8_t *upload, size_t len);

/* All, or those of tasks that do not demand the relay. */
enum client_which { CLIENT_ALL, CLIENT_DIRECT };

/* Hand out every upload of these that is due, in the order in which
 * hsy_client_next and hsy_client_sent would; nothing is marked as sent. */
hsy_status hsy_client_due(hsy_client *c, enum client_which which,
                          client_each *each, void *ctx, hsy_error *err);

#endif
