"""with_lock.py FILE COMMAND...: runs it while this process holds FILE's lock."""

import fcntl
import os
import subprocess
import sys

with open(sys.argv[1], "a+") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)
