/* attend.h - the laws that people who answer again have (attend.c). */
#ifndef LIB_INFER_ATTEND_H
#define LIB_INFER_ATTEND_H

#include "lib/scheme/scheme.h"

/* Of a report, and of the kept answer that it is made from. */
struct attend_laws {
    struct mech_support report, kept;
};

/* permanent NULL: as s says. HSY_E_REFUSED if no kept answer is known. */
hsy_status hsy_attend_laws(struct attend_laws *out, const hsy_scheme *s,
                           const hsy_scheme *permanent, hsy_error *err);

#endif
