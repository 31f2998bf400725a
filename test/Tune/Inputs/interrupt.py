"""interrupt.py COMMAND...: SIGINT after the first progress line.

Waits for the command's own words, not for time. Prints its stderr and status.
"""

import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True)
assert process.stderr
sent = False
for line in process.stderr:
    print(line, end="")
    if not sent and line.startswith("["):
        sent = True
        process.send_signal(signal.SIGINT)
print("status", process.wait())
