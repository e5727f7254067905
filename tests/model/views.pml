/*
 * views.pml - who sees what: no party can say which address a report came from,
 * and no group of parties can unless all of those who stand between are in it.
 * tests/build/model.t runs it for 0, 1 and 2 shufflers (-DHOPS).
 *
 * Modelled: two devices with one upload each, the relay, the shufflers, the
 * collector, who also serves the document that devices fetch (the shufflers' or
 * another one, to each device as it likes), and who watches the devices' network. An upload goes by under several names, and to tell whose
 * report it is means to know each name for the next:
 *
 *   address - sealed request - id - envelope - envelope - report
 *           by the relay     |    |          |          by the collector's key
 *                by the gateway's key        by the second shuffler's key and order
 *                                 by the first shuffler's key and order
 *
 * A view is a set of bits of each upload: the links that a party knows, and what
 * it has seen of an upload at all. Nothing is ever forgotten: views hold what a
 * party could have kept, whatever it erases. A group holds what its members hold.
 * Any message may be sent and handed over again, also while the relay is down,
 * and each step may come at any moment. A batch of one is linked by whoever
 * counts, so that it is everybody's.
 *
 * Checked in every state, of every group (the sets of relay, shufflers, collector):
 *   whose       address and report are linked only by all parties together
 *   of_id       id and report only with the collector and all shufflers
 *   of_address  address and id only with the relay and the gateway's owner
 * and of every party alone:
 *   both        none has seen an address of an upload and an opened report
 *   named       none has seen an address and an id
 *   addresses   only the relay and the devices' network see who uploads
 *   ids         only the gateway's owner sees ids
 *   reports     only the collector sees reports
 *
 * Not modelled: how well ciphers and noise hold, times and lengths (one length a
 * document), watching both sides of the relay, devices of an attacker in the
 * batch, shufflers that drop others' reports. The fetch of the document tells the
 * collector an address, of no upload: it is a bit of its own, and allowed.
 *
 * Wrong designs, each found:
 *   CLEAR        a device that sends without the relay while that is down
 *   RELAY_OPENS  the gateway is at the relay
 *   FLUSH        shufflers that let a batch of one go
 *   NO_MIX       shufflers that leave everything in place
 *   KEEPS_ID     shufflers that pass the id on
 *   OWN_KEYS     a document with another gateway key for each device
 *   ONE_LAYER    the first shuffler has the key of all layers
 *   OWN_TERMS    shufflers open what was made under another document, in which
 *                everybody but one device is sampled out
 *   OWN_END      the same with a later end: the device stands alone in a batch,
 *                which the attacker's own uploads fill up
 *   SELF_RELAY   a device that believes the document's relay, which is the collector
 * REACHED asserts that all parties together learn nothing: found too.
 */
#ifndef HOPS
#define HOPS 2
#endif
#define MIN_BATCH 2

/* Names that are known for each other. */
#define AT_RELAY 1
#define AT_GATEWAY 2
#define AT_FIRST 4
#define AT_SECOND 8
#define AT_COLLECTOR 16
/* What was seen. */
#define ADDRESS 32
#define ID 64
#define REPORT 128
#define FETCH 256 /* an address that fetched the document */

#define RELAY 0
#define FIRST 1
#define SECOND 2
#define COLLECTOR 3
#define NETWORK 4

#if HOPS == 0
#define GATEWAY COLLECTOR
#define MIXES 0
#define EVERYBODY 9 /* sets of parties: 1 << RELAY and so on */
#elif HOPS == 1
#define GATEWAY FIRST
#define MIXES AT_FIRST
#define EVERYBODY 11
#else
#define GATEWAY FIRST
#define MIXES (AT_FIRST | AT_SECOND)
#define EVERYBODY 15
#endif
#define ID_REPORT (MIXES | AT_COLLECTOR)
#define ADDRESS_ID (AT_RELAY | AT_GATEWAY)
#define NOT_RELAY (EVERYBODY & ~(1 << RELAY))
#define TOGETHER ((1 << RELAY) | (1 << GATEWAY))

short view[10];    /* party * 2 + upload */
short everyone[2]; /* what anybody can tell */

bool relay_up = true;
byte asked, forwarded; /* sets of uploads: on the link to the relay, to the gateway */
byte other; /* uploads whose device has another document than the shufflers */
byte rows, between, inner, opened; /* at the first shuffler, the second, the collector; counted */

hidden byte i, set;
hidden short all, seen;
hidden byte both, named, addresses, ids, reports, whose, of_id, of_address;

inline learn(party, u, what) { view[(party) * 2 + (u)] = view[(party) * 2 + (u)] | (what) }

/* By upload u: what every group can link. */
#define HOLDS(what) ((all & (what)) == (what))
#define WITHOUT(group) ((set & (group)) != (group))

inline groups(u)
{
    for (set : 1 .. 15) {
        all = everyone[u];
        for (i : 0 .. 3) {
            if
            :: set & (1 << i) -> all = all | view[i * 2 + u]
            :: else -> skip
            fi
        }
        whose = HOLDS(ADDRESS_ID | ID_REPORT) && WITHOUT(EVERYBODY);
        assert(!whose);
        of_id = HOLDS(ID_REPORT) && WITHOUT(NOT_RELAY);
        assert(!of_id);
        of_address = HOLDS(ADDRESS_ID) && WITHOUT(TOGETHER);
        assert(!of_address);
#ifdef REACHED
        assert(!HOLDS(ADDRESS_ID | ID_REPORT))
#endif
    }
}

