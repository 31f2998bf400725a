"""Convolutions and pools for fuzz.py: every named op, generics, groups as PyTorch has them."""

from __future__ import annotations

import math

import numpy as np
from fuzz_shape import Arrays, Shape, tensor
from numpy.lib.stride_tricks import sliding_window_view

#: Operands of the named ops, a letter a dimension: d, h, w are the image, j, k, l the window.
OPS = {
    "conv_1d_ncw_fcw": "ncw,fcl->nfw",
    "conv_1d_nwc_wcf": "nwc,lcf->nwf",
    "conv_2d_nchw_fchw": "nchw,fckl->nfhw",
    "conv_2d_nhwc_hwcf": "nhwc,klcf->nhwf",
    "conv_2d_nhwc_fhwc": "nhwc,fklc->nhwf",
    "conv_2d_ngchw_fgchw": "ngchw,fgckl->ngfhw",
    "conv_2d_ngchw_gfchw": "ngchw,gfckl->ngfhw",
    "conv_2d_nhwgc_gfhwc": "nhwgc,gfklc->nhwgf",
    "conv_3d_ncdhw_fcdhw": "ncdhw,fcjkl->nfdhw",
    "conv_3d_ndhwc_dhwcf": "ndhwc,jklcf->ndhwf",
    "depthwise_conv_1d_ncw_cw": "ncw,cl->ncw",
    "depthwise_conv_1d_nwc_wc": "nwc,lc->nwc",
    "depthwise_conv_2d_nchw_chw": "nchw,ckl->nchw",
    "depthwise_conv_2d_nhwc_hwc": "nhwc,klc->nhwc",
    "depthwise_conv_2d_nhwc_hwcm": "nhwc,klcm->nhwcm",
    "depthwise_conv_3d_ncdhw_cdhw": "ncdhw,cjkl->ncdhw",
    "depthwise_conv_3d_ndhwc_dhwc": "ndhwc,jklc->ndhwc",
    "pooling_nchw_max": "nchw,kl->nchw",
    "pooling_nchw_sum": "nchw,kl->nchw",
    "pooling_nhwc_max": "nhwc,kl->nhwc",
    "pooling_nhwc_min": "nhwc,kl->nhwc",
    "pooling_nhwc_sum": "nhwc,kl->nhwc",
    "pooling_ncw_max": "ncw,l->ncw",
    "pooling_ncw_sum": "ncw,l->ncw",
    "pooling_nwc_max": "nwc,l->nwc",
    "pooling_nwc_min": "nwc,l->nwc",
    "pooling_nwc_sum": "nwc,l->nwc",
    "pooling_ndhwc_max": "ndhwc,jkl->ndhwc",
    "pooling_ndhwc_min": "ndhwc,jkl->ndhwc",
    "pooling_ndhwc_sum": "ndhwc,jkl->ndhwc",
}
WINDOW_OF = {"d": "j", "h": "k", "w": "l"}


def slide(x: np.ndarray, letters: str, extents: dict[str, int], stride: int, dilation: int) -> np.ndarray:
    """A view of `x` with the dimensions of the window added at the end, those of the image as in the result."""
    axes = [letters.index(letter) for letter in letters if letter in WINDOW_OF]
    spans = [(extents[WINDOW_OF[letters[axis]]] - 1) * dilation + 1 for axis in axes]
    view = sliding_window_view(x, spans, axes)
    steps = [slice(None, None, stride if axis in axes else 1) for axis in range(x.ndim)]
    return view[(*steps, *[slice(None, None, dilation)] * len(axes))]


def attributes(rank: int, stride: int, dilation: int) -> str:
    return f"{{dilations = dense<{dilation}> : vector<{rank}xi64>, strides = dense<{stride}> : vector<{rank}xi64>}}"


def pad_text(value: str, shape: tuple[int, ...], letters: str, amount: int) -> tuple[str, tuple[int, ...]]:
    """Pads `%arg0` by `amount` around the image as `%x`."""
    low = [amount if letter in WINDOW_OF else 0 for letter in letters]
    padded = tuple(extent + 2 * by for extent, by in zip(shape, low, strict=True))
    indices = ", ".join(f"%p{axis}: index" for axis in range(len(shape)))
    text = f"""  %x = tensor.pad %arg0 low{low} high{low} {{
  ^bb0({indices}):
    tensor.yield %{value} : f32
  }} : {tensor(shape)} to {tensor(padded)}
"""
    return text, padded


def identity(rank: int) -> str:
    dims = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({dims}) -> ({dims})>"


