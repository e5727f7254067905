/* zoo_answers.h - a server of gone_peers.h that is wrong on purpose. */
#ifndef ZOO_ANSWERS_H
#define ZOO_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What it needs of the test: a body of so many bytes, and to give it back. */
struct zoo_bodies {
    size_t len;
    void *(*make)(void);
    void (*free)(void *body);
    void (*taken)(void); /* a request was handed in */
};

/* Listen on loopback, the port; then answer all that was handed in. */
uint16_t zoo_forgets_answers_open(const struct zoo_bodies *bodies, bool right);
void zoo_forgets_answers_answer(void);
void zoo_forgets_answers_close(void);

#endif
