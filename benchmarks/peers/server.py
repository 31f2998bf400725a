"""The asking side of the line protocol: one process of a peer for one row.

Every answer has a time limit; a server that dies, hangs or answers with an
error fails its own cell of the table, nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import select
import shlex
import signal
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

import harness

if TYPE_CHECKING:
    import numpy as np

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "TVM")}


class Server:
    """A contender (harness.Contender) in a process of its own."""

    def __init__(self, command: str, folder: pathlib.Path, start_limit: float = 600, limit: float = 60) -> None:
        """Starts `command`, its {} replaced by `folder`, and waits until it is ready.

        Raises Failed, or Unsupported where the peer says that it has no such form.
        """
        self.limit, self.pending, self.folder = limit, b"", folder
        #: Whether it gave no proper answer to a question: it is not to be asked again.
        self.broken = False
        self.log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (closed by close)
        words = [word.replace("{}", str(folder)) for word in shlex.split(command)]
        try:
            # A session of its own, so that close() reaches the peer's compilers too.
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,
            )
        except OSError as error:
            raise harness.Failed(f"cannot start '{words[0]}': {error.strerror}") from None
        try:
            self.about = self.read(start_limit)
            if "unsupported" in self.about:
                raise harness.Unsupported(str(self.about["unsupported"]))
            if not self.about.get("ready"):
                raise harness.Failed(f'expected a line with "ready", got {self.about}')
        except (harness.Failed, harness.Unsupported):
            self.close()
            raise

    def read(self, limit: float) -> dict:
        """The next line that is a JSON object; other lines are not the protocol's."""
        end, stream = time.monotonic() + limit, self.process.stdout
        while True:
            while b"\n" not in self.pending:
                if not select.select([stream], [], [], max(0.0, end - time.monotonic()))[0]:
                    raise harness.Failed(f"no answer within {limit:g} s")
                block = os.read(stream.fileno(), 1 << 16)
                if not block:
                    raise harness.Failed(self.last_words())
                self.pending += block
            line, self.pending = self.pending.split(b"\n", 1)
            if line.startswith(b"{"):
                try:
                    answer = json.loads(line)
                except ValueError:
                    raise harness.Failed(f"answered with broken JSON: {line[:80]!r}") from None
                if "error" in answer:
                    raise harness.Failed(str(answer["error"]))
                return answer

    def ask(self, line: str) -> dict:
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
            return self.read(self.limit)
        except OSError:
            self.broken = True
            raise harness.Failed(self.last_words()) from None
        except harness.Failed:
            self.broken = True
            raise

    def last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.log.seek(0)
        return harness.last_words(self.process.poll() or 0, self.log.read())

    def warm_up(self) -> None:
        self.time()

    def time(self) -> float:
        answer = self.ask("time")
        value = answer.get("ns")
        if not isinstance(value, int | float) or not value > 0:
            self.broken = True
            raise harness.Failed(f'expected a positive "ns", got {answer}')
        return float(value)

    def output(self) -> np.ndarray:
        import numpy as np

        file = self.folder / "output.npy"
        file.unlink(missing_ok=True)
        self.ask(f"check {file}")
        if not file.exists():
            raise harness.Failed("check wrote no output")
        return np.load(file)

    def close(self) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self.process.stdin.close()
            self.process.wait(3)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
