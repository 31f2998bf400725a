"""interrupt_start.py (reading|workers) COMMAND...: SIGINT before the first trial.

`reading`: while the command, whose payload is stdin, waits for the rest of it:
once more than a pipe holds was taken, it must be reading. `workers`: once it has
a child process. Both wait for what is seen to happen, not for time. Prints
stderr, stdout and the status, and whether a child outlived it.
"""

import signal
import subprocess
import sys
from pathlib import Path


def get_children(pid: int) -> list[int]:
    children = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if int(parent) == pid and state != "Z":
            children.append(int(entry.name))
    return children


stage, command = sys.argv[1], sys.argv[2:]
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
assert process.stdin
children: list[int] = []
if stage == "reading":
    process.stdin.write(b"// " + b"x" * (1 << 20))
    process.stdin.flush()
else:
    while not children and process.poll() is None:
        children = get_children(process.pid)
process.send_signal(signal.SIGINT)
# Not communicate(): that would end the payload.
status = process.wait()
print((process.stderr.read() + process.stdout.read()).decode(), end="")
print("status", status)
for child in children:
    # Killed with their parent; the kernel may need a moment.
    while Path(f"/proc/{child}/exe").exists():
        pass
print("no worker is left")
