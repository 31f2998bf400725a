"""torch as a peer: what an entry of an index computes, eager, compiled, or through oneDNN.

An entry's `torch` names one operation and its parameters:

  conv      stride, padding, groups=1, activation; a second activation argument is added before it
  linear    activation; the weight is [N, K]
  matmul    transpose_b=false
  softmax   over the last axis
  mean      dims, keepdim
  variance  of the last axis, the mean is the second argument
  max_pool  kernel, stride, padding
  layer_norm  eps; over the last axis, with scale and shift
  permute   permutation, into fresh memory

`activation` is relu, relu6 or gelu (erf). Weights are parameters of a module, so
that compiled forms may pack them before the timing starts. NHWC entries run on
tensors in torch's channels_last format: the same bytes as the payload's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
from collections.abc import Callable, Iterator

for _name in ("OMP", "MKL", "OPENBLAS"):
    os.environ[_name + "_NUM_THREADS"] = os.environ.get("CWM_BENCH_THREADS", "1")
os.environ.setdefault("KMP_BLOCKTIME", "20")
os.environ.setdefault("TORCHINDUCTOR_FREEZING", "1")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import catalogue  # noqa: E402
import harness  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

Tensors = list[torch.Tensor]


@contextlib.contextmanager
def session() -> Iterator[None]:
    """As many threads as are asked for, no gradients, and an allocator that keeps freed memory.

    Without the last, a result above glibc's mmap threshold is mapped and faulted
    in anew on each call, which flatters whoever is compared with torch.
    """
    libc = ctypes.CDLL(None)
    libc.mallopt(-1, ctypes.c_int(2_000_000_000))  # M_TRIM_THRESHOLD
    libc.mallopt(-3, ctypes.c_int(1 << 30))  # M_MMAP_THRESHOLD
    torch.set_num_threads(harness.THREADS)
    with torch.inference_mode():
        yield


def activate(y: torch.Tensor, name: str | None) -> torch.Tensor:
    if name == "relu":
        return F.relu(y)
    if name == "relu6":
        return torch.clamp(y, 0.0, 6.0)
    if name == "gelu":
        return F.gelu(y)
    if name is not None:
        raise ValueError(f"unknown activation '{name}'")
    return y


def _conv(spec: dict, x: Tensors, weights: Tensors) -> torch.Tensor:
    function = F.conv2d if weights[0].dim() == 4 else F.conv3d
    bias = weights[1] if len(weights) > 1 else None
    y = function(x[0], weights[0], bias, spec["stride"], spec["padding"], groups=spec.get("groups", 1))
    return activate(y + x[1] if len(x) > 1 else y, spec.get("activation"))


def _linear(spec: dict, x: Tensors, weights: Tensors) -> torch.Tensor:
    return activate(F.linear(x[0], *weights), spec.get("activation"))


def _matmul(spec: dict, x: Tensors, weights: Tensors) -> torch.Tensor:
    a, b = [*x, *weights]
    return torch.matmul(a, b.transpose(-1, -2) if spec.get("transpose_b") else b)


def _variance(spec: dict, x: Tensors, weights: Tensors) -> torch.Tensor:
    difference = x[0] - x[1]
    return (difference * difference).mean(-1, keepdim=True)


OPERATIONS: dict[str, Callable[[dict, Tensors, Tensors], torch.Tensor]] = {
    "conv": _conv,
    "linear": _linear,
    "matmul": _matmul,
    "softmax": lambda spec, x, weights: torch.softmax(x[0], -1),
    "mean": lambda spec, x, weights: x[0].mean(spec["dims"], keepdim=spec["keepdim"]),
    "variance": _variance,
    "max_pool": lambda spec, x, weights: F.max_pool2d(x[0], spec["kernel"], spec["stride"], spec["padding"]),
    "layer_norm": lambda spec, x, weights: F.layer_norm(x[0], x[0].shape[-1:], *weights, eps=spec["eps"]),
    "permute": lambda spec, x, weights: x[0].permute(spec["permutation"]).contiguous(),
}


class Subgraph(torch.nn.Module):
    """An entry as a module: activations are arguments, constants are parameters."""

    def __init__(self, spec: dict, constants: Tensors) -> None:
        super().__init__()
        self.spec = spec
        self.constants = torch.nn.ParameterList([torch.nn.Parameter(c, requires_grad=False) for c in constants])

    def forward(self, *x: torch.Tensor) -> torch.Tensor:
        return OPERATIONS[self.spec["op"]](self.spec, list(x), list(self.constants))


def to_torch(entry: catalogue.Entry, a: catalogue.Array, value: np.ndarray) -> torch.Tensor:
    """An argument as torch wants it; activations share the array's memory."""
    t = torch.from_numpy(value)
    if entry.layout != "nhwc":
        return t
    if a.role == "activation":
        return t.permute(0, 3, 1, 2)
    if t.dim() == 4:  # HWCF
        return t.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    if t.dim() == 3:  # HWC
        return t.permute(2, 0, 1).unsqueeze(1).contiguous(memory_format=torch.channels_last)
    return t


