#!/usr/bin/env bash
# The models of tests/model hold in every state that can be reached, and find
# every wrong design. Spin writes a C program of each, which visits the states.
set -u
. tests/tap.sh
model=$PWD/tests/model
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# visit NAME "FLAGS OF GCC" "OPTIONS" -DMODEL...: the states of NAME.pml into $work/log.
visit() {
    local name=$1 flags=$2 options=$3
    shift 3
    (cd "$work" && rm -f pan* && spin -a "$@" "$model/$name.pml" &&
        gcc -w $flags -DNOFAIR -DMEMLIM=1500 -o pan pan.c && ./pan -m10000 $options) >"$work/log" 2>&1
}

complete() { # no state was left out, and none is wrong
    grep -q 'errors: 0$' "$work/log" && ! grep -qE 'not completed|too small|out of memory' "$work/log"
}

holds() { # SENTENCE NAME -DMODEL...
    local sentence=$1
    shift
    visit "$1" "-O1 -DSAFETY" -w22 "${@:2}" && complete
    ok $? "$sentence ($(awk '/states, stored/ { print $1 }' "$work/log") states)" "$work/log"
}

ends() { # SENTENCE NAME -DMODEL...: no run goes on for ever
    visit "$2" "-O1 -DNP" "-w20 -l" "${@:3}" && complete
    ok $? "$1" "$work/log"
}

finds() { # CHECK SENTENCE NAME -DMODEL...
    visit "$3" "-O0 -DSAFETY" -w16 "${@:4}" && grep -q "assertion violated.*$1" "$work/log"
    ok $? "found by '$1': $2" "$work/log"
}

command -v spin >"$work/log"
ok $? "spin is there (tools/packages test)"

holds "nothing lost, doubled or reordered" shuffle
holds "the same with min_batch 1 and 2" shuffle -DMIN_FIRST=1
holds "the same where nothing waits for others" shuffle -DMIN_FIRST=1 -DMIN_SECOND=1 -DMAX_WAIT=0
holds "the same where the second shuffler cannot open one" shuffle -DNOISE=2
holds "two faults anywhere: all that was acknowledged is settled" shuffle -DENDS -DFAULTS=2
holds "one fault anywhere, min_batch 1 and 2: the same" shuffle -DENDS -DFAULTS=1 -DMIN_FIRST=1
holds "one fault anywhere, one that cannot be opened: the same" shuffle -DENDS -DFAULTS=1 -DNOISE=2
ends "every run comes to an end" shuffle -DENDS -DFAULTS=1

finds reordered "mixed again after a crash" shuffle -DREMIX
finds unreceived "erased before the receipt" shuffle -DERASE_FIRST
finds doubled "a batch counted without its id" shuffle -DNO_BATCH_ID
finds doubled "ids of uploads forgotten with their batch" shuffle -DFORGET_IDS
finds lost "acknowledged before it is durable" shuffle -DACK_FIRST
finds unreceived "a receipt before the batch is durable" shuffle -DRECEIPT_FIRST
finds reordered "sent before the order is durable" shuffle -DSEND_FIRST
finds small "a batch below min_batch" shuffle -DFLUSH
finds hasty "erased before max_wait" shuffle -DIMPATIENT
finds lost "erased without being counted" shuffle -DUNCOUNTED
finds hasty "a later hop that erases what opened of a small batch" shuffle -DLATER_ERASES -DNOISE=2
finds doubled "what waited at a later hop is mixed, and waits on" shuffle -DJOIN_TWICE -DMIN_FIRST=1
finds unsettled "a batch that is sent once only" shuffle -DSEND_ONCE -DENDS -DFAULTS=1
visit shuffle "-O0 -DNP" "-w16 -l" -DANSWER_ONCE -DENDS -DFAULTS=1 && grep -q 'non-progress cycle (at' "$work/log"
ok $? "found by a run without an end: no receipt for a batch that comes again" "$work/log"
finds tally "both reports arrive" shuffle -DREACHED
finds erased "too few are erased" shuffle -DTOO_FEW
finds erased "what waited at a later hop is erased in the end" shuffle -DTOO_FEW -DNOISE=2 -DMIN_FIRST=1

for hops in 0 1 2; do
    holds "nobody links an address and a report, $hops shufflers" views -DHOPS=$hops
    finds 'all&' "all parties together do" views -DHOPS=$hops -DREACHED
done
finds both "a device that sends in clear, to the collector" views -DHOPS=0 -DCLEAR
finds named "a device that sends in clear, to a shuffler" views -DCLEAR
finds named "the gateway is at the relay" views -DRELAY_OPENS
finds of_address "a batch of one" views -DFLUSH
finds of_address "shufflers that do not mix" views -DNO_MIX
finds ids "an id that is passed on" views -DKEEPS_ID
finds whose "a gateway key for each device" views -DHOPS=0 -DOWN_KEYS
finds reports "one key for all layers" views -DONE_LAYER
finds addresses "a collector that names itself as the relay" views -DSELF_RELAY
finds both "a collector that names itself as the relay, without shufflers" views -DHOPS=0 -DSELF_RELAY
finds of_address "a shuffler that ignores terms" views -DOWN_TERMS
finds of_address "terms without the task's end" views -DOWN_END

holds "an envelope that comes again is opened once, though it is forgotten" replay
finds doubled "envelopes are forgotten after a day" replay -DSHORT_MEMORY
finds doubled "the hop before says how long envelopes are remembered" replay -DHEAD_MEMORY
finds doubled "the hop before says of which period envelopes are" replay -DHEAD_PERIOD
finds missed "envelopes of today's period alone are opened" replay -DONE_PERIOD
finds opened "an envelope is opened" replay -DREACHED
tap_done
