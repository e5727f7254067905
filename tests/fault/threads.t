#!/usr/bin/env bash
# M03: the threads of the collector under ThreadSanitizer. Everything that runs
# on them is compiled for it; the library below has no state to share.
set -u
. tests/tap.sh
out=${B:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-std=c11 -O1 -g1 -fsanitize=thread -Wall -Wextra -DHSY_UNSTABLE -Iinclude -Itests -Isrc"
sources=(src/server/{engine/workers,engine/workers_fold,engine/engine,engine/engine_admit,engine/engine_fold,engine/checkpoint,engine/recover,engine/merge,engine/engine_rounds,engine/ids,engine/quotas,intake/roster}.c
    tests/unit/server/engine/test_workers.c $(tools/pick behind tests/unit/server/engine/test_workers.c))
printf '%s\n' "${sources[@]}" |
    xargs -P2 -I{} sh -c "clang $flags -c {} -o $work/\$(basename {} .c).o" >"$work/log" 2>&1
ok $? "the collector's threads compile for ThreadSanitizer" "$work/log"
make -s CI=1 B="$out" "$out/obj/src/server.a" "$out"/libhearsay{-host,}.a >"$work/log" 2>&1 &&
    clang -fsanitize=thread "$work"/*.o "$out/obj/src/server.a" "$out"/libhearsay{-host,}.a \
    -lsqlite3 -ljansson -lsodium -lnettle -lm -pthread -o "$work/test" >"$work/log" 2>&1
ok $? "and link" "$work/log"
rounds=2
[[ -z ${HSY_TEST_LONG:-} ]] || rounds=500
for ((i = 0; i < rounds; i++)); do
    TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$work/test" >"$work/log" 2>&1 || break
done
[[ $i == "$rounds" ]]
ok $? "no two threads touch the same thing without order, in $rounds runs" "$work/log"
tap_done
