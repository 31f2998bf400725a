"""The rows as graphs of tensor expressions for Ansor (tvm.auto_scheduler), in the payloads' own layouts.

Weights of convolutions and dense layers are marked as free of layout: Ansor
picks one, and the kernel that it measures takes them already packed. Python 3.8.
"""

from __future__ import annotations

import json
import os
import tempfile

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("TVM_BIND_THREADS", "0")  # else TVM undoes the caller's taskset

_here = os.getcwd()
os.chdir(tempfile.gettempdir())  # importing topi leaves a .pkl_memoize_py3 in the current folder
import tvm  # noqa: E402
from tvm import auto_scheduler, te, tir, topi  # noqa: E402
from tvm.auto_scheduler import LayoutRewriteOption  # noqa: E402
from tvm.auto_scheduler.workload_registry import register_workload_tensors  # noqa: E402

os.chdir(_here)

CPU = tvm.get_global_func("target.llvm_get_system_cpu")()
#: The fork's default triple is another machine's; the name of the CPU switches its vectors on. For Intel's CPUs LLVM
#: prefers half of an AVX-512 register unless told otherwise: this one then makes softmax a third slower.
TARGET = tvm.target.Target(f"llvm -mtriple=x86_64-linux-gnu -num-cores=1 -mcpu={CPU} -mattr=-prefer-256-bit")
VERSION = f"Ansor of TVM {tvm.__version__}"


class Unsupported(Exception):
    """There is no like-for-like form."""


def activate(value: tir.PrimExpr, name: str | None) -> tir.PrimExpr:
    if name in ("relu", "relu6"):
        value = te.max(value, tir.const(0.0, "float32"))
    if name == "relu6":
        value = te.min(value, tir.const(6.0, "float32"))
    return value


def conv(spec: dict, layout: str, x: list, weights: list) -> te.Tensor:
    kernel, bias = weights
    dims = len(x[0].shape) - 2
    layouts = ("NHWC", "HWIO") if layout == "nhwc" else ("NCDHW", "OIDHW") if dims == 3 else ("NCHW", "OIHW")
    channel = 3 if layout == "nhwc" else 1
    y = topi.nn.conv(
        x[0],
        kernel,
        spec["stride"],
        spec["padding"],
        1,
        spec.get("groups", 1),
        *layouts,
        None,
        auto_scheduler_should_rewrite_layout=True,
    )

    def epilogue(*i: tir.Var) -> tir.PrimExpr:
        value = y(*i) + bias[i[channel]]
        if len(x) > 1:
            value = value + x[1](*i)
        return activate(value, spec.get("activation"))

    return te.compute(y.shape, epilogue, name="epilogue")


def linear(spec: dict, layout: str, x: list, weights: list) -> te.Tensor:
    (rows, depth), (columns, _) = x[0].shape, weights[0].shape
    k = te.reduce_axis((0, depth), name="k")
    y = te.compute(
        (rows, columns),
        lambda i, j: te.sum(x[0][i, k] * weights[0][j, k], axis=k),
        name="dense",
        attrs={"layout_free_placeholders": [weights[0]]},
    )
    if len(weights) > 1:
        y = topi.add(y, weights[1])
    if spec.get("activation") == "gelu":
        # fast_erf is a polynomial and becomes vectors; erf would be a call of libm for each element.
        y = y * (topi.fast_erf(y * 0.5**0.5) + 1.0) * 0.5
    return y


def matmul(spec: dict, layout: str, x: list, weights: list) -> te.Tensor:
    a, b = x
    transposed = spec.get("transpose_b", False)
    k = te.reduce_axis((0, a.shape[2]), name="k")
    return te.compute(
        (a.shape[0], a.shape[1], b.shape[1 if transposed else 2]),
        lambda h, i, j: te.sum(a[h, i, k] * (b[h, j, k] if transposed else b[h, k, j]), axis=k),
        name="matmul",
    )


def variance(spec: dict, layout: str, x: list, weights: list) -> te.Tensor:
    (rows, columns), mean = x[0].shape, x[1]
    k = te.reduce_axis((0, columns), name="k")
    total = te.compute(
        (rows, 1), lambda i, j: te.sum((x[0][i, k] - mean[i, 0]) * (x[0][i, k] - mean[i, 0]), axis=k), name="total"
    )
    return te.compute((rows, 1), lambda i, j: total[i, j] * (1.0 / int(columns)), name="variance")


def mean(spec: dict, layout: str, x: list, weights: list) -> te.Tensor:
    dims = spec["dims"]
    count = 1
    for d in dims:
        count *= int(x[0].shape[d])
    return topi.sum(x[0], tuple(dims), spec["keepdim"]) * (1.0 / count)


def max_pool(spec: dict, layout: str, x: list, weights: list) -> te.Tensor:
    size = [(spec[name],) * 2 for name in ("kernel", "stride")]
    return topi.nn.pool2d(
        x[0], *size, (1, 1), (spec["padding"],) * 4, "max", layout="NHWC" if layout == "nhwc" else "NCHW"
    )


OPERATIONS = {
    "conv": conv,
    "linear": linear,
    "matmul": matmul,
    "variance": variance,
    "mean": mean,
    "max_pool": max_pool,
    # fast_exp is a polynomial and becomes vectors; exp would be a call of libm for each element.
    "softmax": lambda spec, layout, x, weights: topi.nn.fast_softmax(x[0]),
}


def shape(row: dict, argument: dict) -> list[int]:
    """As the graph takes the argument: the depthwise weight of an NHWC row gets its axis of extent 1."""
    dims = list(argument["shape"])
    if row.get("layout") == "nhwc" and argument["role"] == "constant" and len(dims) == 3:
        dims.insert(2, 1)
    return dims


def graph(row: dict) -> list[te.Tensor]:
    """Arguments in the payload's order, then the result."""
    spec = row["torch"]
    if spec["op"] not in OPERATIONS:
        raise Unsupported(f"no graph for '{spec['op']}'")
    arguments = [te.placeholder(shape(row, a), name=f"a{i}") for i, a in enumerate(row["args"])]
    x = [t for t, a in zip(arguments, row["args"]) if a["role"] == "activation"]
    weights = [t for t, a in zip(arguments, row["args"]) if a["role"] != "activation"]
    return [*arguments, OPERATIONS[spec["op"]](spec, row.get("layout", ""), x, weights)]


def task(row: dict) -> auto_scheduler.SearchTask:
    """Registered by its tensors, not by a function: Ansor's worker processes need not import this module."""
    key = register_workload_tensors(json.dumps(["cwm", row["name"]]), graph(row))
    return auto_scheduler.SearchTask(
        workload_key=key, target=TARGET, layout_rewrite_option=LayoutRewriteOption.REWRITE_FOR_PRE_TRANSFORMED
    )
