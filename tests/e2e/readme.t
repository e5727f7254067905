#!/usr/bin/env bash
# Every command of the README runs as written, and the README's own claims
# about the output hold.
set -u
[[ ${HSY_SHORT:-} ]] && { echo "1..0 # SKIP every command has a short test of its own"; exit 0; }
. tests/tap.sh
hearsay=$(realpath "${HEARSAY:-build/hearsay}")
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build"
ln -s "$hearsay" "$work/build/hearsay"
ln -s "$root/examples" "$work/examples"
cd "$work" || exit 1

while IFS= read -r line; do
    [[ -z $line ]] && continue
    bash -o pipefail -c "$line" >out 2>err
    ok $? "runs: ${line%% #*}" err
done < <(awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on' "$root/README.md")

# 20 % said yes; six standard errors of 20,000 answers at epsilon 1 are 4 %.
build/hearsay estimate counts.tally --format csv >out
awk -F, '$1 == "yes" && $2 > .16 && $2 < .24 {found = 1} END {exit !found}' out
ok $? "the estimate is about 20 %" out
if [[ -e $root/.git ]]; then
    for name in *; do
        [[ $name == build || $name == examples || $name == out || $name == err ]] ||
            git -C "$root" check-ignore -q "$name" || echo "$name"
    done >out
    [[ ! -s out ]]
    ok $? "what the commands leave is not taken for a part of the tree" out
fi
tap_done