#define SEEN(what) ((seen & (what)) == (what))

inline alone()
{
    for (i : 0 .. 4) {
        seen = view[i * 2] | view[i * 2 + 1];
        both = SEEN(ADDRESS | REPORT);
        assert(!both);
        named = SEEN(ADDRESS | ID);
        assert(!named);
        addresses = SEEN(ADDRESS) && i != RELAY && i != NETWORK;
        assert(!addresses);
        ids = SEEN(ID) && i != GATEWAY;
        assert(!ids);
        reports = SEEN(REPORT) && i != COLLECTOR;
        assert(!reports)
    }
}

inline check()
{
    alone();
    groups(0);
    groups(1);
    i = 0 /* a step does not end with a loop */
}

/* The gateway's owner opens a request; without a shuffler that is the collector. */
inline open_request(u)
{
    learn(GATEWAY, u, AT_GATEWAY | ID);
#if HOPS == 0
    learn(COLLECTOR, u, AT_COLLECTOR | REPORT);
    opened = opened | (1 << u)
#elif defined(OWN_TERMS) || defined(OWN_END)
    rows = rows | (1 << u)
#else
    rows = rows | ((1 << u) & ~other)
#endif
#ifdef OWN_KEYS
    ;
    learn(COLLECTOR, u, AT_RELAY) /* it knows to whom it gave the key that the request names */
#endif
#ifdef ONE_LAYER
    ;
    learn(GATEWAY, u, AT_FIRST | AT_SECOND | AT_COLLECTOR | REPORT)
#endif
}

proctype Device(byte u)
{
    do
    :: d_step { !(view[COLLECTOR * 2 + u] & FETCH) -> learn(COLLECTOR, u, FETCH); check() }
    :: d_step { !(view[COLLECTOR * 2 + u] & FETCH) -> other = other | (1 << u); learn(COLLECTOR, u, FETCH); check() }
    :: d_step { (view[COLLECTOR * 2 + u] & FETCH) -> asked = asked | (1 << u); learn(NETWORK, u, ADDRESS); check() }
#ifdef SELF_RELAY
    :: d_step { (view[COLLECTOR * 2 + u] & FETCH) ->
                learn(COLLECTOR, u, AT_RELAY | ADDRESS); forwarded = forwarded | (1 << u); check() }
#endif
#ifdef CLEAR
    :: d_step { (view[COLLECTOR * 2 + u] & FETCH) && !relay_up ->
                learn(GATEWAY, u, AT_RELAY | ADDRESS); open_request(u); check() }
#endif
    od
}

proctype Relay(byte u)
{
    do
    :: d_step { relay_up && (asked & (1 << u)) ->
                learn(RELAY, u, AT_RELAY | ADDRESS);
#ifdef RELAY_OPENS
                learn(RELAY, u, AT_GATEWAY | ID);
#endif
                forwarded = forwarded | (1 << u); check() }
    :: d_step { relay_up = !relay_up }
    od
}

proctype Gateway(byte u)
{
    do
    :: d_step { (forwarded & (1 << u)) -> open_request(u); check() }
    od
}

#define SIZE(s) (((s) & 1) + ((s) >> 1))
#if defined(FLUSH)
#define ENOUGH(s) ((s) != 0)
#elif defined(OWN_END)
#define ENOUGH(s) (SIZE(s) >= MIN_BATCH || ((s) & other) != 0)
#else
#define ENOUGH(s) (SIZE(s) >= MIN_BATCH)
#endif
#ifdef NO_MIX
#define PLAIN(s) true
#elif defined(OWN_TERMS)
#define PLAIN(s) (SIZE((s) & ~other) == 1) /* the others are null uploads */
#else
#define PLAIN(s) (SIZE(s) == 1)
#endif

/* Take a layer off and mix. Who is alone, or in place, is so for everybody: then
 * the requests before, too, are told from each other. */
inline mix(party, link, u, s)
{
    if
    :: s & (1 << (u)) ->
        learn(party, u, link);
        everyone[u] = everyone[u] | (PLAIN(s) -> link | AT_GATEWAY : 0);
#ifdef KEEPS_ID
        learn(COLLECTOR, u, ID | MIXES)
#endif
    :: else -> skip
    fi
}

#if HOPS > 0
proctype First()
{
    do
    :: d_step { ENOUGH(rows & ~between) ->
                mix(FIRST, AT_FIRST, 0, (rows & ~between));
                mix(FIRST, AT_FIRST, 1, (rows & ~between));
                between = rows; check() }
    od
}

/* Without a second shuffler this is only the way to the collector. */
proctype Second()
{
    do
    :: d_step { ENOUGH(between & ~inner) ->
#if HOPS == 2
                mix(SECOND, AT_SECOND, 0, (between & ~inner));
                mix(SECOND, AT_SECOND, 1, (between & ~inner));
#endif
                inner = between; check() }
    od
}

proctype Collector(byte u)
{
    do
    :: d_step { (inner & (1 << u)) -> learn(COLLECTOR, u, AT_COLLECTOR | REPORT); opened = opened | (1 << u); check() }
    od
}
#endif

init {
    atomic {
        run Device(0); run Device(1);
        run Relay(0); run Relay(1);
        run Gateway(0); run Gateway(1);
#if HOPS > 0
        run First(); run Second();
        run Collector(0); run Collector(1)
#endif
    }
}
