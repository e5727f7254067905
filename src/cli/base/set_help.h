/* set_help.h - the help of --set; tools/mechanism-pages writes it. */
#ifndef CLI_BASE_SET_HELP_H
#define CLI_BASE_SET_HELP_H

#include "cli/base/options.h"

/* clang-format off */
#define CLI_SET_HELP                                                           \
    "parameters; hashes: pool-bits pool-seed  pgr, hpg: q t\n"                 \
    "pem: bits first step  dbitflip: sampled-bits\n"                           \
    "sfp: bits piece-bits fragment-bits fragments\n"                           \
    "  word-share  dwm, hm: mix  matrix=FILE  olh, blh: g\n"                   \
    "dwm, pm, hm: window outputs  sw: window  rappor=F,P,Q\n"                  \
    "rappor: hashes cohorts filter-bits  hpg, hr: blocks\n"                    \
    "stage: bits step prefix-bits max-candidates sizes\n"                      \
    "cms, hcms, pem, sfp: hashes width  ss, joint: subset\n"                   \
    "rr: spinner coins channel  laplace: grid  hh: fanout"
/* clang-format on */

#endif
