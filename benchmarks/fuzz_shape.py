"""What fuzz.py checks: a payload, its inputs, and numpy's answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

Arrays = list[np.ndarray]


@dataclasses.dataclass
class Shape:
    """One payload with its reference in numpy, computed in f64."""

    name: str
    text: str
    inputs: list[tuple[int, ...]]
    result: tuple[int, ...]
    reference: Callable[[Arrays], np.ndarray]
    reduction: int


def tensor(shape: tuple[int, ...]) -> str:
    return "tensor<" + "".join(f"{d}x" for d in shape) + "f32>"
