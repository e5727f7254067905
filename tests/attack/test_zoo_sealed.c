/*
 * test_zoo_sealed.c - a client of the zoo that sends in clear, one that
 * believes the document's relay, and a gateway whose answers tell by their
 * length what they are, are caught by the checks that the real ones pass.
 * tests/e2e/relay.t and tests/e2e/sealed.t ask the same of the command.
 */
#define _GNU_SOURCE /* setenv */

#include "host/base/curl_load.h"
#include "rig/relay_down.h"
#include "rig/sealed_answers.h"
#include "tap.h"
#include "zoo/zoo_sealed.h"

#include <stdlib.h>

static const char *said(const char *wrong)
{
    return wrong == NULL ? "nothing leaves in clear" : wrong;
}

/* ---- Relays -------------------------------------------------------------- */

static void relay_try(enum relay_how how, bool demanded)
{
    const char *who = demanded ? "demanded" : "asked for";
    const char *real = relay_down(hsy_send_all, how, demanded);
    const char *zoo =
        relay_down(zoo_clear_when_relay_is_down_send, how, demanded);

    ok(real == NULL, "control: a relay that %s (%s): %s", relay_names[how], who,
       said(real));
    if (how == RELAY_WORKS)
        ok(zoo == NULL,
           "through a relay that works clear_when_relay_is_down passes: %s",
           said(zoo));
    else
        ok(zoo != NULL && strcmp(zoo, RELAY_CLEARLY) == 0,
           "clear_when_relay_is_down is caught: %s", said(zoo));
}

/* One that says nothing costs seconds: it is tried where it matters most. */
static void clients_and_relays(void)
{
    for (int how = 0; how < RELAY_HOWS; how++) {
        relay_try((enum relay_how)how, true);
        if (how != RELAY_NONE && how != RELAY_SILENT && how != RELAY_UNPINNED)
            relay_try((enum relay_how)how, false);
    }
}

static void documents_and_relays(void)
{
    const char *works =
        relay_down(zoo_document_relay_believed_send, RELAY_WORKS, true);
    const char *zoo =
        relay_down(zoo_document_relay_believed_send, RELAY_UNPINNED, true);

    ok(works == NULL,
       "through a relay that counts document_relay_believed passes: %s",
       said(works));
    ok(zoo != NULL && strcmp(zoo, RELAY_BELIEVED) == 0,
       "document_relay_believed is caught: %s", said(zoo));
}

/* ---- Answers ------------------------------------------------------------- */

static void gateways(void)
{
    struct sealed_seen real, zoo;
    const char *wrong = sealed_answers(gateway_answer, &real);

    ok(wrong == NULL && real.answers > 100,
       "control: %zu sealed answers are alike: %s", real.answers,
       wrong == NULL ? "yes" : wrong);
    wrong = sealed_answers(zoo_length_tells_answer, &zoo);
    ok(wrong != NULL && strcmp(wrong, SEALED_LENGTHS) == 0,
       "length_tells is caught: answers of %zu to %zu bytes", zoo.least,
       zoo.most);
}

int main(void)
{
    setenv("no_proxy", "127.0.0.1", 1);
    if (hsy_curl_load() == NULL)
        tap_skip("there is no libcurl");
    else {
        clients_and_relays();
        documents_and_relays();
    }
    gateways();
    return tap_done();
}
