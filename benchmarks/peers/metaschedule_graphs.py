"""The rows as Relax programs for TVM's MetaSchedule: one fused TIR function each, in the payloads' own layouts.

Weights are constants whose layout is free: a postprocessor of MetaSchedule
packs them, and what packs them is folded before anything is timed.
"""

from __future__ import annotations

import importlib
import os
import sys
import types

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("TVM_BIND_THREADS", "0")  # else TVM undoes the caller's taskset

import numpy as np
import tvm
from tvm import relax
from tvm.relax import transform

CPU = tvm.get_global_func("target.llvm_get_system_cpu")()
VERSION = f"MetaSchedule of TVM {tvm.__version__}"
#: TVM's class of a reduction that elementwise operations fuse with.
REDUCTION = 3


class Unsupported(Exception):
    """There is no like-for-like form."""


def only_x86_intrinsics() -> None:
    """Keeps TVM from parsing the tensor intrinsics of all targets, a minute in each process, builders included."""
    import tvm.s_tir

    package = types.ModuleType("tvm.s_tir.tensor_intrin")
    package.__path__ = [os.path.join(tvm.s_tir.__path__[0], "tensor_intrin")]
    sys.modules[package.__name__] = package
    importlib.import_module(f"{package.__name__}.x86")


def target() -> tvm.target.Target:
    """This CPU, with whole AVX-512 registers (see ansor_graphs.py)."""
    return tvm.target.Target({"kind": "llvm", "mcpu": CPU, "mattr": ["-prefer-256-bit"], "num-cores": 1})


def activate(y: relax.Expr, name: str | None) -> relax.Expr:
    if name == "relu":
        return relax.op.nn.relu(y)
    if name == "relu6":
        return relax.op.clip(y, 0.0, 6.0)
    if name == "gelu":
        erf = relax.op.erf(relax.op.multiply(y, relax.const(0.5**0.5, "float32")))
        half = relax.op.multiply(y, relax.const(0.5, "float32"))
        return relax.op.multiply(half, relax.op.add(erf, relax.const(1.0, "float32")))
    return y


def conv(spec: dict, layout: str, x: list, weights: list[np.ndarray]) -> relax.Expr:
    kernel, bias = weights
    if layout == "nhwc":
        if kernel.ndim == 3:  # depthwise
            kernel = kernel[:, :, np.newaxis]
        layouts, function = ("NHWC", "HWIO"), relax.op.nn.conv2d
    else:
        bias = bias.reshape(1, -1, *[1] * (kernel.ndim - 2))
        layouts = ("NCHW", "OIHW") if kernel.ndim == 4 else ("NCDHW", "OIDHW")
        function = relax.op.nn.conv2d if kernel.ndim == 4 else relax.op.nn.conv3d
    numbers = [(spec[name],) * (kernel.ndim - 2) for name in ("stride", "padding")]
    y = function(
        x[0],
        relax.const(kernel),
        *numbers,
        groups=spec.get("groups", 1),
        data_layout=layouts[0],
        kernel_layout=layouts[1],
    )
    y = relax.op.add(y, relax.const(bias))
    return activate(relax.op.add(y, x[1]) if len(x) > 1 else y, spec.get("activation"))


def linear(spec: dict, layout: str, x: list, weights: list[np.ndarray]) -> relax.Expr:
    return activate(relax.op.linear(x[0], *map(relax.const, weights)), spec.get("activation"))


def matmul(spec: dict, layout: str, x: list, weights: list[np.ndarray]) -> relax.Expr:
    a, b = x
    return relax.op.matmul(a, relax.op.permute_dims(b, [0, 2, 1]) if spec.get("transpose_b") else b)


def variance(spec: dict, layout: str, x: list, weights: list[np.ndarray]) -> relax.Expr:
    difference = relax.op.subtract(*x)
    return relax.op.mean(relax.op.multiply(difference, difference), [-1], True)


def max_pool(spec: dict, layout: str, x: list, weights: list[np.ndarray]) -> relax.Expr:
    numbers = [(spec[name],) * 2 for name in ("kernel", "stride", "padding")]
    return relax.op.nn.max_pool2d(x[0], *numbers, layout="NHWC" if layout == "nhwc" else "NCHW")


OPERATIONS = {
    "conv": conv,
    "linear": linear,
    "matmul": matmul,
    "variance": variance,
    "max_pool": max_pool,
    "mean": lambda spec, layout, x, weights: relax.op.mean(x[0], spec["dims"], spec["keepdim"]),
    "softmax": lambda spec, layout, x, weights: relax.op.nn.softmax(x[0], -1),
}


@tvm.transform.module_pass(opt_level=0)
def fusible_means(module: tvm.IRModule, _: tvm.transform.PassContext) -> tvm.IRModule:
    """Relax takes a mean (sum, then divide) for something that nothing fuses with."""
    for name, function in module.functions_items():
        if "mean" in name.name_hint:
            module.update_func(name, function.with_attr("op_pattern", REDUCTION))
    return module


def lowered(row: dict, inputs: list[np.ndarray]) -> tvm.IRModule:
    """The row, fused, ready to be tuned; activations are the arguments of `main`."""
    spec = row["torch"]
    if spec["op"] not in OPERATIONS:
        raise Unsupported(f"no graph for '{spec['op']}'")
    roles = [a["role"] for a in row["args"]]
    x = [
        relax.Var(f"x{i}", relax.TensorType(value.shape, "float32"))
        for i, (role, value) in enumerate(zip(roles, inputs, strict=True))
        if role == "activation"
    ]
    weights = [value for role, value in zip(roles, inputs, strict=True) if role != "activation"]
    builder = relax.BlockBuilder()
    with builder.function("main", x):
        with builder.dataflow():
            y = builder.emit(builder.normalize(OPERATIONS[spec["op"]](spec, row.get("layout", ""), x, weights)))
            result = builder.emit_output(y)
        builder.emit_func_output(result)
    with target():
        return tvm.transform.Sequential(
            [
                transform.DecomposeOpsForInference(),
                transform.CanonicalizeBindings(),
                transform.FoldConstant(),
                transform.FuseTransposeMatmul(),
                transform.FastMathTransform(),  # polynomials for exp and erf: libm's are called once an element
                transform.LegalizeOps(),
                transform.AnnotateTIROpPattern(),
                fusible_means,
                transform.FoldConstant(),
                transform.FuseOps(),
                transform.FuseTIR(),
                transform.AttachAttrLayoutFreeBuffers(),
            ]
        )(builder.finalize())
