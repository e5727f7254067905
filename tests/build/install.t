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

# C++ calls with C linkage, so that a C linker finds what it calls. A C++
# library is not needed, and not installed for the tests.
echo '#include <hearsay.h>
extern "C" int serves() { return hsy_strstatus(HSY_OK) != nullptr; }' >"$work/x.cc"
clang-14 -xc++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fno-exceptions -c "$work/x.cc" -I"$work/usr/include" \
    -o "$work/x.o" 2>"$log" &&
    echo 'int serves(void); int main(void) { return !serves(); }' |
    gcc -xc - -xnone "$work/x.o" "$work/usr/lib/libhearsay.a" -lm -o "$work/x" 2>>"$log" && "$work/x"
ok $? "the header serves C++" "$log"

"$work/usr/bin/hearsay" --version | grep -q "$(sed -n 's/^.define HSY_VERSION "\(.*\)"/\1/p' include/hearsay.h)"
ok $? "the installed command tells its version"
make -s uninstall DESTDIR="$work" PREFIX=/usr >"$log" 2>&1
find "$work/usr" -type f -o -type l >"$log"
[[ ! -s $log ]]
ok $? "make uninstall leaves nothing" "$log"
tap_done
