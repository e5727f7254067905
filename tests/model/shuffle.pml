/*
 * shuffle.pml - reports on their way through two shufflers: whatever crashes and
 * whatever the network does, none is lost, none is counted twice, and a batch
 * that was mixed leaves in one order only. tests/build/model.t runs it.
 *
 * Modelled: two devices with one upload each, the relay, two shufflers with the
 * states OPEN, CLOSED, MIXED, ACKED, ERASED of a batch, the collector. The second
 * shuffler mixes each batch that comes by itself, unless too few of it open: what
 * opened is KEPT, and is mixed with the next batch that has enough with it. With
 * -DNOISE the inside of the uploads of this set does not open. A step is what one
 * transaction does. Every party may crash between any two steps: what
 * was in memory is gone, what was committed is not. Devices and the relay have
 * nothing in memory but messages, so a crash of theirs is a loss on a link. Each
 * shuffler ends its epochs by a clock of its own, so at any moment, before or
 * after anything that is on its way to it. It is run in two ways:
 *
 *   By default links are sets that never forget: the network hands over any
 *   message that was ever sent, as often, as late and in whichever order it
 *   likes, or never; a retry is the same message, and crashes are unbounded.
 *   With -DENDS messages are taken off their link, and FAULTS crashes, losses and
 *   repetitions happen, anywhere; a sender that waits in vain sends again.
 *
 * Checked in every state that can be reached:
 *   lost        an acknowledged upload is in a row or a batch on a disk, in the
 *               tally, or in a published count of erased ones
 *   doubled     none is in the tally twice, or in it and erased too
 *   reordered   no batch id leaves with two orders or two contents
 *   conflict    no receiver sees two digests under one batch id
 *   unreceived  a shuffler erases a batch only when the next has committed it
 *   hasty       rows below min_batch are erased only after max_wait epochs
 *   small       nothing leaves below min_batch
 * and with -DENDS, that every run ends, and at its end
 *   unsettled   what was acknowledged is tallied or counted as erased, and no
 *               shuffler keeps a row, a batch or a device that has no answer.
 *
 * Not modelled: contents of envelopes and who can open them (views.pml), parts of
 * large batches, segments of a delivery (the step here is the last, which
 * commits), envelopes that do not open at the first shuffler, null uploads, the
 * second guard by ids of envelopes at later hops, parties that lie, disks that
 * lie.
 *
 * Wrong designs, each found:
 *   REMIX          mixes a MIXED batch again after a crash
 *   ERASE_FIRST    erases when a batch was sent, before its receipt
 *   NO_BATCH_ID    takes a batch without looking at its id
 *   FORGET_IDS     forgets the ids of uploads when their batch closes
 *   ACK_FIRST      acknowledges an upload before it is durable
 *   RECEIPT_FIRST  signs a receipt before the batch is durable
 *   SEND_FIRST     sends a batch before its order is durable
 *   FLUSH          closes a batch of whatever there is
 *   IMPATIENT      does not wait max_wait epochs
 *   UNCOUNTED      erases without counting
 *   LATER_ERASES   (NOISE) the second shuffler erases what opened of a small batch
 *   JOIN_TWICE     (MIN_FIRST 1) it mixes what it has kept, and keeps it
 *   SEND_ONCE      (ENDS) sends each batch once
 *   ANSWER_ONCE    (ENDS) answers only who brings something new
 * REACHED asserts that nothing is ever tallied, TOO_FEW that nothing is ever
 * erased: both are found too, so the checks are not about nothing.
 */
#ifndef MIN_FIRST
#define MIN_FIRST 2 /* min_batch of the first shuffler, and of the second */
#endif
#ifndef MIN_SECOND
#define MIN_SECOND 2
#endif
#ifndef MAX_WAIT
#define MAX_WAIT 1 /* or 0 */
#endif
#ifndef FAULTS
#define FAULTS 3
#endif
#ifndef NOISE
#define NOISE 0 /* uploads that the second shuffler cannot open */
#endif

/* Uploads are bits. A batch is one upload, or both in one order (3) or the other (4). */
#define FIRST 1
#define SECOND 2
#define BOTH 3
#define SIZE(set) (((set) & 1) + ((set) >> 1))
#define CONTENT(v) ((v) == 4 -> 3 : (v))

