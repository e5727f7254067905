#!/usr/bin/env bash
# What `make install` brings is enough to build and run a program.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
result() { # STATUS SENTENCE
    count=$((count + 1))
    if [[ $1 == 0 ]]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

make -s install CI=1 DESTDIR="$work" PREFIX=/usr >"$work/log" 2>&1
result $? "make install"
export PKG_CONFIG_SYSROOT_DIR=$work PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
flags=$(pkg-config --cflags --libs hearsay)
result $? "pkg-config knows hearsay"
# shellcheck disable=SC2086
gcc -std=c11 -Wall -Wextra -Werror examples/survey.c $flags -o "$work/survey" 2>"$work/log"
result $? "the example builds against the installed library"
LD_LIBRARY_PATH=$work/usr/lib "$work/survey" | grep -Eq '^yes: [0-9.]+ % '
result $? "the example runs with the shared library"
flags=$(pkg-config --static --cflags --libs hearsay)
# shellcheck disable=SC2086
gcc -static -std=c11 examples/survey.c $flags -o "$work/survey" 2>"$work/log" && "$work/survey" | grep -q '^yes: '
result $? "the example links statically"
echo '#include <hearsay.h>
int main() { return hsy_strstatus(HSY_OK) == nullptr; }' >"$work/x.cc"
if command -v g++ >/dev/null; then
    # shellcheck disable=SC2086
    g++ -Wall -Wextra -Werror "$work/x.cc" -I"$work/usr/include" "$work/usr/lib/libhearsay.a" -o "$work/x" && "$work/x"
    result $? "the header serves C++"
fi
"$work/usr/bin/hearsay" --version | grep -q "$(sed -n 's/^.define HSY_VERSION "\(.*\)"/\1/p' include/hearsay.h)"
result $? "the installed command tells its version"
make -s uninstall DESTDIR="$work" PREFIX=/usr >"$work/log" 2>&1
left=$(find "$work/usr" -type f -o -type l)
[[ -z $left ]]
result $? "make uninstall leaves nothing"
[[ -z $left ]] || sed 's/^/# /' <<<"$left"
echo "1..$count"
