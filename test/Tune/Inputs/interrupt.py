"""interrupt.py N COMMAND...: SIGINT after the first progress line; N > 1: until it ends.

Waits for the command's own words, not for time. Prints its stderr and status.
"""

import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[2:], stderr=subprocess.PIPE, text=True)
assert process.stderr
sent = False
for line in process.stderr:
    print(line, end="")
    if sent or not line.startswith("["):
        continue
    sent = True
    process.send_signal(signal.SIGINT)
    while int(sys.argv[1]) > 1 and process.poll() is None:
        process.send_signal(signal.SIGINT)
print("status", process.wait())