/* Shufflers are h = 0, 1. Uploads are taken in epochs 0 and 1; batches close as long
 * as anything may still wait. A batch has the number of the first shuffler's epoch. */
#define INTAKE 2
#define LAST(h) (INTAKE + MAX_WAIT + (h) * (MAX_WAIT + 1))
#define AT(h, k) ((h) * 3 + (k))
#define MIN(h) ((h) == 0 -> MIN_FIRST : MIN_SECOND)
#define MESSAGE(k, v) (1 << ((k) * 4 + (v) - 1)) /* a batch, or its receipt, on a link */

#define OPEN 0
#define CLOSED 1
#define MIXED 2
#define ACKED 3
#define ERASED 4
#define KEPT 5

/* On disks. */
byte answered;  /* uploads whose device knows that they were taken */
byte ids;       /* uploads that the first shuffler has taken */
byte rows;      /* uploads that wait at the first shuffler, */
byte since[4];  /* and since which of its epochs; those that the second has kept */
byte epoch[2];  /* in which a shuffler is */
byte state[6]; /* of its batches, AT(h, k) */
byte list[6];
byte order[6];
byte got[6];   /* what the next hop has received under the batch's id */
byte tally[2];
byte erased;    /* uploads that are in a published count of erased ones */

/* In the memory of wrong designs; that of Batch is its own. */
byte hand;
byte held[2];

/* On links. */
byte up, forward, answer, back; /* device, relay, first shuffler, relay, device */
int batch[2], receipt[2];

/* What the checks remember of the past. */
byte left[6];
bool conflict;
byte faults = FAULTS;

/* For the length of a step. */
hidden byte i, v, kept, lost, doubled;
hidden byte reordered, unreceived, hasty, small, unsettled;

#ifdef ENDS
#define MAY_FAIL (faults > 0)
#define FAILS faults--
#define TAKE(link, m) link = link & ~(m)
#define NOWHERE(links, m) (((links) & (m)) == 0)
#else
#define MAY_FAIL true
#define FAILS skip
#define TAKE(link, m) skip
#define NOWHERE(links, m) true
#endif

inline check()
{
    kept = rows | erased | NOISE | (tally[0] > 0 -> FIRST : 0) | (tally[1] > 0 -> SECOND : 0);
    for (i : 0 .. 5) {
        kept = kept | list[i];
    }
    lost = answered & ~kept;
    assert(lost == 0);
    doubled = (tally[0] + (erased & 1) > 1 -> FIRST : 0) | (tally[1] + (erased >> 1) > 1 -> SECOND : 0);
    assert(doubled == 0);
    assert(!conflict)
#ifdef REACHED
    ;
    assert(tally[0] + tally[1] < 2)
#endif
#ifdef TOO_FEW
    ;
    assert(erased == 0)
#endif
}

proctype Device(byte u)
{
end:
    do
    :: d_step { !(answered & u) && NOWHERE(up | forward | answer | back, u) && !(up & u) &&
                (epoch[0] < INTAKE || (ids & u)) -> up = up | u }
    :: d_step { (back & u) -> answered = answered | u; TAKE(back, u); check() }
    od
}

proctype Relay(byte u)
{
end:
    do
    :: d_step { (up & u) && !(forward & u) -> forward = forward | u; TAKE(up, u) }
    :: d_step { (answer & u) && !(back & u) -> back = back | u; TAKE(answer, u) }
    od
}

/* The first shuffler's listener. An id counts once, and a retry has the same answer. */
inline admit(u)
{
    if
    :: !(ids & u) -> ids = ids | u; rows = rows | u; since[u - 1] = epoch[0]
    :: else -> skip
    fi
}

proctype Intake(byte u)
{
end:
    do
#ifdef ACK_FIRST
    :: d_step { (forward & u) && epoch[0] < INTAKE -> hand = hand | u; answer = answer | u; TAKE(forward, u) }
    :: d_step { (hand & u) -> hand = hand & ~u; admit(u); check() }
    :: d_step { (hand & u) && MAY_FAIL -> FAILS; hand = hand & ~u; check() }
#else
    :: d_step { (forward & u) && (epoch[0] < INTAKE || (ids & u)) ->
                admit(u); answer = answer | u; TAKE(forward, u); check() }
#endif
#ifdef ENDS
    :: d_step { (forward & u) && epoch[0] >= INTAKE && !(ids & u) -> TAKE(forward, u) } /* refused: too late */
#endif
    od
}

