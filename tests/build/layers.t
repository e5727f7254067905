#!/usr/bin/env bash
# tools/lint-layers finds every include that the table of layers does not allow.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/copy"
git ls-files -co --exclude-standard src tools/layers tools/lint-layers | xargs cp --parents -t "$work/copy"
git init -q "$work/copy"

# notices SENTENCE WORDS FILE LINE: with LINE added to FILE, the lint fails with
# these words.
notices() {
    (cd "$work/copy" && cp "$3" "$work/kept" 2>/dev/null && printf '%s\n' "$4" >>"$3" &&
        ! tools/lint-layers >"$work/log" && grep -qF "$2" "$work/log")
    ok $? "$1" "$work/log"
    cp "$work/kept" "$work/copy/$3"
}

tools/lint-layers >"$work/log" 2>&1 && [[ ! -s $work/log ]]
ok $? "every include is one that the table allows" "$work/log"
notices "a module that includes one above it" "lib/core does not see lib/mech" \
    src/lib/core/exp.c '#include "lib/mech/matrix.h"'
notices "a program's include of the library's inside" "cli does not see lib/core" \
    src/cli/main.c '#include "lib/core/fail.h"'
notices "a private header of another module" "private to server/store" \
    src/server/engine/ids.c '#include "server/store/internal.h"'
notices "the host's interface in the library" "hearsay/host.h: lib/core is below it" \
    src/lib/core/exp.c '#include "hearsay/host.h"'
notices "a header by its name alone" "say its path" src/lib/core/exp.c '#include "fail.h"'
notices "an exception that nothing needs" "nothing needs the exception" \
    tools/layers 'except lib/core/exp.c lib/mech/matrix.h'
notices "a module that may include one that is not there" "may include lib/more, which is no module" \
    tools/layers 'audit: lib/more'
mkdir "$work/copy/src/lib/more"
: >"$work/copy/src/lib/more/more.c"
notices "a folder that the table does not have" "no module lib/more" \
    src/lib/more/more.c '#include "hearsay.h"'
tap_done
