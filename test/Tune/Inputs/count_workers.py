"""count_workers.py COMMAND...: how many worker processes it has at its first trial."""

import subprocess
import sys
from pathlib import Path

process = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True)
assert process.stderr
count = -1
for line in process.stderr:
    if count < 0 and line.startswith("["):
        count = 0
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                name, _, rest = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            count += "(cwm-runner" in name and int(rest.split()[1]) == process.pid
print(count, "workers, status", process.wait())