/* Erase an upload of a set that has waited long enough, and publish that. */
inline give_up(h, set, u)
{
    if
#ifdef IMPATIENT
    :: (set & u) ->
#else
    :: (set & u) && epoch[h] - since[h * 2 + u - 1] >= MAX_WAIT ->
#endif
        hasty = (epoch[h] - since[h * 2 + u - 1] < MAX_WAIT);
        assert(!hasty);
        set = set & ~u;
        since[h * 2 + u - 1] = 0;
#ifndef UNCOUNTED
        erased = erased | u
#endif
    :: else -> skip
    fi
}

/* End an epoch of the first shuffler: what waits becomes a batch, or stays below
 * min_batch. */
inline close()
{
    if
#ifdef FLUSH
    :: rows != 0 ->
#else
    :: rows != 0 && SIZE(rows) >= MIN(0) ->
#endif
        list[AT(0, epoch[0])] = rows;
        state[AT(0, epoch[0])] = CLOSED;
        rows = 0;
        since[0] = 0;
        since[1] = 0
    :: else ->
        give_up(0, rows, FIRST);
        give_up(0, rows, SECOND)
    fi;
#ifdef FORGET_IDS
    ids = ids & rows;
#endif
    epoch[0]++
}

/* End an epoch of the second one: what it has kept for too long is erased. */
inline expire()
{
    for (i : 0 .. 2) {
        if
        :: state[AT(1, i)] == KEPT ->
            give_up(1, list[AT(1, i)], FIRST);
            give_up(1, list[AT(1, i)], SECOND);
            if
            :: list[AT(1, i)] == 0 -> state[AT(1, i)] = ERASED
            :: else -> skip
            fi
        :: else -> skip
        fi
    }
    epoch[1]++
}

inline leave(h, n, w)
{
    reordered = (left[AT(h, n)] != 0 && left[AT(h, n)] != w);
    assert(!reordered);
    small = (SIZE(CONTENT(w)) < MIN(h));
    assert(!small);
    left[AT(h, n)] = w;
    batch[h] = batch[h] | MESSAGE(n, w)
}

#define SETTLED(h, n) (state[AT(h, n)] == OPEN || state[AT(h, n)] == ERASED)
#define FIRST_DONE (epoch[0] == LAST(0) && SETTLED(0, 0) && SETTLED(0, 1) && SETTLED(0, 2))
#define MIXING(n) (state[AT(1, n)] == CLOSED)
#define KEEPS(n) (state[AT(1, n)] == KEPT -> list[AT(1, n)] : 0)
#define WAITING (KEEPS(0) | KEEPS(1) | KEEPS(2))
#ifdef ENDS /* without empty epochs; the second shuffler has some when the first is done */
#define MAY_CLOSE (epoch[0] < LAST(0) && (ids == BOTH || epoch[0] >= INTAKE || rows != 0))
#define MAY_EXPIRE (epoch[1] < LAST(1) && ((FIRST_DONE && !MIXING(0) && !MIXING(1) && !MIXING(2)) || \
                                           (WAITING && epoch[1] < LAST(0))))
#else
#define MAY_CLOSE (epoch[0] < LAST(0))
#define MAY_EXPIRE (epoch[1] < LAST(1))
#endif

proctype Clock()
{
end:
    do
    :: d_step { MAY_CLOSE -> close(); check() }
    :: d_step { MAY_EXPIRE -> expire(); check() }
    od
}

/* What opens of a batch, and with it what is mixed. */
#define OPENED(h, n) ((h) == 0 -> list[AT(h, n)] : list[AT(h, n)] & ~NOISE)
#define TOGETHER(h, n) ((h) == 0 -> list[AT(h, n)] : OPENED(h, n) | WAITING)
#ifdef FLUSH
#define ENOUGH(h, n) (OPENED(h, n) != 0)
#else
#define ENOUGH(h, n) (OPENED(h, n) != 0 && SIZE(TOGETHER(h, n)) >= MIN(h))
#endif

