#!/usr/bin/python3 -B
"""A chain of two shufflers and a collector whose processes are killed over and
over, each before one of its own calls that change something, or in the middle of
a write. Which call goes through all those that a batch takes, so that every
state of every party has its turn. Every report has a cell of its own: in the end
each that was acknowledged is in the tally once, or was erased because too few
came for too long, and then it is counted apart.

What is asserted hangs on what was acknowledged, never on time. HSY_TEST_LONG=1:
3,000 kills; HSY_TEST_CYCLES for another number, HSY_TEST_SEED for other calls."""

import collections
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *
from chain import *
from records import records

KILLS = int(os.environ.get("HSY_TEST_CYCLES") or (3000 if os.environ.get("HSY_TEST_LONG") else 300))
SEED = int(os.environ.get("HSY_TEST_SEED") or 1)
CHAINS = 5  # at a time: most of a kill is waiting for the hop before to try again
LEAST, MANY, FEW = 5, 9, 2  # envelopes that a batch must have; that come on most days; on others
WAITING, CLOSED, MIXED, ACKED, ERASED, _, GONE = range(1, 8)  # states of rows (src/server/store/store.h)
SEALED = 3  # batches of envelopes
STATES = {"s1": {"admitting", "closed", "mixing", "mixed and unsent", "sent", "receipt lost", "erasing"},
          "s2": {"receiving", "closed", "mixing", "mixed and unsent", "sent", "receipt lost", "erasing"},
          "collector": {"receiving", "receipt lost"}}


# ---- What a party has on its disk -------------------------------------------------

def listing(party, name):
    try:
        return os.listdir(os.path.join(party.data, name))
    except FileNotFoundError:
        return []


def newest(party):
    """(id, state) of a shuffler's last decision."""
    rows = records(party, "SELECT id, state FROM mixes WHERE state != %d ORDER BY epoch DESC LIMIT 1" % WAITING)
    return rows[0] if rows else (None, None)


def received(party, batch):
    return (batch,) in records(party, "SELECT id FROM received")


