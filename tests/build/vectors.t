#!/usr/bin/env bash
# One source of vectors for every processor: the logic of 64 bytes without the
# instructions of AVX-512, in the place of the portable level, and NEON under an
# emulator pass the tests of the kernels.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
flags=(-std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror -DHSY_UNSTABLE -Iinclude -Isrc -Itests)
tests=(known_answers kernels_coins kernels_counts kernels_hadamard)

each() { # LABEL COMPILER EMULATOR OBJECT ...: the tests of the kernels
    local label=$1 compiler=$2 run=$3 source name
    shift 3
    for name in "${tests[@]}"; do
        source=tests/unit/lib/kernels/test_$name.c
        $compiler "${flags[@]}" "$source" $(tools/pick behind "$source") "$@" -lm -o "$work/test" >"$work/all" 2>&1 &&
            $run "$work/test" >>"$work/all" 2>&1
        status=$?
        grep -v '^ok' "$work/all" >"$log"
        ok $status "$label: test_$name passes" "$log"
    done
}

library=${B:-build}/libhearsay.a
make -s CI=1 B="${B:-build}" "$library" >"$log" 2>&1
ok $? "the library is there" "$log"
wide=(-DSIMD_BYTES=64 -Wno-psabi)
grep -qw avx2 /proc/cpuinfo && wide+=(-mavx2)
gcc "${flags[@]}" "${wide[@]}" -c src/lib/kernels/vec_16.c -o "$work/wide.o" >"$log" 2>&1
ok $? "vectors of 64 bytes without AVX-512 compile" "$log"
each "64 bytes" gcc "" "$work/wide.o" "$library"

if command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null; then
    for source in src/lib/kernels/*.c src/lib/core/*.c; do
        [[ $source == *_small.c ]] || echo "$source"
    done | xargs -P2 -I{} sh -c 'aarch64-linux-gnu-gcc "$@" -c {} -o "$0/$(basename {} .c).o"' "$work" "${flags[@]}" >"$log" 2>&1
    ok $? "the kernels compile for aarch64 without warnings" "$log"
    rm -f "$work/wide.o"
    # Of the rigs only what the tests call: the rest needs the whole library.
    each NEON "aarch64-linux-gnu-gcc -static -ffunction-sections -Wl,--gc-sections" qemu-aarch64 "$work"/*.o
else
    echo "# skipped NEON: it takes gcc-aarch64-linux-gnu and qemu-user"
fi
tap_done