def split(entry: catalogue.Entry, inputs: list[np.ndarray]) -> tuple[Tensors, Tensors]:
    """Activations and constants."""
    tensors = [(a.role, to_torch(entry, a, x)) for a, x in zip(entry.args, inputs, strict=True)]
    return [t for role, t in tensors if role == "activation"], [t for role, t in tensors if role != "activation"]


def to_numpy(entry: catalogue.Entry, y: torch.Tensor) -> np.ndarray:
    """A result in the payload's layout."""
    return (y.permute(0, 2, 3, 1) if entry.layout == "nhwc" else y).contiguous().numpy()


def reference(entry: catalogue.Entry, inputs: list[np.ndarray]) -> np.ndarray:
    """The result in f64."""
    activations, constants = split(entry, [x.astype(np.float64) for x in inputs])
    return to_numpy(entry, Subgraph(entry.torch, constants)(*activations))


class Local(harness.InProcess):
    """A function of torch tensors as a contender."""

    def __init__(self, entry: catalogue.Entry, function: Callable, arguments: Tensors) -> None:
        super().__init__(lambda: function(*arguments))
        self.entry = entry

    def output(self) -> np.ndarray:
        return to_numpy(self.entry, self.call())

    def close(self) -> None:
        pass


def onednn(entry: catalogue.Entry, x: Tensors, constants: Tensors) -> Callable:
    """oneDNN called directly: weights packed, the epilogue fused."""
    spec = entry.torch
    activation = spec.get("activation")
    if spec["op"] == "linear":
        weight = torch.ops.mkldnn._reorder_linear_weight(constants[0], x[0].shape[0])
        bias = constants[1] if len(constants) > 1 else None
        tail = ("gelu", [], "none") if activation == "gelu" else ("none", [], "")
        return lambda a: torch.ops.mkldnn._linear_pointwise(a, weight, bias, *tail)
    if spec["op"] == "conv" and entry.layout == "nhwc":
        op, dims = torch.ops.mkldnn._convolution_pointwise, 2
        geometry = ([spec["padding"]] * dims, [spec["stride"]] * dims, [1] * dims, spec.get("groups", 1))
        weight = torch.ops.mkldnn._reorder_convolution_weight(constants[0], *geometry, list(x[0].shape))
        bias = constants[1]
        if len(x) > 1:
            return lambda a, r: op.binary(a, r, weight, bias, *geometry, "add", 1.0, activation, [], None)
        tail = {None: ("none", [], ""), "relu": ("relu", [], ""), "relu6": ("hardtanh", [0.0, 6.0], "")}[activation]
        return lambda a: op(a, weight, bias, *geometry, *tail)
    raise harness.Unsupported("no direct call of oneDNN: dense layers and NHWC convolutions only")


def ahead_of_time(module: Subgraph, x: Tensors, folder: pathlib.Path) -> Callable:
    """Through AOTInductor: no Python and no guards in the call."""
    package = torch._inductor.aoti_compile_and_package(
        torch.export.export(module, tuple(x)), package_path=str(folder / "aot.pt2")
    )
    run = torch._inductor.aoti_load_package(package).loader.run
    return lambda *arguments: run(list(arguments))[0]


MODES = ("eager", "inductor", "max-autotune", "aot", "onednn")


def start(mode: str, entry: catalogue.Entry, inputs: list[np.ndarray], folder: pathlib.Path) -> Local:
    """A contender ready to be timed; `folder` is for files of the compiler."""
    activations, constants = split(entry, inputs)
    module = Subgraph(entry.torch, constants).eval()
    function: Callable = module
    if mode == "inductor":
        function = torch.compile(module, dynamic=False)
    elif mode == "max-autotune":
        function = torch.compile(module, dynamic=False, mode="max-autotune-no-cudagraphs")
    elif mode == "aot":
        function = ahead_of_time(module, activations, folder)
    elif mode == "onednn":
        function = onednn(entry, activations, constants)
    elif mode != "eager":
        raise ValueError(f"unknown mode '{mode}'")
    function(*activations)
    return Local(entry, function, activations)
