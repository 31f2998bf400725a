"""apply_result.py RESULT OBJECT: does what the header of RESULT tells a user to do.

Runs the two mlir-opt commands as they are printed, then LLVM's translation and
clang; fails when one of them fails. Nothing of cwm is used.
"""

import re
import subprocess
import sys
from pathlib import Path

result, target = sys.argv[1:]
commands = re.findall(r"^//   (mlir-opt[-0-9]* .*)$", Path(result).read_text(), flags=re.MULTILINE)
assert len(commands) == 2, commands
pipe = f"set -o pipefail; {commands[0]} | {commands[1]} | mlir-translate --mlir-to-llvmir"
pipe += f" | clang -O2 -march=native -Wno-override-module -x ir -c - -o {target}"
sys.exit(subprocess.run(["bash", "-c", pipe], check=False).returncode)
