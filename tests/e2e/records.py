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


def records(party, question):
    """Rows of a party's record, of a copy, so that nothing of it is touched."""
    copy, wal = path("copy.db"), os.path.join(party.data, "record.db-wal")
    for again in range(1000):  # until it was not changed meanwhile
        try:
            shutil.copy(os.path.join(party.data, "record.db"), copy)
            if os.path.exists(wal):
                with open(wal, "rb") as of, open(copy + "-wal", "wb") as to:
                    to.write(log_in_force(of))
            with sqlite3.connect(copy) as db:
                return db.execute(question).fetchall()
        except sqlite3.Error as e:
            trouble = e
            time.sleep(0.001)
        finally:
            for end in ("", "-wal", "-shm"):
                if os.path.exists(copy + end):
                    os.remove(copy + end)
    raise SystemExit("Bail out! %s: %s" % (party.data, trouble))