/* Too few open: they are kept, and what did not open is erased. */
inline keep(n)
{
#ifdef LATER_ERASES
    hasty = (MAX_WAIT > 0 && OPENED(1, n) != 0);
    assert(!hasty);
    erased = erased | OPENED(1, n);
    list[AT(1, n)] = 0;
#else
    for (i : 1 .. 2) {
        if
        :: OPENED(1, n) & i -> since[1 + i] = epoch[1]
        :: else -> skip
        fi
    }
    list[AT(1, n)] = OPENED(1, n);
#endif
    state[AT(1, n)] = (list[AT(1, n)] == 0 -> ERASED : KEPT)
}

/* The order is durable, and what was kept is in the batch, in one transaction. */
inline mixed(h, n, w)
{
    list[AT(h, n)] = CONTENT(w);
    order[AT(h, n)] = w;
    state[AT(h, n)] = MIXED;
#ifndef JOIN_TWICE
    for (i : 0 .. 2) {
        if
        :: h == 1 && state[AT(1, i)] == KEPT -> state[AT(1, i)] = ERASED; list[AT(1, i)] = 0
        :: else -> skip
        fi
    }
    since[h * 2] = (h == 1 -> 0 : since[h * 2]);
    since[h * 2 + 1] = (h == 1 -> 0 : since[h * 2 + 1])
#endif
}

/* What shuffler h does with the batch of its epoch n, from CLOSED on. */
#define IS(s) (state[AT(h, n)] == (s))
#define OUT MESSAGE(n, order[AT(h, n)])

proctype Batch(byte h, n)
{
    byte drawn; /* in memory, or in a file that no row names: 0 after a crash */
end:
    do
    :: d_step { IS(CLOSED) && drawn == 0 && ENOUGH(h, n) -> drawn = TOGETHER(h, n) }
    :: d_step { IS(CLOSED) && drawn == 0 && ENOUGH(h, n) && TOGETHER(h, n) == BOTH -> drawn = 4 }
    :: d_step { IS(CLOSED) && drawn == 0 && h == 1 && !ENOUGH(h, n) -> keep(n); check() }
    :: d_step { IS(CLOSED) && drawn != 0 && CONTENT(drawn) != TOGETHER(h, n) -> drawn = 0 } /* what is kept is another */
#ifdef SEND_FIRST
    :: d_step { IS(CLOSED) && drawn != 0 && !(batch[h] & MESSAGE(n, drawn)) -> leave(h, n, drawn) }
#endif
    :: d_step { IS(CLOSED) && drawn != 0 && CONTENT(drawn) == TOGETHER(h, n) -> mixed(h, n, drawn); drawn = 0; check() }
    :: d_step { IS(CLOSED) && drawn != 0 && MAY_FAIL -> FAILS; drawn = 0 }
#ifdef SEND_ONCE
    :: d_step { IS(MIXED) && left[AT(h, n)] == 0 -> leave(h, n, order[AT(h, n)]) }
#else
    :: d_step { IS(MIXED) && !(batch[h] & OUT) && NOWHERE(receipt[h], OUT) ->
                leave(h, n, order[AT(h, n)]) }
#endif
#ifdef ERASE_FIRST
    :: d_step { IS(MIXED) && left[AT(h, n)] != 0 -> state[AT(h, n)] = ACKED }
#endif
    :: d_step { IS(MIXED) && (receipt[h] & OUT) ->
                state[AT(h, n)] = ACKED; TAKE(receipt[h], OUT) }
    :: d_step { IS(ACKED) ->
                unreceived = (got[AT(h, n)] != order[AT(h, n)]);
                assert(!unreceived);
                state[AT(h, n)] = ERASED; list[AT(h, n)] = 0; order[AT(h, n)] = 0; check() }
#ifdef REMIX
    :: d_step { IS(MIXED) && MAY_FAIL ->
                FAILS; state[AT(h, n)] = CLOSED; order[AT(h, n)] = 0 }
#endif
#ifdef ENDS
    :: d_step { SETTLED(h, n) && (receipt[h] & (15 << (n * 4))) -> TAKE(receipt[h], 15 << (n * 4)) }
#endif
    od
}

