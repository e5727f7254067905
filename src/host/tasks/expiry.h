/* expiry.h - a document that devices take no more, or not for long: said by who
 * checks or signs it, and by a collector that has it in force. */
#ifndef HOST_TASKS_EXPIRY_H
#define HOST_TASKS_EXPIRY_H

#include <stdint.h>

#define EXPIRY_DAYS 14u /* it is said from so many days before on */

enum expiry { EXPIRY_FAR, EXPIRY_NEAR, EXPIRY_PAST };

/* expires: the day after the last on which devices take it, as a document has
 * it. Today counts among the days that are left. */
static inline enum expiry expiry_of(uint64_t expires, uint64_t today)
{
    if (expires <= today)
        return EXPIRY_PAST;
    return expires - today <= EXPIRY_DAYS ? EXPIRY_NEAR : EXPIRY_FAR;
}

#endif
