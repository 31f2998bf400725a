"""run_header.py RESULT: runs the command that RESULT says applies it, in a shell."""

import re
import subprocess
import sys
from pathlib import Path

command = re.search(r"^// Apply it.*:\n//   (.*)$", Path(sys.argv[1]).read_text(), re.MULTILINE)
assert command, "no command"
sys.exit(subprocess.run(["bash", "-c", command[1]], check=False).returncode)
