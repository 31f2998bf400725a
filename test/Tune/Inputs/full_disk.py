"""full_disk.py KIB... -- COMMAND...: runs it in an empty tmpfs of each of these sizes.

Needs a mount namespace of its own (`unshare -Urm`). Where the command does not
succeed it must exit with 1 and say that the disk is full and which file that
concerns, and nothing else; no temporary file may be left.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ERROR = re.compile(r"cwm-tune: error: cannot (write|create|make) .*'.+': the disk is full")


def check(kib: int, command: list[str]) -> str:
    """What is wrong; "" if nothing."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", folder]
        subprocess.run(mount, check=True)
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            errors = [line for line in done.stderr.splitlines() if "rror:" in line or "ERROR" in line]
            if list(Path(folder).rglob("*.tmp-*")):
                return "temporary files are left"
        finally:
            subprocess.run(["umount", folder], check=True)
    if done.returncode == 0 and not errors:
        return ""
    # Of the result and of the summary, say: each is told of.
    if done.returncode != 1 or not errors or not all(map(ERROR.match, errors)):
        return f"exit status {done.returncode}\n{done.stderr}"
    return ""


split = sys.argv.index("--")
for size in map(int, sys.argv[1:split]):
    if problem := check(size, sys.argv[split + 1 :]):
        sys.exit(f"with {size} KiB: {problem}")
print("each full disk was called so")
