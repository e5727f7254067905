#!/usr/bin/env bash
# ./quickstart shows truth beside estimate, runs twice, leaves its page open and
# nothing behind.
set -u
[[ ${HSY_SHORT:-} ]] && { echo "1..0 # SKIP runs the plain build"; exit 0; }
. tests/tap.sh
out=$(mktemp)
odd=$(mktemp -d)
export TMPDIR
TMPDIR=$(mktemp -d)
pid=''
clean() {
    [[ -z $pid ]] || kill "$pid" 2>/dev/null
    rm -rf "$out" "$odd" "$TMPDIR"
}
trap clean EXIT

left_open() { # wait for the address of the page: $page and $token
    local i
    for ((i = 0; i < 2400; i++)); do
        grep -q '^  http://' "$out" && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    grep -q '^  http://' "$out" || echo "# gave up waiting for the address of the page"
    page=$(sed -n 's|^  http://\(.*\)/.*|\1|p' "$out") token=$(sed -n 's|.*#token=||p' "$out")
}
ask() { # METHOD PATH: what the page's listener answers to its token
    exec 3<>"/dev/tcp/${page%:*}/${page##*:}" &&
        printf '%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1" "$2" "$token" >&3 && cat <&3
}

./quickstart --once --devices 2000 >"$out" 2>&1 </dev/null && grep -q '^  yes ' "$out" && grep -q '^  mean ' "$out" &&
    grep -q '^  Chrome ' "$out" && grep -q '^  12\.\.16 ' "$out" && grep -q '^  fyp ' "$out" && grep -q 'by RAPPOR)' "$out"
ok $? "six questions are answered, truth beside estimate" "$out"
[[ $(grep -c '^  [0-9]* reports are shown$' "$out") == 6 ]] &&
    awk '/reports are shown/ {if ($1 < 1000 || $1 > 2000) exit 1}' "$out"
ok $? "each says of how many reports it is, which are not the first ones alone" "$out"
! grep -q 'No such file' "$out"
ok $? "and it waits in silence for the collector" "$out"
[[ -z $(ls -A "$TMPDIR") ]]
ok $? "and nothing is left"

tree="$odd/a clone é" # with links to all of this one, so that nothing is built again
mkdir "$tree"
ln -s "$PWD"/* "$tree"
"$tree/quickstart" --devices 2000 >"$out" 2>&1 </dev/null &
pid=$!
left_open
ask GET /v1/tasks/browser >>"$out" && grep -q '"reports": [12][0-9]\{3\},' "$out"
ok $? "in a path with a blank and an é it leaves the page open, with its token" "$out"
ask POST /v1/backup >>"$out" && grep -q 'HTTP/1.1 403' "$out"
ok $? "its token is an analyst's: a backup is refused with 403" "$out"
kill -TERM "$pid"
wait "$pid"
[[ $? == 143 && -z $(ls -A "$TMPDIR") ]]
ok $? "until it is told to end; then nothing is left" "$out"
pid=''

./quickstart --shuffled --once --devices 2000 >"$out" 2>&1 </dev/null && grep -q '^  site-01  *20\.[0-9]%  *[0-9.]*%  *[-0-9.]*%' "$out" &&
    awk '/times smaller/ {if ($(NF - 2) > 5) found = 1} END {exit !found}' "$out" # some 80 on average
ok $? "a relay, two shufflers and a collector: truth, estimate, and what local noise would have given" "$out"
[[ -z $(ls -A "$TMPDIR") ]]
ok $? "and nothing is left of them"
"$tree/quickstart" --shuffled --devices 2000 >"$out" 2>&1 </dev/null &
pid=$!
left_open
ask GET /v1/tasks/site >>"$out" && grep -q '"reports": 2000,' "$out" && ask POST /v1/backup >>"$out" && grep -q 'HTTP/1.1 403' "$out"
ok $? "its page has an analyst's token too" "$out"
kill -TERM "$pid"
wait "$pid"
[[ $? == 143 && -z $(ls -A "$TMPDIR") ]] && ! pgrep -f "$TMPDIR" >/dev/null
ok $? "left open, in a path with a blank and an é, it ends when it is told to, with all its parties" "$out"
pid=''
for args in "--devices 10" "--devices" "--nonesuch" "--devices 2000x"; do
    # shellcheck disable=SC2086
    ./quickstart $args >"$out" 2>&1
    [[ $? == 2 ]] && grep -q '^quickstart: ' "$out"
    ok $? "$args is refused" "$out"
done
tap_done
