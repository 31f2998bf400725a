"""What the kernels of both TVMs share: calls on arrays that stay, timed in TVM's own loop. Python 3.8, without tvm itself."""

from __future__ import annotations

import numpy as np
import protocol


class Kernel(protocol.Kernel):
    """Subclasses set `function`, `buffers` (the result last) and `loops`, empty, and give `evaluator`."""

    def __call__(self) -> None:
        self.function(*self.buffers)

    def evaluator(self, number: int) -> object:
        """TVM's loop of `number` calls."""
        raise NotImplementedError

    def repeat(self, count: int) -> None:
        """In TVM's own loop, which runs once more than it is told to, in front."""
        if count == 1:
            self()
            return
        if count not in self.loops:
            self.loops = {count: self.evaluator(count - 1)}
        self.loops[count](*self.buffers)

    def result(self) -> np.ndarray:
        self()
        return self.buffers[-1].numpy()
