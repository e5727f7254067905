/* token_checks.h - what holds of tokens, wherever they are kept. */
#ifndef TOKEN_CHECKS_H
#define TOKEN_CHECKS_H

#include "server/auth/auth.h"

/* open: another keep of the same place, where nobody has a token yet. Results
 * are TAP's. */
void token_checks(struct tokens_keep *(*open)(void));

#endif