def relu_text(source: str, shape: tuple[int, ...]) -> str:
    kinds = ", ".join(['"parallel"'] * len(shape))
    return f"""  %re = tensor.empty() : {tensor(shape)}
  %relu = linalg.generic {{indexing_maps = [{identity(len(shape))}, {identity(len(shape))}], iterator_types = [{kinds}]}}
      ins({source} : {tensor(shape)}) outs(%re : {tensor(shape)}) {{
  ^bb0(%r: f32, %o: f32):
    %m = arith.maximumf %r, %zero : f32
    linalg.yield %m : f32
  }} -> {tensor(shape)}
"""


BODIES = {
    "conv": "    %p = arith.mulf %a, %b : f32\n    %s = arith.addf %c, %p : f32\n",
    "max": "    %s = arith.maximumf %c, %a : f32\n",
    "min": "    %s = arith.minimumf %c, %a : f32\n",
    "sum": "    %s = arith.addf %c, %a : f32\n",
}


def generic_text(spec: str, kind: str, types: list[str], stride: int, dilation: int) -> str:
    """The op as a linalg.generic with its loops in an order of its own: reductions come first."""
    image, window, result = spec.replace("->", ",").split(",")
    reductions = [c for c in dict.fromkeys(window + image) if c not in result and c not in WINDOW_OF]
    letters = [*reductions, *result]
    dims = {letter: f"d{i}" for i, letter in enumerate(letters)}

    def expr(letter: str) -> str:
        if letter in WINDOW_OF:
            return f"{dims[letter]} * {stride} + {dims[WINDOW_OF[letter]]} * {dilation}"
        return dims[letter]

    domain = ", ".join(dims.values())
    maps = [
        f"affine_map<({domain}) -> ({', '.join(exprs)})>"
        for exprs in ([expr(c) for c in image], [dims[c] for c in window], [dims[c] for c in result])
    ]
    kinds = ", ".join(['"reduction"'] * len(reductions) + ['"parallel"'] * len(result))
    return f"""  %op = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}]}}
      ins(%x, %filter : {types[0]}, {types[1]}) outs(%init : {types[2]}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
{BODIES[kind]}    linalg.yield %s : f32
  }} -> {types[2]}
"""


def window(
    op: str,
    sizes: str,
    *,
    pad: int = 0,
    stride: int = 1,
    dilation: int = 1,
    bias: bool = False,
    relu: bool = False,
    generic: bool = False,
) -> Shape:
    """One op of OPS; `sizes` such as "n2 c3 h9 w9 k3 l3", the image before padding."""
    spec = OPS[op]
    extents = {part[0]: int(part[1:]) for part in sizes.split()}
    image, filter_letters, result_letters = spec.replace("->", ",").split(",")
    shape = tuple(extents[c] for c in image)
    filter_shape = tuple(extents[c] for c in filter_letters)
    result = tuple(
        (extents[c] + 2 * pad - dilation * (extents[WINDOW_OF[c]] - 1) - 1) // stride + 1
        if c in WINDOW_OF
        else extents[c]
        for c in result_letters
    )
    kind = op.rpartition("_")[2] if op.startswith("pooling") else "conv"
    neutral = {"conv": "zero", "sum": "zero", "max": "low", "min": "high"}[kind]
    inputs = [shape] if kind != "conv" else [shape, filter_shape]
    channel = next((c for c in "fc" if c in result_letters), "")
    if bias:
        inputs.append((extents[channel],))
    text = ""
    padded = shape
    if pad:
        text, padded = pad_text(neutral, shape, image, pad)
    types = [tensor(padded), tensor(filter_shape), tensor(result)]
    text += f"  %empty = tensor.empty() : {types[2]}\n"
    if kind != "conv":
        text += f"  %filter = tensor.empty() : {types[1]}\n"
    if bias:
        others = [i for i, c in enumerate(result_letters) if c != channel]
        text += f"  %init = linalg.broadcast ins(%arg{len(inputs) - 1} : {tensor(inputs[-1])}) outs(%empty : {types[2]}) dimensions = {others}\n"
    else:
        text += f"  %init = linalg.fill ins(%{neutral} : f32) outs(%empty : {types[2]}) -> {types[2]}\n"
    rank = sum(c in WINDOW_OF for c in image)
    if generic:
        text += generic_text(spec, kind, types, stride, dilation)
    else:
        text += (
            f"  %op = linalg.{op} {attributes(rank, stride, dilation)} "
            f"ins(%x, %filter : {types[0]}, {types[1]}) outs(%init : {types[2]}) -> {types[2]}\n"
        )
    value = "%op"
    if relu:
        text += relu_text(value, result)
        value = "%relu"
    if not pad:
        text = text.replace("%x", "%arg0")
    if kind == "conv":
        text = text.replace("%filter", "%arg1")
    window_letters = "".join(WINDOW_OF[c] for c in image if c in WINDOW_OF)

    def reference(x: Arrays) -> np.ndarray:
        fill = {"zero": 0.0, "low": -np.inf, "high": np.inf}[neutral]
        amounts = [(pad, pad) if c in WINDOW_OF else (0, 0) for c in image]
        view = slide(np.pad(x[0], amounts, constant_values=fill), image, extents, stride, dilation)
        if kind == "conv":
            y = np.einsum(f"{image}{window_letters},{filter_letters}->{result_letters}", view, x[1])
        else:
            axes = tuple(range(len(image), view.ndim))
            y = {"max": np.max, "min": np.min, "sum": np.sum}[kind](view, axis=axes)
        if bias:
            y = y + x[-1].reshape([-1 if c == channel else 1 for c in result_letters])
        return np.maximum(y, 0) if relu else y

    flags = f"{'_pad' * bool(pad)}{f'_stride{stride}' * (stride > 1)}{f'_dilated{dilation}' * (dilation > 1)}"
    flags += f"{'_bias' * bias}{'_relu' * relu}{'_generic' * generic}"
    reduction = math.prod(extents[c] for c in filter_letters if c not in result_letters)
    name = f"{op}_{sizes.replace(' ', '')}{flags}"
    return Shape(name, function(inputs, result, text, value), inputs, result, reference, reduction)