/* What the hop after shuffler h does with a batch that is handed over to it. */
inline take(h, n, set)
{
    if
    :: h == 0 ->
        list[AT(1, n)] = set;
        state[AT(1, n)] = CLOSED
    :: else ->
        tally[0] = tally[0] + (set & 1);
        tally[1] = tally[1] + (set >> 1)
    fi
}

inline receive(h, n, w)
{
    if
#ifdef NO_BATCH_ID
    :: true ->
#else
    :: got[AT(h, n)] == 0 ->
#endif
        got[AT(h, n)] = w;
        take(h, n, CONTENT(w));
        receipt[h] = receipt[h] | MESSAGE(n, w)
#ifndef NO_BATCH_ID
    :: got[AT(h, n)] == w ->
#ifdef ANSWER_ONCE
        skip
#else
        receipt[h] = receipt[h] | MESSAGE(n, w)
#endif
    :: else -> conflict = true
#endif
    fi;
    check()
}

#ifdef RECEIPT_FIRST
#define HANDED(w) \
    :: d_step { (batch[h] & MESSAGE(n, w)) && held[h] == 0 && got[AT(h, n)] == 0 -> \
                held[h] = n * 4 + w; receipt[h] = receipt[h] | MESSAGE(n, w); TAKE(batch[h], MESSAGE(n, w)) } \
    :: d_step { held[h] == n * 4 + w -> held[h] = 0; receive(h, n, w) } \
    :: d_step { held[h] == n * 4 + w && MAY_FAIL -> FAILS; held[h] = 0 }
#else
#define HANDED(w) \
    :: d_step { (batch[h] & MESSAGE(n, w)) -> TAKE(batch[h], MESSAGE(n, w)); receive(h, n, w) }
#endif

proctype Receiver(byte h, n)
{
end:
    do
    HANDED(1)
    HANDED(2)
    HANDED(3)
    HANDED(4)
    od
}

#ifdef ENDS
/* Losses and repetitions. Crashes are with those who have something to lose. */
#define LOWEST(link) ((link) & -(link))
#define FAULTY(link, was) \
    :: d_step { link != 0 && faults > 0 -> link = link & ~LOWEST(link); faults-- } \
    :: d_step { link != LOWEST(link) && faults > 0 -> link = LOWEST(link); faults-- } \
    :: d_step { ((was) & ~link) != 0 && faults > 0 -> link = link | (was); faults-- }
#define LEFT(h, n) (left[AT(h, n)] -> MESSAGE(n, left[AT(h, n)]) : 0)
#define GOT(h, n) (got[AT(h, n)] -> MESSAGE(n, got[AT(h, n)]) : 0)

proctype Network()
{
end:
    do
    FAULTY(up, up)
    FAULTY(forward, ids)
    FAULTY(answer, ids)
    FAULTY(back, back)
    FAULTY(batch[0], LEFT(0, 0) | LEFT(0, 1) | LEFT(0, 2))
    FAULTY(batch[1], LEFT(1, 0) | LEFT(1, 1) | LEFT(1, 2))
    FAULTY(receipt[0], GOT(0, 0) | GOT(0, 1) | GOT(0, 2))
    FAULTY(receipt[1], GOT(1, 0) | GOT(1, 1) | GOT(1, 2))
    od
}

/* Nothing can happen any more. */
proctype Ending()
{
    timeout -> d_step {
        unsettled = (answered != ids || rows || epoch[1] != LAST(1));
        for (i : 0 .. 5) {
            unsettled = unsettled || (state[i] != OPEN && state[i] != ERASED)
        }
        assert(!unsettled);
        lost = answered & ~(erased | NOISE | (tally[0] > 0 -> FIRST : 0) | (tally[1] > 0 -> SECOND : 0));
        assert(lost == 0)
    }
}
#endif

init {
    atomic {
        run Device(FIRST); run Device(SECOND);
        run Relay(FIRST); run Relay(SECOND);
        run Intake(FIRST); run Intake(SECOND);
        for (v : 0 .. LAST(0) - 1) {
            run Batch(0, v); run Receiver(0, v);
            run Batch(1, v); run Receiver(1, v)
        }
        run Clock();
#ifdef ENDS
        run Network();
        run Ending()
#endif
    }
}
