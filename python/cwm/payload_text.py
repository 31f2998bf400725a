"""Writes payloads: functions of linalg ops as text, in the form that model importers give them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

Shape = tuple[int, ...]


def tensor(shape: Sequence[int], dtype: str = "f32") -> str:
    """Spelling of a tensor type."""
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + dtype + ">"


def dense(values: Sequence[int]) -> str:
    """A vector attribute as convolutions have them."""
    listed = str(values[0]) if len(set(values)) == 1 else "[" + ", ".join(map(str, values)) + "]"
    return f"dense<{listed}> : vector<{len(values)}xi64>"


def affine(num_dims: int, results: Sequence[int | None]) -> str:
    """A map that selects dimensions; None is the constant 0, of a broadcast extent of 1."""
    dims = ", ".join(f"d{i}" for i in range(num_dims))
    selected = ", ".join("0" if i is None else f"d{i}" for i in results)
    return f"affine_map<({dims}) -> ({selected})>"


def number(value: float, dtype: str = "f32") -> str:
    """A scalar attribute."""
    if dtype.startswith("i"):
        return f"{int(value)} : {dtype}"
    if math.isinf(value):
        bits = {"f32": ("0x7F800000", "0xFF800000"), "f64": ("0x7FF0000000000000", "0xFFF0000000000000")}[dtype]
        return f"{bits[value < 0]} : {dtype}"
    return f"{value:.8e} : {dtype}"


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor in the function."""

    name: str
    shape: Shape
    dtype: str = "f32"

    @property
    def type(self) -> str:
        return tensor(self.shape, self.dtype)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * {"f64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "i8": 1}[self.dtype]


class Scalars:
    """The body of one linalg.generic: arithmetic on elements of one type."""

    def __init__(self, function: Function, dtype: str, first: int) -> None:
        self.function, self.dtype, self.next = function, dtype, first
        self.lines: list[str] = []

    def op(self, name: str, *operands: str, dtype: str = "") -> str:
        """Applies an op; names say which operands are scalars of this body or constants of the function."""
        result = f"%s{self.next}"
        self.next += 1
        self.lines.append(f"{result} = {name} {', '.join(operands)} : {dtype or self.dtype}")
        return result

    def constant(self, value: float) -> str:
        return self.function.constant(value, self.dtype)

    def select(self, condition: str, yes: str, no: str) -> str:
        return self.op("arith.select", condition, yes, no)

    def maximum(self, a: str, b: str, predicate: str = "ugt") -> str:
        return self.select(self.op(f"arith.cmpf {predicate},", a, b), a, b)


class Function:
    """One payload under construction."""

    def __init__(self) -> None:
        self.arguments: list[tuple[Value, str]] = []
        self.constants: dict[str, str] = {}
        self.lines: list[str] = []
        self.count = 0
        #: Multiply-adds count as two; for estimates only.
        self.flops = 0.0
        #: Bytes that the ops read and write, intermediate results included.
        self.traffic = 0.0

    def argument(self, shape: Shape, dtype: str = "f32", *, constant: bool = False, domain: str = "") -> Value:
        value = Value(f"%arg{len(self.arguments)}", shape, dtype)
        attributes = ["cwm.constant"] * constant + [f'cwm.domain = "{domain}"'] * bool(domain)
        self.arguments.append((value, " {" + ", ".join(attributes) + "}" if attributes else ""))
        return value

    def constant(self, value: float, dtype: str = "f32") -> str:
        text = number(value, dtype)
        return self.constants.setdefault(text, f"%cst_{len(self.constants)}")

    def value(self, shape: Shape, dtype: str) -> Value:
        self.count += 1
        return Value(f"%{self.count - 1}", shape, dtype)

    def emit(self, shape: Shape, dtype: str, text: str) -> Value:
        """One op with one result; `text` is what stands behind the equals sign."""
        result = self.value(shape, dtype)
        self.lines.append(f"{result.name} = {text}")
        return result

    def empty(self, shape: Shape, dtype: str = "f32") -> Value:
        return self.emit(shape, dtype, f"tensor.empty() : {tensor(shape, dtype)}")

    def fill(self, value: float, shape: Shape, dtype: str = "f32") -> Value:
        empty = self.empty(shape, dtype)
        return self.emit(
            shape,
            dtype,
            f"linalg.fill ins({self.constant(value, dtype)} : {dtype}) outs({empty.name} : {empty.type}) -> {empty.type}",
        )

    def named(self, op: str, inputs: Sequence[Value], out: Value, attributes: str = "", tail: str = "") -> Value:
        """A named op that writes to `out`; `tail` ends those without a result type (transpose)."""
        names = ", ".join(v.name for v in inputs)
        types = ", ".join(v.type for v in inputs)
        attributes = f" {attributes}" if attributes else ""
        self.traffic += sum(v.bytes for v in inputs) + out.bytes
        return self.emit(
            out.shape,
            out.dtype,
            f"linalg.{op}{attributes} ins({names} : {types}) outs({out.name} : {out.type}) {tail or '-> ' + out.type}",
        )

    def transpose(self, value: Value, permutation: Sequence[int]) -> Value:
        out = self.empty(tuple(value.shape[i] for i in permutation), value.dtype)
        return self.named("transpose", [value], out, tail=f"permutation = [{', '.join(map(str, permutation))}]")

    def broadcast(self, value: Value, shape: Shape, dimensions: Sequence[int]) -> Value:
        out = self.empty(shape, value.dtype)
        return self.named("broadcast", [value], out, tail=f"dimensions = [{', '.join(map(str, dimensions))}]")

    def pad(self, value: Value, low: Sequence[int], high: Sequence[int], fill: float = 0.0) -> Value:
        """The same value where nothing is padded."""
        if not any(low) and not any(high):
            return value
        shape = tuple(a + b + c for a, b, c in zip(low, value.shape, high, strict=True))
        indices = ", ".join(f"%p{i}: index" for i in range(len(shape)))
        yielded = self.constant(fill, value.dtype)
        self.traffic += value.bytes + Value("", shape, value.dtype).bytes
        return self.emit(
            shape,
            value.dtype,
            f"tensor.pad {value.name} low[{', '.join(map(str, low))}] high[{', '.join(map(str, high))}] {{\n"
            f"^bb0({indices}):\n  tensor.yield {yielded} : {value.dtype}\n}} : {value.type} to {tensor(shape, value.dtype)}",
        )

    def generic(
        self,
        inputs: Sequence[tuple[Value, Sequence[int | None]]],
        out: Value,
        out_dims: Sequence[int | None],
        iterators: str,
        body: Callable[[Scalars, list[str]], str],
        operations: int = 1,
    ) -> Value:
        """A linalg.generic; iterators are 'p' and 'r', `body` gets the elements of inputs and out."""
        maps = [affine(len(iterators), dims) for _, dims in inputs] + [affine(len(iterators), out_dims)]
        kinds = ", ".join({"p": '"parallel"', "r": '"reduction"'}[i] for i in iterators)
        elements = [f"%in{i}" for i in range(len(inputs))] + ["%out"]
        types = [value.dtype for value, _ in inputs] + [out.dtype]
        scalars = Scalars(self, out.dtype, 0)
        result = body(scalars, elements)
        block = ", ".join(f"{e}: {t}" for e, t in zip(elements, types, strict=True))
        ins = ""
        if inputs:
            names = ", ".join(v.name for v, _ in inputs)
            ins = f" ins({names} : {', '.join(v.type for v, _ in inputs)})"
        self.traffic += sum(v.bytes for v, _ in inputs) + out.bytes
        extents: dict[int, int] = {}
        for value, dims in [*inputs, (out, out_dims)]:
            extents.update({d: n for d, n in zip(dims, value.shape, strict=True) if d is not None})
        self.flops += operations * math.prod(extents.values())
        lines = "\n".join("  " + line for line in scalars.lines)
        return self.emit(
            out.shape,
            out.dtype,
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}{ins} "
            f"outs({out.name} : {out.type}) {{\n^bb0({block}):\n{lines}{chr(10) if lines else ''}"
            f"  linalg.yield {result} : {out.dtype}\n}} -> {out.type}",
        )

    def render(self, results: Sequence[Value]) -> str:
        """The whole module."""
        arguments = ", ".join(f"{v.name}: {v.type}{attributes}" for v, attributes in self.arguments)
        types = ", ".join(v.type for v in results)
        types = types if len(results) == 1 else f"({types})"
        body = [f"{name} = arith.constant {text}" for text, name in self.constants.items()]
        body += [line for text in self.lines for line in text.split("\n")]
        body.append(f"return {', '.join(v.name for v in results)} : {', '.join(v.type for v in results)}")
        indented = "\n".join("    " + line for line in body)
        return f"module {{\n  func.func @kernel({arguments}) -> {types} {{\n{indented}\n  }}\n}}\n"

    @property
    def bytes(self) -> int:
        """Of the arguments."""
        return sum(v.bytes for v, _ in self.arguments)