def function(inputs: list[tuple[int, ...]], result: tuple[int, ...], body: str, value: str) -> str:
    arguments = ", ".join(f"%arg{i}: {tensor(s)}" for i, s in enumerate(inputs))
    return f"""func.func @kernel({arguments}) -> {tensor(result)} {{
  %zero = arith.constant 0.000000e+00 : f32
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
{body}  return {value} : {tensor(result)}
}}
"""


def grouped(groups: int, features: int, channels: int, height: int, width: int, kernel: int, stride: int) -> Shape:
    """A convolution in groups as torch-mlir has it: the bias and the padded input are reshaped into groups, and the
    result back."""
    shape, filter_shape = (1, groups * channels, height, width), (groups * features, channels, kernel, kernel)
    pad = kernel // 2
    text, padded = pad_text("zero", shape, "nchw", pad)
    oh, ow = ((extent - 1) // stride + 1 for extent in (height, width))
    result = (1, groups * features, oh, ow)
    inner = (1, groups, features, oh, ow)
    x = (1, groups, channels, *padded[2:])
    f = (groups, features, channels, kernel, kernel)
    text += f"""  %empty = tensor.empty() : {tensor(result)}
  %bias = linalg.broadcast ins(%arg2 : {tensor((groups * features,))}) outs(%empty : {tensor(result)}) dimensions = [0, 2, 3]
  %xg = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape {list(x)} : {tensor(padded)} into {tensor(x)}
  %fg = tensor.expand_shape %arg1 [[0, 1], [2], [3], [4]] output_shape {list(f)} : {tensor(filter_shape)} into {tensor(f)}
  %bg = tensor.expand_shape %bias [[0], [1, 2], [3], [4]] output_shape {list(inner)} : {tensor(result)} into {tensor(inner)}
  %conv = linalg.conv_2d_ngchw_gfchw {attributes(2, stride, 1)} ins(%xg, %fg : {tensor(x)}, {tensor(f)}) outs(%bg : {tensor(inner)}) -> {tensor(inner)}
  %flat = tensor.collapse_shape %conv [[0], [1, 2], [3], [4]] : {tensor(inner)} into {tensor(result)}
"""
    text += relu_text("%flat", result)
    inputs = [shape, filter_shape, (groups * features,)]

    def reference(arrays: Arrays) -> np.ndarray:
        image = np.pad(arrays[0], [(0, 0), (0, 0), (pad, pad), (pad, pad)]).reshape(x)
        view = slide(image, "ngchw", {"k": kernel, "l": kernel}, stride, 1)
        y = np.einsum("ngchwkl,gfckl->ngfhw", view, arrays[1].reshape(f)).reshape(result)
        return np.maximum(y + arrays[2].reshape(1, -1, 1, 1), 0)

    name = f"grouped_{groups}x{features}x{channels}_{height}x{width}_kernel{kernel}_stride{stride}"
    return Shape(name, function(inputs, result, text, "%relu"), inputs, result, reference, channels * kernel * kernel)


SHAPES: list[Shape] = [
    window("conv_1d_ncw_fcw", "n2 c5 w37 f19 l3", pad=1, bias=True, relu=True),
    window("conv_1d_nwc_wcf", "n2 w33 c6 f40 l5", stride=2, bias=True),
    window("conv_2d_nchw_fchw", "n1 c6 h7 w13 f33 k3 l3", pad=1, stride=2, bias=True, relu=True),
    window("conv_2d_nchw_fchw", "n1 c4 h9 w9 f32 k3 l3", pad=1, bias=True, relu=True, generic=True),
    window("conv_2d_nhwc_hwcf", "n1 h7 w13 c6 f33 k3 l3", pad=1, stride=2, bias=True),
    window("conv_2d_nhwc_hwcf", "n2 h6 w9 c4 f32 k3 l2", dilation=2, generic=True),
    window("conv_2d_nhwc_fhwc", "n1 h8 w12 c6 f40 k3 l3", pad=1, bias=True, relu=True),
    window("conv_2d_nhwc_fhwc", "n1 h8 w12 c32 f48 k1 l1", relu=True),
    window("conv_2d_ngchw_fgchw", "n1 g3 c4 h7 w9 f20 k3 l3", pad=1),
    window("conv_2d_ngchw_gfchw", "n2 g3 c4 h8 w9 f16 k3 l3", pad=1, stride=2, relu=True),
    window("conv_2d_ngchw_gfchw", "n1 g4 c3 h6 w7 f5 k3 l3", pad=1, generic=True),
    window("conv_2d_nhwgc_gfhwc", "n1 h7 w9 g3 c4 f20 k3 l3", pad=1, stride=2),
    grouped(4, 16, 8, 9, 14, 3, 1),
    grouped(3, 5, 2, 8, 9, 3, 2),
    window("conv_3d_ncdhw_fcdhw", "n1 c3 d4 h5 w9 f20 j2 k3 l3", pad=1, bias=True, relu=True),
    window("conv_3d_ndhwc_dhwcf", "n1 d4 h5 w9 c3 f20 j3 k3 l3", pad=1, stride=2, bias=True, relu=True),
    window("depthwise_conv_1d_ncw_cw", "n2 c5 w67 l3", pad=1, bias=True, relu=True),
    window("depthwise_conv_1d_nwc_wc", "n2 w41 c24 l3", pad=1, bias=True, relu=True),
    window("depthwise_conv_2d_nchw_chw", "n2 c3 h9 w21 k3 l3", pad=1, bias=True, relu=True, generic=True),
    window("depthwise_conv_2d_nhwc_hwc", "n2 h9 w21 c48 k3 l3", pad=1, bias=True, relu=True),
    window("depthwise_conv_2d_nhwc_hwc", "n1 h11 w15 c17 k5 l5", pad=2, stride=2, bias=True),
    window("depthwise_conv_2d_nhwc_hwcm", "n1 h9 w12 c32 m1 k3 l3", pad=1, relu=True),
    window("depthwise_conv_3d_ncdhw_cdhw", "n1 c3 d5 h6 w19 j3 k3 l3", pad=1, relu=True),
    window("depthwise_conv_3d_ndhwc_dhwc", "n1 d5 h6 w9 c32 j3 k3 l3", pad=1, stride=2, bias=True),
    window("pooling_nchw_max", "n1 c2 h12 w15 k3 l3", pad=1, stride=2),
    window("pooling_nhwc_max", "n1 h13 w17 c32 k3 l3", pad=1, stride=2),
    window("pooling_nhwc_max", "n1 h12 w12 c2 k2 l2", stride=2, generic=True),
    window("pooling_nhwc_min", "n2 h9 w10 c19 k3 l2", dilation=2),
    window("pooling_nhwc_sum", "n1 h7 w7 c64 k7 l7", relu=True),
    window("pooling_ncw_max", "n2 c5 w64 l3", pad=1, stride=2),
    window("pooling_ncw_sum", "n2 c5 w50 l5"),
    window("pooling_nwc_max", "n2 w33 c20 l3", pad=1, stride=2),
    window("pooling_nwc_min", "n1 w16 c9 l2", stride=2),
    window("pooling_nwc_sum", "n1 w29 c48 l4"),
    window("pooling_ndhwc_max", "n1 d6 h7 w9 c16 j2 k3 l3", pad=1, stride=2),
    window("pooling_ndhwc_min", "n1 d4 h5 w9 c5 j2 k2 l2"),
    window("pooling_ndhwc_sum", "n1 d4 h8 w8 c32 j4 k4 l4", relu=True),
]
