/*
 * replay.pml - an envelope that comes again: a receiver of batches opens it once,
 * however late, and though it forgets. tests/build/model.t runs it.
 *
 * Modelled: one envelope of any epoch, a hop before that hands it over at any
 * moment, as often as it likes, in batches on which it writes any epoch up to
 * today (head), and a receiver with a clock of its own: a later shuffler, or the
 * collector. The envelope is bound to its period. The receiver opens envelopes of
 * the period of its own day and of the one before, and remembers what came until
 * the next period is over; what it remembers it leaves out.
 *
 * Checked in every state:
 *   doubled  the envelope is opened at most once
 *   missed   if it first comes before the period after its own is over, in a batch
 *            of an epoch from its own on, it opens
 *
 * Wrong designs, each found:
 *   SHORT_MEMORY  envelopes are forgotten after a day
 *   HEAD_MEMORY   they are forgotten with the epoch that the batch says
 *   HEAD_PERIOD   the batch's epoch says which periods are opened
 *   ONE_PERIOD    the period of today alone is opened
 * REACHED asserts that the envelope never opens: found too.
 */
#define LENGTH 3 /* days of a period */
#define DAYS 15
#define PERIOD(d) ((d) / LENGTH)

byte day, head, made; /* today; what a batch says; the envelope's epoch */
byte opened, until;   /* it is remembered through this day */
bool known, came;
hidden byte opens, doubled, missed;

#ifdef HEAD_PERIOD
#define OWN PERIOD(head)
#else
#define OWN PERIOD(day)
#endif
#ifdef ONE_PERIOD
#define OPENS (PERIOD(made) == OWN)
#else
#define OPENS (PERIOD(made) == OWN || PERIOD(made) + 1 == OWN)
#endif
#if defined(SHORT_MEMORY)
#define UNTIL day
#elif defined(HEAD_MEMORY)
#define UNTIL ((PERIOD(head) + 2) * LENGTH - 1)
#else
#define UNTIL ((PERIOD(day) + 2) * LENGTH - 1)
#endif

inline receive()
{
    opens = (!known && OPENS);
    missed = (!came && !opens && head >= made && PERIOD(day) <= PERIOD(made) + 1);
    assert(!missed);
    doubled = (opens && opened > 0);
    assert(!doubled);
    opened = (opens -> 1 : opened);
    until = (known -> until : UNTIL);
    known = true;
    came = true
#ifdef REACHED
    ;
    assert(opened == 0)
#endif
}

proctype Clock()
{
    do
    :: d_step { day < DAYS -> day++; known = (known && day <= until); until = (known -> until : 0) }
    od
}

proctype Before()
{
    do
    :: d_step { head < day -> head++ }
    :: d_step { head > 0 -> head-- }
    :: d_step { day >= made -> receive() }
    od
}

init {
    atomic {
        select(made : 0 .. 2 * LENGTH - 1);
        run Clock();
        run Before()
    }
}
