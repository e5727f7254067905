/* table.c - the mechanisms: one const row each. */
#include "lib/scheme/scheme.h"

/* Order is the order of `hearsay mechanisms`: simplest first. */
const struct hsy_mechanism *const hsy_mech_table[] = {
    /* clang-format off */
    &hsy_mech_rr,
    &hsy_mech_grr,
    &hsy_mech_ss,
    &hsy_mech_pgr,
    &hsy_mech_hpg,
    &hsy_mech_hr,
    &hsy_mech_sue,
    &hsy_mech_oue,
    &hsy_mech_olh,
    &hsy_mech_blh,
    &hsy_mech_dbitflip,
    &hsy_mech_cms,
    &hsy_mech_hcms,
    &hsy_mech_rappor,
    &hsy_mech_onebit,
    &hsy_mech_dwm,
    &hsy_mech_pm,
    &hsy_mech_hm,
    &hsy_mech_laplace,
    &hsy_mech_sw,
    &hsy_mech_hh,
    &hsy_mech_haar,
    &hsy_mech_matrix,
    &hsy_mech_smp,
    &hsy_mech_joint,
    &hsy_mech_central,
    &hsy_mech_central_open,
    &hsy_mech_pem,
    &hsy_mech_sfp,
    &hsy_mech_stage,
    /* clang-format on */
};

const size_t hsy_mech_count = sizeof hsy_mech_table / sizeof hsy_mech_table[0];
