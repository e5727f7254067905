#!/usr/bin/env bash
# Every command of the README runs as written, and the README's own claims
# about the output hold.
set -u
hearsay=$(realpath "${HEARSAY:-build/hearsay}")
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build"
ln -s "$hearsay" "$work/build/hearsay"
cd "$work" || exit 1

count=0
while IFS= read -r line; do
    [[ -z $line ]] && continue
    count=$((count + 1))
    bash -o pipefail -c "$line" >out 2>err
    status=$?
    if [[ $status == 0 ]]; then echo "ok $count - runs: ${line%% #*}"
    else
        echo "not ok $count - runs: ${line%% #*}"
        head -5 err | sed 's/^/# /'
    fi
done < <(awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on' "$root/README.md")

# 20 % said yes; six standard errors of 20,000 answers at epsilon 1 are 4 %.
count=$((count + 1))
if build/hearsay estimate counts.tally --format csv | awk -F, '$1 == "yes" && $2 > .16 && $2 < .24 {found = 1} END {exit !found}'
then echo "ok $count - the estimate is about 20 %"; else echo "not ok $count - the estimate is about 20 %"; fi
echo "1..$count"
