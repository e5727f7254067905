/* test_answers.c - what tests/unit/server/http/test_listen_gone.c asks of the
 * listener catches a collector of the zoo that forgets answers, and not its
 * twin. */
#define _GNU_SOURCE
#include "rig/gone_peers.h"
#include "tap.h"
#include "zoo/zoo_answers.h"

static void answers_taken(void)
{
    gone_taken++;
}

static const struct zoo_bodies bodies = {GONE_BODY, gone_body, gone_free,
                                         answers_taken};

static void answers_try(bool right)
{
    const struct gone_server s = {zoo_forgets_answers_open(&bodies, right),
                                  zoo_forgets_answers_answer};
    unsigned heard[GONE_HOWS], stay[GONE_HOWS];

    for (int how = 0; how < GONE_HOWS; how++) {
        const unsigned before = gone_made - gone_freed;

        heard[how] = gone_try(&s, (enum gone_how)how);
        stay[how] = gone_made - gone_freed - before;
    }
    zoo_forgets_answers_close();
    printf("# of peers that stay, close, reset, send no more %u, %u, %u and %u "
           "answers stay\n",
           stay[0], stay[1], stay[2], stay[3]);
    if (right)
        ok(eq_u64(stay[0] + stay[1] + stay[2] + stay[3], 0) &&
               eq_u64(heard[GONE_HALF], GONE_PEERS),
           "control: a server that frees every answer passes");
    else
        ok(eq_u64(stay[GONE_STAYS], 0) &&
               eq_u64(stay[GONE_CLOSES], GONE_PEERS) &&
               eq_u64(stay[GONE_RESETS], GONE_PEERS) &&
               eq_u64(heard[GONE_HALF], 0),
           "forgets_answers is caught: it forgets the answers of peers that "
           "have gone");
}

int main(void)
{
    answers_try(true);
    answers_try(false);
    return tap_done();
}
