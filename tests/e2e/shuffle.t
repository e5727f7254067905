#!/usr/bin/python3 -B
"""Shufflers as processes: a batch goes from devices through two of them to the
collector, each report once."""

from chain import *

c = Chain(shufflers=2, min_batch=5)
first, second = c.shufflers
today = c.now[0]

status, body = c.send(c.uploads(list(range(20)) + [None]))
ok(status == 204, "sealed uploads are acknowledged", body)
c.at(today + 1, 7)
got = c.collector.settled("veiled", 20)
ok(got == {i: 1 for i in range(20)}, "all reports are counted, each once", [got, [p.said()[-1500:] for p in c.parties]])
done()
