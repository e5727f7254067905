#!/usr/bin/env bash
# Tokens in a database that collectors share, by the commands.
set -u
export HEARSAY="${HEARSAY:-${B:-build}/hearsay}"
if [ $# = 0 ]; then
    exec tests/rig/postgres.py run -- "$0" within
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

n=0
is() { # RESULT SENTENCE
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}
token() { "$HEARSAY" serve token "$@" --storage "$HSY_PG"; }
says() { # EXIT TEXT SENTENCE COMMAND ...
    local said code
    said=$("${@:4}" 2>&1)
    code=$?
    if [ $code = "$1" ] && [[ $said == *"$2"* ]]; then is 0 "$3"; else is 1 "$3"; echo "# $code: $said" >&2; fi
}

says 1 "init-cluster" "without tables it is said what makes them" token list
printf 'public_key: key.pub\nstorage: %s\n' "$HSY_PG" >"$work/hearsay.yaml"
says 0 "1 shard made" "they are made" "$HEARSAY" store init-cluster "$work/hearsay.yaml"
[[ $(token add ann --role analyst) =~ ^[A-Za-z0-9_-]{43}$ ]]
is $? "a token is made in the database"
says 1 "a token of this name already exists" "once" token add ann --role analyst
says 0 "ann                              analyst" "and listed" token list
[ "$(token enrol age --count 3 --quota 2 | wc -l)" = 3 ]
is $? "enrolment tokens too"
says 0 "age                              enrolment, tokens: 3, quota: 2" "are listed" token list
first=$(token list age | head -1)
says 0 "" "one gets a last day" token expire age "$first" --expires 2040-01-31
says 0 "$first until 2040-01-31" "which is listed" token list age
says 0 "" "one is revoked" token revoke age "$first"
says 1 "no such enrolment token of this task" "once" token revoke age "$first"
[ "$(token forwarder --count 1 --quota 9 | wc -l)" = 1 ]
is $? "a forwarder's is made"
says 0 "" "a role's is revoked" token revoke ann
says 1 "no token of this name" "once" token revoke ann
says 2 "cannot be used with" "a directory and a database are one too many" token list --data "$work"
says 2 "unknown option --storage" "a collector has its own in its file" "$HEARSAY" serve "$work/hearsay.yaml" --storage "$HSY_PG"
says 1 "postgresql://" "what is no URL is told" "$HEARSAY" serve token list --storage nowhere
says 1 "reached" "so is a server that is not there" "$HEARSAY" serve token list --storage "postgresql:///hearsay?user=hearsay&host=$work"
echo "1..$n"
