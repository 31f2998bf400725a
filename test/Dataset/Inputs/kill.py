"""kill.py DATABASE JOURNAL COMMAND...: kills the command (SIGKILL) again and again until it gets to its end.

Each time after a little more was stored, so that kills fall into all its
phases. Says how often, and that nothing was measured again which was stored.
"""

import collections
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

path, journal, command = sys.argv[1], sys.argv[2], sys.argv[3:]


def stored() -> int:
    """Trajectories and records; -1 while there is no table."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as database:
            return sum(database.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("trajectory", "record"))
    except sqlite3.OperationalError:
        return -1


kills = 0
for attempt in range(60):
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    # The first ones before anything is stored at all.
    before = stored()
    while process.poll() is None and (attempt >= 2 and stored() <= before):
        time.sleep(0.002)
    if attempt < 2:
        time.sleep(0.05 * attempt)
    else:
        time.sleep(0.003 * (attempt % 7))
    if process.poll() is not None:
        break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kills += 1
print("killed" if kills >= 3 else f"killed {kills} times only", "and ended with", process.wait())
keys = collections.Counter(pathlib.Path(journal).read_text().splitlines())
# What was in flight when a kill came is measured again: one each time at most.
print("again", "no more than was in flight" if sum(keys.values()) - len(keys) <= kills else keys)