class Life:
    """One chain, day after day, and those who kill its parties."""

    def __init__(self, number):
        self.chain = c = Chain(shufflers=2, min_batch=LEAST, max_wait=1, name="chain%d" % number, start=False, sandbox="off", checkpoint_seconds=1)
        self.acked, self.given_up, self.erased, self.sent = {}, set(), set(), 0  # acked: cell to day
        self.nulls = self.kills = self.said_erased = 0
        self.strange = []
        self.phase, self.calls = "start", {}
        for party, name in zip(c.parties, ("s1", "s2", "collector")):
            party.called, party.card, party.machine = name, None, Machine("machine%d-%s" % (number, name))
            party.start(env=party.machine.env)
        self.first, self.second = c.shufflers
        self.process = self.days()

    # ---- Killing ----

    def arm(self, party):
        """One of its calls to come is the last: each of them in turn, whichever chain it is of; and those
        that send more often, since between two of them is the state of two parties."""
        which = SENDS if rng.random() < 0.3 else CHANGES
        deck = decks.setdefault((party.called, self.phase, which), [])
        if not deck:
            deck.extend((i, 0) for i in range(self.calls[party.called, self.phase, which]))
            random.Random(SEED).shuffle(deck)
        at, tries = deck.pop()
        party.card = (deck, at, tries)
        party.machine.strike(TORN if rng.random() < 0.25 else KILL, at, which)

    def disarm(self):
        """What was no call of this day has another turn."""
        for party in self.chain.parties:
            party.machine.well()
            if party.card is not None and party.card[2] < 2:
                party.card[0].insert(0, (party.card[1], party.card[2] + 1))
            party.card = None

    def where(self, party):
        """The state in which a party was killed."""
        if party is self.chain.collector:
            batch, state = newest(self.second)
            if state == MIXED and received(party, batch):
                return "receipt lost"
            return "receiving" if state == MIXED and listing(party, "incoming") else None
        batch, state = newest(party)
        after = self.chain.parties[self.chain.parties.index(party) + 1]
        if self.phase == "admit":
            return "admitting" if party is self.first else None
        if state == CLOSED:
            return "mixing" if "draft" in listing(party, "mixed") else "closed"
        if state == MIXED and received(after, batch):
            return "receipt lost"
        if state == MIXED:
            return "sent" if batch.hex() in listing(after, "incoming") else "mixed and unsent"
        if state == ACKED:
            return "erasing"
        return "receiving" if party is self.second and listing(party, "incoming") else None

    def tend(self):
        """Start again whoever is dead."""
        for party in self.chain.parties:
            code = party.process.poll()
            if code is None:
                continue
            if code != -signal.SIGKILL:
                raise SystemExit("Bail out! %s ended by itself with %d: %s" % (party.called, code, party.said()[-2000:]))
            self.kills += 1
            seen[party.called, self.where(party)] += 1
            party.card = None
            party.kill()
            party.machine.well()
            if rng.random() < 0.2:
                party.machine.strike(KILL, rng.randrange(40))  # while it starts again
            party.launch(env=party.machine.env)

    def until(self, condition):
        """Wait, and tend; a condition that cannot be asked does not hold."""
        end = time.monotonic() + DEADLINE
        while True:
            self.tend()
            try:
                if condition():
                    return
            except Gone:
                pass
            if time.monotonic() > end:
                raise SystemExit("Bail out! nothing goes on, %s: %s" % (self.phase, [p.said()[-1500:] for p in self.chain.parties]))
            yield

    # ---- A day ----

    def send(self, cells_):
        """Uploads of today in requests of a few; sent again until they are
        acknowledged. Of those that were cut off a few are not, where others make
        a batch of it without them."""
        while cells_:
            now, cells_ = cells_[:3], cells_[3:]
            uploads, done_ = self.chain.uploads(now), []

            def once():
                if not self.first.ready():
                    return False
                try:
                    status, body = self.chain.send(uploads)
                except Gone:
                    done_.append(None not in now and len(cells_) > LEAST and rng.random() < 0.3)
                    return done_[-1]
                if status != 204:
                    self.strange.append((status, body))
                done_.append(False)
                return True
            yield from self.until(once)
            if done_[-1]:
                self.given_up.update(now)
            else:
                self.acked.update((cell, self.chain.now[0]) for cell in now if cell is not None)
                self.nulls += now.count(None)

    def row(self, party, day):
        """The state of a day's batch, by its disk: who is asked has other calls to make."""
        rows_ = records(party, "SELECT state FROM mixes WHERE epoch = %d" % day)
        return rows_[0][0] if rows_ else None

    def day(self, many, armed):
        c, today = self.chain, self.chain.now[0]
        cells_ = list(range(self.sent, self.sent + many))
        self.sent += many
        if many != FEW:
            cells_.append(None)
        self.phase = "admit"
        if armed and rng.random() < 0.3:
            self.arm(self.first)
        yield from self.send(cells_)
        self.disarm()
        yield from self.until(lambda: self.first.ready())
        self.phase = "mix"
        for party in c.parties if armed and many != FEW else [self.first] if armed else []:
            self.arm(party)
        c.at(today + 1, 7)
        yield from self.until(lambda: self.row(self.first, today) == (WAITING if many == FEW else ERASED))
        if many != FEW:
            yield from self.until(lambda: self.row(self.second, today) == ERASED)
        self.disarm()
        yield from self.until(lambda: all(p.ready() for p in c.parties))

    def count(self, which):
        """How many calls a day takes, on a day on which nobody is killed."""
        c, today = self.chain, self.chain.now[0]
        for self.phase in ("admit", "mix"):
            for party in c.parties:
                party.machine.count(which)
            if self.phase == "admit":
                yield from self.send(list(range(self.sent, self.sent + MANY)) + [None])
            else:
                c.at(today + 1, 7)
                yield from self.until(lambda: self.row(self.second, today) == ERASED)
            for party in c.parties:
                self.calls[party.called, self.phase, which] = party.machine.calls
        self.sent += MANY

    def idle(self):
        """Whether no shuffler has an envelope left, or a file of some."""
        return all(records(s, "SELECT count(*) FROM batches WHERE type = %d" % SEALED) == [(0,)] and
                   records(s, "SELECT count(*) FROM mixes WHERE state NOT IN (%d, %d)" % (ERASED, GONE)) == [(0,)] and not listing(s, "mixed") for s in self.chain.shufflers)

    def next_period(self):
        """Leave out the end of a period, whose last day's batch would close a week later."""
        day = self.chain.now[0] + PERIOD // 2
        day += FIRST % PERIOD - day % PERIOD
        self.chain.at(day, 12)
        for party in self.chain.parties:
            yield from self.until(lambda: party.ready() and party.get("/v1/status")[1]["day"] == date(day))

    def days(self):
        yield from self.count(CHANGES)
        yield from self.count(SENDS)
        while sum(life.kills for life in lives) < KILLS * (1 if all_seen() else 4):
            yield from self.day(MANY, True)
            if self.chain.now[0] % PERIOD > PERIOD - 6:  # nothing waits now
                yield from self.next_period()
            if rng.random() < 0.2:  # two days of a few: those of the first have waited long enough then
                thin = self.chain.now[0]
                yield from self.day(FEW, True)
                yield from self.day(FEW, True)
                yield from self.until(lambda: self.row(self.first, thin) == GONE)
                self.erased.update(cell for cell, day in self.acked.items() if day == thin)
                self.said_erased += records(self.first, "SELECT sum(n) FROM mixes WHERE epoch = %d" % thin)[0][0]  # in 35 days the row is forgotten
        yield from self.day(MANY, False)
        yield from self.until(self.idle)
        yield from self.until(lambda: self.chain.collector.get("/v1/tasks/veiled")[0] == 200)


