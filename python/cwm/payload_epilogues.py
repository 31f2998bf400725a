"""What models do to the result of a product or a convolution: bias, normalisation, residuals, activations."""

from __future__ import annotations

import random
from collections.abc import Callable

from cwm.payload_text import Function, Scalars, Value

#: Activations on one element: what the exporters of frameworks write for them.
Activation = Callable[[Scalars, str], str]


def relu(s: Scalars, x: str) -> str:
    return s.maximum(x, s.constant(0.0))


def relu6(s: Scalars, x: str) -> str:
    zero, six = s.constant(0.0), s.constant(6.0)
    positive = s.maximum(x, zero, "ogt")
    return s.select(s.op("arith.cmpf olt,", six, positive), six, positive)


def leaky_relu(s: Scalars, x: str) -> str:
    scaled = s.op("arith.mulf", x, s.constant(0.01))
    return s.select(s.op("arith.cmpf ugt,", x, s.constant(0.0)), x, scaled)


def gelu(s: Scalars, x: str) -> str:
    erf = s.op("math.erf", s.op("arith.divf", x, s.constant(1.41421354)))
    return s.op("arith.mulf", x, s.op("arith.mulf", s.op("arith.addf", erf, s.constant(1.0)), s.constant(0.5)))


def gelu_tanh(s: Scalars, x: str) -> str:
    cube = s.op("arith.mulf", s.op("arith.mulf", x, x), x)
    inner = s.op("arith.addf", x, s.op("arith.mulf", cube, s.constant(0.044715)))
    tanh = s.op("math.tanh", s.op("arith.mulf", inner, s.constant(0.797884583)))
    return s.op("arith.mulf", s.op("arith.mulf", x, s.constant(0.5)), s.op("arith.addf", tanh, s.constant(1.0)))


def sigmoid(s: Scalars, x: str) -> str:
    one = s.constant(1.0)
    return s.op("arith.divf", one, s.op("arith.addf", s.op("math.exp", s.op("arith.negf", x)), one))


def silu(s: Scalars, x: str) -> str:
    return s.op("arith.mulf", x, sigmoid(s, x))


def hardswish(s: Scalars, x: str) -> str:
    shifted = s.op("arith.addf", x, s.constant(3.0))
    clipped = s.op("arith.minimumf", s.op("arith.maximumf", shifted, s.constant(0.0)), s.constant(6.0))
    return s.op("arith.mulf", x, s.op("arith.divf", clipped, s.constant(6.0)))


def tanh(s: Scalars, x: str) -> str:
    return s.op("math.tanh", x)


ACTIVATIONS: dict[str, Activation] = {
    "relu": relu,
    "relu6": relu6,
    "leaky": leaky_relu,
    "gelu": gelu,
    "gelutanh": gelu_tanh,
    "sigmoid": sigmoid,
    "silu": silu,
    "hardswish": hardswish,
    "tanh": tanh,
}

#: Steps behind a product; "bias" and "bn" are values of a channel, "add" and "mul" whole tensors.
EPILOGUES = {
    "conv": ["", "bias", "bias relu", "bias relu", "bias relu6", "bias silu", "bias hardswish", "bias leaky", "bias add",
             "bias add relu", "bn", "bn relu", "bn relu6", "bn silu", "bn add relu", "bias sigmoid", "bias mul", "relu"],
    "linear": ["", "", "bias", "bias", "bias relu", "bias gelu", "bias gelutanh", "bias silu", "bias add", "bias tanh",
               "bias sigmoid", "bias mul", "add", "bias add relu", "scale", "bias scale", "silu mul", "bias leaky"],
    "batch": ["", "", "", "scale", "scale mask", "mask", "add", "relu", "scale add"],
}  # fmt: skip


def apply_step(f: Function, step: str, value: Value, channel: int, fused: Fuser, rng: random.Random) -> None:
    """Adds one step to the elementwise op that `fused` builds."""
    rank = len(value.shape)
    everywhere: list[int | None] = list(range(rank))
    channels = (value.shape[channel],)
    if step == "bias":
        fused.binary("arith.addf", f.argument(channels, constant=True), [channel])
    elif step == "bn":
        fused.binary("arith.mulf", f.argument(channels, constant=True), [channel])
        fused.binary("arith.addf", f.argument(channels, constant=True), [channel])
    elif step in ("add", "mul"):
        fused.binary(f"arith.{step}f", f.argument(value.shape), everywhere)
    elif step == "mask":
        fused.binary("arith.addf", f.argument((1, *value.shape[1:]), constant=True), [None, *everywhere[1:]])
    elif step == "scale":
        factor = rng.choice([0.125, 0.0883883461, 0.25, 0.0721687824])
        fused.steps.append(("", lambda s, x: s.op("arith.mulf", x, s.constant(factor))))
    else:
        fused.steps.append(("", ACTIVATIONS[step]))


class Fuser:
    """Collects steps on one value and writes them as one elementwise op, or as one op for each."""

    def __init__(self, function: Function, value: Value) -> None:
        self.function, self.value = function, value
        self.operands: list[tuple[Value, list[int | None]]] = []
        #: Name of a binary op on the next operand, or "" and a function of one element.
        self.steps: list[tuple[str, Activation | None]] = []

    def binary(self, op: str, operand: Value, dims: list[int | None]) -> None:
        self.operands.append((operand, dims))
        self.steps.append((op, None))

    def finish(self, split: bool) -> Value:
        if not self.steps:
            return self.value
        if not split:
            return self._write(self.value, self.steps, self.operands)
        value, operands = self.value, list(self.operands)
        for step in self.steps:
            value = self._write(value, [step], [operands.pop(0)] if step[0] else [])
        return value

    def _write(
        self,
        value: Value,
        steps: list[tuple[str, Activation | None]],
        operands: list[tuple[Value, list[int | None]]],
    ) -> Value:
        dims: list[int | None] = list(range(len(value.shape)))

        def body(s: Scalars, elements: list[str]) -> str:
            x, rest = elements[0], elements[1:-1]
            for op, activation in steps:
                x = s.op(op, x, rest.pop(0)) if activation is None else activation(s, x)
            return x

        out = self.function.empty(value.shape, value.dtype)
        return self.function.generic(
            [(value, dims), *operands], out, dims, "p" * len(dims), body, operations=2 * len(steps)
        )


def epilogue(
    f: Function, family: str, value: Value, channel: int, rng: random.Random, skip_bias: bool = False
) -> Value:
    """A random epilogue; `skip_bias` where the bias is the initial value already."""
    steps = rng.choice(EPILOGUES[family]).split()
    if skip_bias:
        steps = [step for step in steps if step not in ("bias", "bn")]
    fused = Fuser(f, value)
    for step in steps:
        apply_step(f, step, value, channel, fused, rng)
    # Exporters leave one op for each; those that fuse, one in all.
    return fused.finish(split=rng.random() < 0.25)
