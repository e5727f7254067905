#!/usr/bin/env bash
# What `make install` brings is enough to build and run a program.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log

make -s install CI=1 DESTDIR="$work" PREFIX=/usr >"$log" 2>&1
ok $? "make install" "$log"
export PKG_CONFIG_SYSROOT_DIR=$work PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
flags=$(pkg-config --cflags --libs hearsay)
ok $? "pkg-config knows hearsay"
# shellcheck disable=SC2086
gcc -std=c11 -Wall -Wextra -Werror examples/survey.c $flags -o "$work/survey" 2>"$log"
ok $? "the example builds against the installed library" "$log"
LD_LIBRARY_PATH=$work/usr/lib "$work/survey" | grep -Eq '^yes: [0-9.]+ % '
ok $? "the example runs with the shared library"
flags=$(pkg-config --static --cflags --libs hearsay)
# shellcheck disable=SC2086
gcc -static -std=c11 examples/survey.c $flags -o "$work/survey" 2>"$log" && "$work/survey" | grep -q '^yes: '
ok $? "the example links statically" "$log"

flags=$(pkg-config --cflags --libs hearsay-host)
# shellcheck disable=SC2086
gcc -std=c11 -Wall -Wextra -Werror examples/device.c $flags -o "$work/device" 2>"$log"
ok $? "an app builds against the installed libhearsay-host" "$log"
LD_LIBRARY_PATH=$work/usr/lib "$work/device" "$work/none" tasks.signed 12 a yes 2>"$log"
[[ $? == 2 ]] && grep -q 'KEY: expected 64 hexadecimal digits' "$log"
ok $? "it says which argument is wrong if its key is malformed" "$log"
# shellcheck disable=SC2086
gcc -std=c11 -Wall -Wextra -Werror examples/analysis.c $flags -o "$work/analysis" 2>"$log"
ok $? "so does a program that analyzes a tally" "$log"
LD_LIBRARY_PATH=$work/usr/lib "$work/analysis" 2>"$log" | grep -q '"value": "yes", "estimate": 0\.'
ok $? "it prints what hearsay estimate does" "$log"
hearsay=$work/usr/bin/hearsay
cat >"$work/tasks.yaml" <<'YAML'
version: 1
expires: 2099-12-31
tasks:
  - id: dark-mode
    source: settings.theme
    question: Do you use the dark colours?
    yes-no: true
    epsilon: 1
    repeat: day
    start: 2020-01-01
    end: 2099-12-31
YAML
{ "$hearsay" tasks keygen -o "$work/collector" &&
    "$hearsay" tasks compile "$work/tasks.yaml" --key "$work/collector.secret" -o "$work/tasks.signed"; } >"$log" 2>&1
ok $? "with the installed command its tasks are signed" "$log"
LD_LIBRARY_PATH=$work/usr/lib "$work/device" "$work/state" "$work/tasks.signed" "$(cat "$work/collector.public")" dark-mode yes >"$log" 2>&1 &&
    grep -qx answered "$log" && grep -q ' answer task=dark-mode/1 ' "$work/state/log" && grep -q ' epsilon=1.000000000' "$work/state/log"
ok $? "and it answers, charged and logged" "$log"
LD_LIBRARY_PATH=$work/usr/lib "$work/device" "$work/state" "$work/tasks.signed" "$(cat "$work/collector.public")" dark-mode maybe >"$log" 2>&1
[[ $? == 1 ]] && grep -q 'must be yes or no' "$log" && ! grep -q maybe "$log"
ok $? "or says why not" "$log"

# C++ calls with C linkage, so that a C linker finds what it calls. A C++
# library is not needed, and not installed for the tests.
echo '#include <hearsay/host.h>
extern "C" int serves() { return hsy_strstatus(HSY_OK) != nullptr; }' >"$work/x.cc"
clang -xc++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fno-exceptions -c "$work/x.cc" -I"$work/usr/include" \
    -o "$work/x.o" 2>"$log" &&
    echo 'int serves(void); int main(void) { return !serves(); }' |
    gcc -xc - -xnone "$work/x.o" "$work/usr/lib/libhearsay.a" -lm -o "$work/x" 2>>"$log" && "$work/x"
ok $? "the header serves C++" "$log"

"$work/usr/bin/hearsay" --version | grep -q "$(sed -n 's/^.define HSY_VERSION "\(.*\)"/\1/p' include/hearsay/base.h)"
ok $? "the installed command tells its version"
make -s uninstall DESTDIR="$work" PREFIX=/usr >"$log" 2>&1
find "$work/usr" -type f -o -type l >"$log"
[[ ! -s $log ]]
ok $? "make uninstall leaves nothing" "$log"
tap_done
