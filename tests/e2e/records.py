"""records.py - what a party has in its record.db, whether it runs or not."""

import sqlite3

from collector import *


def log_in_force(file):
    """The bytes of a write-ahead log that are read: it is longer than that, with
    what an earlier round has left (https://sqlite.org/fileformat2.html, 4.3)."""
    parts = [file.read(32)]
    page = struct.unpack_from(">I", parts[0].ljust(32, b"\0"), 8)[0]
    while page:  # 0: nothing was written yet
        frame = file.read(24 + page)
        if len(frame) < 24 + page or frame[8:16] != parts[0][16:24]:
            break
        parts.append(frame)
    return b"".join(parts)


def _copied(party):
    """The bytes of a party's record.db, and of its write-ahead log in force."""
    wal = os.path.join(party.data, "record.db-wal")
    with open(os.path.join(party.data, "record.db"), "rb") as f:
        db = f.read()
    if not os.path.exists(wal):
        return db, b""
    with open(wal, "rb") as f:
        return db, log_in_force(f)


def records(party, question):
    """Rows of a party's record, read from a copy, so that nothing of it is touched.
    A commit or a checkpoint between the two files would make a copy of two states,
    so they are read until two readings are equal: then the log did not change
    while the database was read."""
    copy, trouble = path("copy.db"), "it changes all the time"
    for again in range(1000):
        try:
            state = _copied(party)
            if state != _copied(party):
                continue
            for end, data in zip(("", "-wal"), state):
                with open(copy + end, "wb") as f:
                    f.write(data)
            with sqlite3.connect(copy) as db:
                return db.execute(question).fetchall()
        except (sqlite3.Error, OSError) as e:  # a log may go between two looks at it
            trouble = e
            time.sleep(0.001)
        finally:
            for end in ("", "-wal", "-shm"):
                if os.path.exists(copy + end):
                    os.remove(copy + end)
    raise SystemExit("Bail out! %s: %s" % (party.data, trouble))
