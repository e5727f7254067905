"""quick_disk.py - imported before e2e.py: its directory is where a sync costs
nothing. What a test kills loses no power, and memory keeps what was written."""

import os
import tempfile

if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