def all_seen():
    return all((name, state) in seen for name, states in STATES.items() for state in states)


rng, decks, seen, lives = random.Random(SEED), {}, collections.Counter(), []
for i in range(CHAINS):
    lives.append(Life(i))
running = list(lives)
while running:
    for life in list(running):
        if next(life.process, running) is running:
            running.remove(life)
    time.sleep(0.01)

# ---- What came of it --------------------------------------------------------------

lost = doubled = counted = nulls = erased = again = 0
said_erased, left, unsound = 0, [], []
for life in lives:
    c = life.chain
    got = c.collector.cells("veiled")
    lost += sum(cell not in got for cell in life.acked if cell not in life.erased)
    doubled += sum(n != 1 for n in got.values()) + sum(cell in got for cell in life.erased)
    again += sum(cell in got for cell in life.given_up)
    counted += sum(got.values())
    rows_ = records(c.collector, "SELECT sum(n), sum(nulls), sum(unopened), sum(again) FROM received")[0]
    nulls += rows_[1]
    if rows_[0] != sum(got.values()) or rows_[2:] != (0, 0):
        left.append(rows_)
    erased += len(life.erased)
    said_erased += life.said_erased
    for party in c.parties:
        if party.stop() != 0:
            unsound.append(party.said()[-500:])
        r = run("store", "check", party.data)
        if r.code != 0:
            unsound.append(r)
    for shuffler in c.shufflers:
        rows_ = records(shuffler, "SELECT * FROM batches WHERE type = %d" % SEALED)
        if rows_ or listing(shuffler, "mixed") or listing(shuffler, "incoming"):
            left.append((shuffler.called, len(rows_), listing(shuffler, "mixed"), listing(shuffler, "incoming")))
    if listing(c.collector, "incoming"):
        left.append(listing(c.collector, "incoming"))

print("# killed: %s" % ", ".join("%s %s %d" % (who, state or "otherwise", n) for (who, state), n in sorted(seen.items(), key=str)))
kills, acked = sum(life.kills for life in lives), sum(len(life.acked) + life.nulls for life in lives)
print("# %d kills, seed %d: %d acknowledged = %d tallied (%d others besides) + %d null + %d erased; lost %d, doubled %d" % (
    kills, SEED, acked, counted - again, again, nulls, said_erased, lost, doubled))
ok(not any(life.strange for life in lives), "no upload of theirs is ever refused", [life.strange for life in lives])
ok(lost == 0, "%d kills: of the reports that were acknowledged none is lost" % kills, lost)
ok(doubled == 0, "and none is counted twice, or after it was erased", doubled)
ok(said_erased == erased and erased > 0, "what was too few for too long is erased, and said to be", (said_erased, erased))
ok(acked == counted - again + nulls + said_erased, "acknowledged = tallied + null + erased", (acked, counted, again, nulls, said_erased))
ok(not left, "no envelope is left at a shuffler, and no file of them anywhere", left)
ok(not unsound, "all stop on request, and their stores are sound", unsound)
for name, states in STATES.items():
    ok({state for who, state in seen if who == name} >= states, "control: the %s was killed while %s" % (name, ", ".join(sorted(states))),
       sorted(states - {state for who, state in seen if who == name}))
ok(kills >= KILLS, "control: %d kills" % KILLS, kills)
done()
