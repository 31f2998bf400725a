"""exit_is.py STATUS COMMAND...: 0 iff the command ends with exactly that status.

`not` of LLVM takes any failure; a crash or exit 1 where 2 is promised must fail.
"""

import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
if status != int(sys.argv[1]):
    print(f"exit_is: got {status}, expected {sys.argv[1]}", file=sys.stderr)
    sys.exit(1)
