#!/usr/bin/env bash
# The rules of the house hold: layers, freestanding objects, no floating point
# between truth and report, exported symbols, format, man pages.
. tests/tap.sh
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
tools/lint "${B:-build}" >"$log" 2>&1 && [[ ! -s $log ]]
ok $? "no rule is broken" "$log"

cat >"$work/control.c" <<'C'
static double control_scale(double x)
{
    return x * 1.5;
}

typedef double control_act(double);
static control_act *const control_table[] = {control_scale};

control_act *const *hsy_tally_control(void)
{
    return control_table;
}
C
gcc -O2 -fPIC -c "$work/control.c" -o "$work/control.o" &&
    tools/lint-floats "$work/control.o" "${B:-build}"/obj/src/lib/mech/table.o >"$log" &&
    grep -q '^control_scale < control_table < hsy_tally_control' "$log"
ok $? "control: floating point is found behind a table that counting reads" "$log"
tap_done
