"""remove_file.py remove|replace FILE COMMAND...: FILE goes after the first progress line.

Waits for the command's own words, not for time. Prints its stderr and status.
"""

import subprocess
import sys
from pathlib import Path

how, file = sys.argv[1], Path(sys.argv[2])
process = subprocess.Popen(sys.argv[3:], stderr=subprocess.PIPE, text=True)
assert process.stderr
for line in process.stderr:
    print(line, end="")
    if file.exists() and line.startswith("[") and how:
        file.unlink()
        if how == "replace":
            file.write_text("")
        how = ""
print("status", process.wait())
