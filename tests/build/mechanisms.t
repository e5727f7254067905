#!/usr/bin/env bash
# tools/lint-mechanisms finds every place that knows a mechanism by its name.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/copy"
git ls-files -co --exclude-standard src docs README.md 'tools/*mechanism*' | xargs cp --parents -t "$work/copy"

# notices SENTENCE LINE: with LINE added to a file, the lint says where.
notices() {
    local file=src/host/tasks/task_scheme.c
    (cd "$work/copy" && cp "$file" "$work/kept" && printf '%s\n' "$2" >>"$file" && ! tools/lint-mechanisms >"$work/log" &&
        grep -q "^$file:[0-9]*: compares or lists" "$work/log")
    ok $? "$1" "$work/log"
    cp "$work/kept" "$work/copy/$file"
}

tools/lint-mechanisms >"$work/log" 2>&1 && [[ ! -s $work/log ]]
ok $? "nothing outside src/lib/mech compares or lists mechanisms" "$work/log"
notices "a comparison" 'bool f(void) { return strcmp(info->mechanism, "grr") == 0; }'
notices "a look-up by name" 'const void *f(void) { return hsy_mech_named("cms"); }'
notices "a list" 'const char *const names[] = {"olh", "blh"};'
notices "a table" 'struct row rows[] = {{"laplace", law_laplace}};'
notices "a wire id" 'bool f(void) { return info.id == 27; }'
printf 'src/cli/main.c grr\n' >>"$work/copy/tools/mechanisms"
(cd "$work/copy" && ! tools/lint-mechanisms >"$work/log" && grep -q "any more" "$work/log")
ok $? "an exception that nothing needs" "$work/log"

# What is written from mechanisms.def and params.def.
tools/mechanism-pages --check >"$work/log" 2>&1
ok $? "pages and help are as mechanisms.def and params.def say" "$work/log"
# stale SENTENCE FILE SED-SCRIPT: after that change the tool complains of FILE, writes it, and is content.
stale() {
    (cd "$work/copy" && sed -i "$3" src/lib/mech/mechanisms.def src/lib/scheme/params.def && ! tools/mechanism-pages --check >"$work/log" &&
        grep -q "^$2: not as" "$work/log" && tools/mechanism-pages >/dev/null && tools/mechanism-pages --check >"$work/log")
    ok $? "$1" "$work/log"
}
stale "another use shows in the index" docs/mechanisms/index.md "s/Microsoft's histogram/A histogram/"
stale "another parameter in the manual" docs/man/hearsay-randomize.1 's/"children of a node"/"children of each node"/'
stale "another taker in the help" src/cli/base/set_help.h '/^MECHANISM(hh,/,/TABLES/s/PARAM(FANOUT)/PARAM(GRID)/'
stale "and in the page of formats" docs/formats.md '/^MECHANISM(laplace,/,/TABLES/s/PARAM(GRID)/NO_PARAMS/'
tap_done
