"""The kinds of payloads that occur in models, with random shapes, layouts and epilogues."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from cwm.payload_epilogues import ACTIVATIONS, Fuser, apply_step, epilogue, gelu, sigmoid
from cwm.payload_text import Function, Scalars, Shape, Value, affine, dense

CHANNELS = [3, 8, 16, 20, 24, 32, 36, 40, 48, 56, 64, 72, 80, 96, 100, 112, 120, 128, 144, 160, 192, 200, 224, 240, 256,
            288, 320, 352, 384, 432, 448, 480, 512, 576, 640, 672, 728, 768, 832, 960, 1024, 1280, 1536, 2048]  # fmt: skip
IMAGES = [4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 24, 25, 26, 27, 28, 30, 32, 33, 35, 38, 40, 48, 50,
          52, 54, 55, 56, 60, 63, 64, 71, 73, 75, 80, 90, 96, 100, 112, 120, 128, 147, 149, 150, 160, 192, 224]  # fmt: skip
ROWS = [1, 2, 4, 8, 10, 16, 20, 32, 49, 50, 64, 77, 80, 96, 100, 120, 128, 144, 160, 192, 196, 197, 200, 256, 300, 384, 400,
        512, 577, 784, 1024]  # fmt: skip
HIDDEN = [32, 48, 64, 80, 96, 100, 112, 128, 160, 192, 200, 224, 256, 300, 312, 320, 384, 400, 448, 512, 576, 600, 640, 672,
          768, 800, 832, 896, 1000, 1024, 1152, 1200, 1280, 1344, 1536, 1600, 1792, 2048, 2304, 2560, 3072, 4096]  # fmt: skip

#: A kind adds ops to the function and returns its result.
Kind = Callable[[Function, random.Random], Value]


def matmul(f: Function, rng: random.Random) -> Value:
    """Rows times weights: linear layers, with weights as [N, K] or [K, N], and plain products."""
    m, k, n = rng.choice(ROWS), rng.choice(HIDDEN), rng.choice(HIDDEN)
    dtypes = rng.choices([("f32", "f32"), ("bf16", "f32"), ("i8", "i32")], [86, 8, 6])[0]
    return _matmul(f, rng, m, k, n, *dtypes)


def vector_product(f: Function, rng: random.Random) -> Value:
    """One row: classifier heads, and decoding."""
    if rng.random() < 0.5:
        return _matmul(f, rng, 1, rng.choice(HIDDEN), rng.choice(HIDDEN), "f32", "f32")
    k, n = rng.choice(HIDDEN), rng.choice(HIDDEN)
    f.flops += 2.0 * k * n
    if rng.random() < 0.5:
        matrix, vector = f.argument((n, k), constant=True), f.argument((k,))
        result = f.named("matvec", [matrix, vector], f.fill(0.0, (n,)))
    else:
        vector, matrix = f.argument((k,)), f.argument((k, n), constant=True)
        result = f.named("vecmat", [vector, matrix], f.fill(0.0, (n,)))
    return epilogue(f, "linear", result, 0, rng)


def _matmul(f: Function, rng: random.Random, m: int, k: int, n: int, dtype: str, sum_dtype: str) -> Value:
    f.flops += 2.0 * m * k * n
    weights = rng.random() < 0.8
    form = rng.choices(["plain", "transpose", "map_b", "map_a"], [35, 45, 12, 8])[0]
    left = f.argument((k, m) if form == "map_a" else (m, k), dtype)
    right = f.argument((n, k) if form in ("transpose", "map_b") else (k, n), dtype, constant=weights)
    if form == "transpose":
        right = f.transpose(right, [1, 0])
    init = f.fill(0.0, (m, n), sum_dtype)
    maps = ""
    if form.startswith("map"):
        a = [2, 0] if form == "map_a" else [0, 2]
        b = [1, 2] if form == "map_b" else [2, 1]
        maps = f"indexing_maps = [{affine(3, a)}, {affine(3, b)}, {affine(3, [0, 1])}]"
    result = f.named("matmul", [left, right], init, maps)
    if sum_dtype != "f32":
        return result
    return epilogue(f, "linear", result, 1, rng)


def batch_matmul(f: Function, rng: random.Random) -> Value:
    """Attention: scores and weighted sums, a batch of heads."""
    heads = rng.choice([2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32])
    tokens, width = (
        rng.choice([16, 32, 49, 50, 64, 77, 96, 100, 128, 144, 160, 192, 196, 197, 256, 384]),
        rng.choice([16, 24, 32, 40, 48, 64, 80, 96, 128]),
    )
    other = tokens if rng.random() < 0.8 else rng.choice([16, 32, 64, 77, 100, 128, 160, 256])
    m, k, n = rng.choice([(tokens, width, other), (tokens, other, width)])
    f.flops += 2.0 * heads * m * k * n
    left = f.argument((heads, m, k))
    transposed = rng.random() < 0.3
    right = f.argument((heads, n, k) if transposed else (heads, k, n))
    if transposed:
        right = f.transpose(right, [0, 2, 1])
    result = f.named("batch_matmul", [left, right], f.fill(0.0, (heads, m, n)))
    return epilogue(f, "batch", result, 2, rng)


def _convolution(
    f: Function, rng: random.Random, dims: int, channels: tuple[int, int], image: Shape, window: Shape
) -> Value:
    """A convolution that sums over channels, either layout."""
    batch = rng.choice([1, 1, 1, 1, 2])
    strides = tuple([rng.choice([1, 1, 1, 2])] * dims)
    dilated = rng.random() < 0.08 and max(window) > 1
    dilations = tuple([2 if dilated else 1] * dims)
    same = rng.random() < 0.85
    first = rng.random() < 0.65
    c, o = channels
    spans = [d * (w - 1) + 1 for d, w in zip(dilations, window, strict=True)]
    padding = [s // 2 if same else 0 for s in spans]
    out = tuple((i + 2 * p - s) // t + 1 for i, p, s, t in zip(image, padding, spans, strides, strict=True))
    if min(out) < 1:
        raise ValueError("no result")
    around = [0, 0, *padding] if first else [0, *padding, 0]
    source = f.argument((batch, c, *image) if first else (batch, *image, c))
    weight = f.argument((o, c, *window) if first else (*window, c, o), constant=True)
    shape = (batch, o, *out) if first else (batch, *out, o)
    channel = 1 if first else dims + 1
    biased = rng.random() < 0.6
    bias = f.argument((o,), constant=True) if biased else None
    padded = f.pad(source, around, around)
    if bias is not None:
        init = f.broadcast(bias, shape, [d for d in range(dims + 2) if d != channel])
    else:
        init = f.fill(0.0, shape)
    name = {
        (1, True): "conv_1d_ncw_fcw",
        (1, False): "conv_1d_nwc_wcf",
        (2, True): "conv_2d_nchw_fchw",
        (2, False): "conv_2d_nhwc_hwcf",
        (3, True): "conv_3d_ncdhw_fcdhw",
        (3, False): "conv_3d_ndhwc_dhwcf",
    }[dims, first]
    f.flops += 2.0 * math.prod(shape) * c * math.prod(window)
    result = f.named(name, [padded, weight], init, f"{{dilations = {dense(dilations)}, strides = {dense(strides)}}}")
    return epilogue(f, "conv", result, channel, rng, skip_bias=biased)


def _square(rng: random.Random, image: int) -> Shape:
    return (image, image) if rng.random() < 0.8 else (image, rng.choice(IMAGES))


def conv2d(f: Function, rng: random.Random) -> Value:
    window = rng.choice([(3, 3)] * 12 + [(5, 5)] * 3 + [(7, 7), (1, 3), (3, 1), (1, 7), (2, 2), (4, 4)])
    channels = (rng.choice([3, *CHANNELS[1:24]]), rng.choice(CHANNELS[1:30]))
    return _convolution(f, rng, 2, channels, _square(rng, rng.choice(IMAGES)), window)


def pointwise(f: Function, rng: random.Random) -> Value:
    return _convolution(
        f, rng, 2, (rng.choice(CHANNELS[2:]), rng.choice(CHANNELS[2:])), _square(rng, rng.choice(IMAGES[2:45])), (1, 1)
    )


def conv1d(f: Function, rng: random.Random) -> Value:
    width = rng.choice([50, 64, 100, 128, 200, 256, 400, 500, 512, 750, 1000, 1024, 1500, 3000])
    window = rng.choice([1, 3, 3, 3, 5, 7, 9, 11])
    return _convolution(f, rng, 1, (rng.choice(CHANNELS[5:]), rng.choice(CHANNELS[5:])), (width,), (window,))


def conv3d(f: Function, rng: random.Random) -> Value:
    image = rng.choice([4, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 56])
    depth = rng.choice([2, 3, 4, 5, 6, 8, 10, 16])
    window = rng.choice([(3, 3, 3)] * 3 + [(1, 1, 1), (1, 3, 3), (3, 1, 1)])
    channels = (rng.choice(CHANNELS[:20]), rng.choice(CHANNELS[1:24]))
    return _convolution(f, rng, 3, channels, (depth, image, image), window)


def grouped(f: Function, rng: random.Random) -> Value:
    """Grouped convolutions, the group a dimension of its own."""
    groups = rng.choice([2, 4, 8, 16, 32])
    c, o = rng.choice([4, 8, 16, 24, 32, 48, 64]), rng.choice([4, 8, 16, 24, 32, 48, 64])
    image, window = rng.choice(IMAGES[3:48]), rng.choice([1, 3, 3, 3, 5])
    stride, padding = rng.choice([1, 1, 2]), window // 2
    source = f.argument((1, groups, c, image, image))
    padded = f.pad(source, [0, 0, 0, padding, padding], [0, 0, 0, padding, padding])
    form = rng.choice(["fgchw", "gfchw"])
    weight = f.argument(
        (o, groups, c, window, window) if form == "fgchw" else (groups, o, c, window, window), constant=True
    )
    out = (image + 2 * padding - window) // stride + 1
    shape = (1, groups, o, out, out)
    f.flops += 2.0 * math.prod(shape) * c * window * window
    result = f.named(
        f"conv_2d_ngchw_{form}",
        [padded, weight],
        f.fill(0.0, shape),
        f"{{dilations = {dense([1, 1])}, strides = {dense([stride, stride])}}}",
    )
    fused = Fuser(f, result)
    for step in rng.choice(["", "relu", "relu6", "silu", "add", "add relu"]).split():
        apply_step(f, step, result, 2, fused, rng)
    return fused.finish(split=False)


def depthwise(f: Function, rng: random.Random) -> Value:
    """Each channel by itself, one or two dimensions, either layout."""
    dims = 1 if rng.random() < 0.12 else 2
    first = rng.random() < 0.6
    c = rng.choice(CHANNELS[3:-2])
    image = _square(rng, rng.choice(IMAGES)) if dims == 2 else (rng.choice([64, 100, 128, 256, 500, 512, 1000, 2048]),)
    window = tuple([rng.choice([3, 3, 3, 3, 5, 5, 7])] * dims)
    strides = tuple([rng.choice([1, 1, 2])] * dims)
    dilations = tuple([rng.choice([1] * 9 + [2])] * dims)
    spans = [d * (w - 1) + 1 for d, w in zip(dilations, window, strict=True)]
    padding = [s // 2 for s in spans]
    out = tuple((i + 2 * p - s) // t + 1 for i, p, s, t in zip(image, padding, spans, strides, strict=True))
    if min(out) < 1:
        raise ValueError("no result")
    around = [0, 0, *padding] if first else [0, *padding, 0]
    channel = 1 if first else dims + 1
    source = f.argument((1, c, *image) if first else (1, *image, c))
    if first and dims == 2 and rng.random() < 0.5:  # as torch has it
        stored = f.argument((c, 1, *window), constant=True)
        weight = f.emit(
            (c, *window), "f32", f"tensor.collapse_shape {stored.name} [[0, 1], [2], [3]] : {stored.type} into "
            f"{Value('', (c, *window)).type}"
        )  # fmt: skip
    else:
        weight = f.argument((c, *window) if first else (*window, c), constant=True)
    shape = (1, c, *out) if first else (1, *out, c)
    biased = rng.random() < 0.6
    bias = f.argument((c,), constant=True) if biased else None
    padded = f.pad(source, around, around)
    if bias is not None:
        init = f.broadcast(bias, shape, [d for d in range(dims + 2) if d != channel])
    else:
        init = f.fill(0.0, shape)
    name = {(1, True): "1d_ncw_cw", (1, False): "1d_nwc_wc", (2, True): "2d_nchw_chw", (2, False): "2d_nhwc_hwc"}[
        dims, first
    ]
    f.flops += 2.0 * math.prod(shape) * math.prod(window)
    # Without reuse along channels products are no faster than the loads that feed them.
    f.traffic += 4.0 * math.prod(shape) * math.prod(window) / 4
    result = f.named(
        f"depthwise_conv_{name}",
        [padded, weight],
        init,
        f"{{dilations = {dense(dilations)}, strides = {dense(strides)}}}",
    )
    return epilogue(f, "conv", result, channel, rng, skip_bias=biased)


def pool(f: Function, rng: random.Random) -> Value:
    """Max and average pools, either layout."""
    first = rng.random() < 0.6
    c, image = rng.choice(CHANNELS[2:-4]), _square(rng, rng.choice(IMAGES))
    window, stride = rng.choice([(2, 2), (2, 2), (3, 2), (3, 2), (3, 1), (5, 1), (3, 3), (4, 4)])
    kind = rng.choice(["max", "max", "sum"])
    padding = window // 2 if kind == "max" and rng.random() < 0.6 else 0
    out = tuple((i + 2 * padding - window) // stride + 1 for i in image)
    if min(out) < 1:
        raise ValueError("no result")
    around = [0, 0, padding, padding] if first else [0, padding, padding, 0]
    source = f.argument((1, c, *image) if first else (1, *image, c))
    lowest = -math.inf if kind == "max" else 0.0
    padded = f.pad(source, around, around, lowest)
    shape = (1, c, *out) if first else (1, *out, c)
    init = f.fill(lowest, shape)
    f.traffic += 4.0 * math.prod(shape) * window * window / 2
    result = f.named(
        f"pooling_{'nchw' if first else 'nhwc'}_{kind}",
        [padded, f.empty((window, window))],
        init,
        f"{{dilations = {dense([1, 1])}, strides = {dense([stride, stride])}}}",
    )
    if kind == "max":
        return result
    size = float(window * window)
    dims = list(range(4))
    return f.generic(
        [(result, dims)], f.empty(shape), dims, "pppp", lambda s, e: s.op("arith.divf", e[0], s.constant(size))
    )


def _rows(rng: random.Random) -> tuple[Shape, int]:
    """A shape whose last dimension is a row, and its rank."""
    row = rng.choice([32, 49, 50, 64, 77, 96, 100, 128, 160, 192, 196, 197, 200, 256, 300, 320, 384, 400, 512, 576, 640, 768,
                      1000, 1024, 1280, 1536, 2048, 4096])  # fmt: skip
    if rng.random() < 0.5:
        return (rng.choice(ROWS[3:]), row), 2
    return (rng.choice([1, 2, 4, 6, 8, 12, 16, 20, 24, 32]), rng.choice(ROWS[5:26]), row), 3


def _reduce(f: Function, value: Value, keep: list[int], op: str, start: float, square: bool = False) -> Value:
    """A sum or maximum over the dimensions that are not kept."""
    rank = len(value.shape)

    def body(s: Scalars, e: list[str]) -> str:
        x = s.op("arith.mulf", e[0], e[0]) if square else e[0]
        return s.op(op, x, e[1])

    iterators = "".join("p" if d in keep else "r" for d in range(rank))
    init = f.fill(start, tuple(value.shape[d] for d in keep))
    return f.generic([(value, list(range(rank)))], init, keep, iterators, body, operations=1 + square)


def _map(f: Function, inputs: list[tuple[Value, list[int | None]]], shape: Shape, body: Callable[[Scalars, list[str]], str],
         operations: int = 1) -> Value:  # fmt: skip
    dims: list[int | None] = list(range(len(shape)))
    return f.generic(inputs, f.empty(shape), dims, "p" * len(shape), body, operations)


def softmax(f: Function, rng: random.Random) -> Value:
    """Over the last dimension: ops as importers write them, or the named op; sometimes its logarithm, or a mask before it."""
    shape, rank = _rows(rng)
    dims, keep = list(range(rank)), list(range(rank - 1))
    value = f.argument(shape)
    f.traffic += 16.0 * math.prod(shape)  # the exponentials
    if rng.random() < 0.12:
        out = f.empty(shape)
        f.traffic += 16.0 * math.prod(shape)
        return f.emit(
            shape, "f32", f"linalg.softmax dimension({rank - 1}) ins({value.name} : {value.type}) outs({out.name} : {out.type})"
            f" -> {out.type}"
        )  # fmt: skip
    if rng.random() < 0.3:
        mask = f.argument((1, *shape[1:]) if rank == 3 else shape[1:], constant=True)
        value = _map(
            f, [(value, dims), (mask, [None, *dims[1:]] if rank == 3 else dims[1:])], shape,
            lambda s, e: s.op("arith.addf", s.op("arith.mulf", e[0], s.constant(0.125)), e[1])
        )  # fmt: skip
    largest = _reduce(f, value, keep, "arith.maximumf", -math.inf)
    logarithm = rng.random() < 0.2
    if logarithm:
        shifted = _map(f, [(value, dims), (largest, keep)], shape, lambda s, e: s.op("arith.subf", e[0], e[1]))
        exponentials = _map(f, [(shifted, dims)], shape, lambda s, e: s.op("math.exp", e[0]))
    else:
        exponentials = _map(
            f, [(value, dims), (largest, keep)], shape, lambda s, e: s.op("math.exp", s.op("arith.subf", e[0], e[1]))
        )
    total = _reduce(f, exponentials, keep, "arith.addf", 0.0)
    if not logarithm:
        return _map(f, [(exponentials, dims), (total, keep)], shape, lambda s, e: s.op("arith.divf", e[0], e[1]))
    log = _map(f, [(total, keep)], total.shape, lambda s, e: s.op("math.log", e[0]))
    rows: list[int | None] = list(keep)
    return _map(f, [(shifted, dims), (log, rows)], shape, lambda s, e: s.op("arith.subf", e[0], e[1]))


def normalisation(f: Function, rng: random.Random) -> Value:
    """Layer norm and RMS norm whole, and the pieces that a partitioner cuts them into."""
    shape, rank = _rows(rng)
    dims: list[int | None] = list(range(rank))
    keep = list(range(rank - 1))
    rows: list[int | None] = list(keep)
    width, last = shape[-1], [rank - 1]
    size = float(width)
    form = rng.choice(["layernorm", "layernorm", "rms", "rms", "mean", "variance", "normalise"])
    value = f.argument(shape)
    if form in ("layernorm", "rms") and rng.random() < 0.3:  # behind a residual connection
        value = _map(f, [(value, dims), (f.argument(shape), dims)], shape, lambda s, e: s.op("arith.addf", e[0], e[1]))

    def divided(v: Value) -> Value:
        return _map(f, [(v, rows)], v.shape, lambda s, e: s.op("arith.divf", e[0], s.constant(size)))

    def root(v: Value) -> Value:
        return _map(
            f, [(v, rows)], v.shape, lambda s, e: s.op("math.rsqrt", s.op("arith.addf", e[0], s.constant(1e-5)))
        )

    def scaled(v: Value, deviation: Value, shift: bool) -> Value:
        operands: list[tuple[Value, list[int | None]]] = [
            (v, dims),
            (deviation, rows),
            (f.argument((width,), constant=True), last),
        ]
        if shift:
            operands.append((f.argument((width,), constant=True), last))

        def body(s: Scalars, e: list[str]) -> str:
            x = s.op("arith.mulf", s.op("arith.mulf", e[0], e[1]), e[2])
            return s.op("arith.addf", x, e[3]) if shift else x

        return _map(f, operands, shape, body, 3)

    if form == "mean":
        return divided(_reduce(f, value, keep, "arith.addf", 0.0))
    if form == "rms":
        return scaled(value, root(divided(_reduce(f, value, keep, "arith.addf", 0.0, square=True))), shift=False)
    whole = form == "layernorm"
    mean = divided(_reduce(f, value, keep, "arith.addf", 0.0)) if whole else f.argument(shape[:-1])
    if form == "normalise":
        variance = f.argument(shape[:-1], domain="nonnegative")
        operands = [(value, dims), (mean, rows), (variance, rows), (f.argument((width,), constant=True), last),
                    (f.argument((width,), constant=True), last)]  # fmt: skip

        def normalise(s: Scalars, e: list[str]) -> str:
            deviation = s.op("math.rsqrt", s.op("arith.addf", e[2], s.constant(1e-5)))
            x = s.op("arith.mulf", s.op("arith.subf", e[0], e[1]), deviation)
            return s.op("arith.addf", s.op("arith.mulf", x, e[3]), e[4])

        return _map(f, operands, shape, normalise, 5)
    centred = _map(f, [(value, dims), (mean, rows)], shape, lambda s, e: s.op("arith.subf", e[0], e[1]))
    variance = divided(_reduce(f, centred, keep, "arith.addf", 0.0, square=True))
    return variance if form == "variance" else scaled(centred, root(variance), shift=True)


def reduction(f: Function, rng: random.Random) -> Value:
    """Sums, means and maxima over trailing, leading or middle dimensions; global pools."""
    if rng.random() < 0.35:
        c, image = rng.choice(CHANNELS[4:]), rng.choice(IMAGES[3:40])
        first = rng.random() < 0.6
        value = f.argument((1, c, image, image) if first else (1, image, image, c))
        keep, size = ([0, 1] if first else [0, 3]), float(image * image)
    else:
        shape, rank = _rows(rng)
        value = f.argument(shape)
        dropped = rng.randrange(rank)
        keep, size = [d for d in range(rank) if d != dropped], float(shape[dropped])
    kind = rng.choice(["sum", "mean", "mean", "max", "squares"])
    if kind == "max":
        return _reduce(f, value, keep, "arith.maximumf", -math.inf)
    total = _reduce(f, value, keep, "arith.addf", 0.0, square=kind == "squares")
    if kind != "mean":
        return total
    rows: list[int | None] = list(range(len(keep)))
    return _map(f, [(total, rows)], total.shape, lambda s, e: s.op("arith.divf", e[0], s.constant(size)))


def elementwise(f: Function, rng: random.Random) -> Value:
    """Chains with broadcasts: activations, gates, positional embeddings, normalisation at inference."""
    shape, rank = _rows(rng)
    if rng.random() < 0.4:
        shape, rank = (1, rng.choice(CHANNELS[3:30]), image := rng.choice(IMAGES[5:45]), image), 4
    value = f.argument(shape)
    dims: list[int | None] = list(range(rank))
    fused = Fuser(f, value)
    for _ in range(rng.randint(1, 4)):
        choice = rng.choice(["activation", "activation", "add", "mul", "row", "column", "broadcast", "sub"])
        if choice == "activation":
            fused.steps.append(("", ACTIVATIONS[rng.choice(sorted(ACTIVATIONS))]))
        elif choice in ("add", "mul", "sub"):
            fused.binary(f"arith.{choice}f", f.argument(shape), dims)
        elif choice == "row":
            fused.binary(rng.choice(["arith.addf", "arith.mulf"]), f.argument(shape[-1:], constant=True), [rank - 1])
        elif choice == "column":
            fused.binary(rng.choice(["arith.addf", "arith.mulf"]), f.argument(shape[-2:-1], constant=True), [rank - 2])
        elif rank > 2:
            fused.binary("arith.addf", f.argument((1, *shape[1:])), [None, *dims[1:]])
    if not fused.steps:
        fused.steps.append(("", rng.choice([gelu, sigmoid])))
    f.traffic += 8.0 * math.prod(shape)
    return fused.finish(split=rng.random() < 0.4)


def transpose(f: Function, rng: random.Random) -> Value:
    """Layout changes: heads, channels first and last, weights."""
    form = rng.choice(["heads", "heads", "image", "matrix", "keys"])
    if form == "heads":
        shape: Shape = (
            1,
            rng.choice(ROWS[5:27]),
            rng.choice([2, 4, 6, 8, 10, 12, 16, 20]),
            rng.choice([32, 40, 48, 64, 80, 96, 128]),
        )
        permutation = [0, 2, 1, 3]
    elif form == "keys":
        shape, permutation = (
            (1, rng.choice([4, 8, 12, 16]), rng.choice(ROWS[8:25]), rng.choice([32, 48, 64, 80, 96])),
            [0, 1, 3, 2],
        )
    elif form == "image":
        c, image = rng.choice(CHANNELS[4:30]), rng.choice(IMAGES[5:45])
        shape, permutation = rng.choice([((1, c, image, image), [0, 2, 3, 1]), ((1, image, image, c), [0, 3, 1, 2])])
    else:
        shape, permutation = (rng.choice(HIDDEN), rng.choice(HIDDEN)), [1, 0]
    result = f.transpose(f.argument(shape), permutation)
    if rng.random() < 0.25:
        dims: list[int | None] = list(range(len(shape)))
        return _map(
            f,
            [(result, dims), (f.argument(result.shape), dims)],
            result.shape,
            lambda s, e: s.op("arith.addf", e[0], e[1]),
        )
    return result


#: Kinds and their share.
KINDS: dict[str, tuple[Kind, int]] = {
    "matmul": (matmul, 22),
    "vector": (vector_product, 5),
    "batch_matmul": (batch_matmul, 9),
    "conv2d": (conv2d, 15),
    "pointwise": (pointwise, 13),
    "conv1d": (conv1d, 3),
    "conv3d": (conv3d, 4),
    "grouped": (grouped, 3),
    "depthwise": (depthwise, 8),
    "pool": (pool, 4),
    "softmax": (softmax, 5),
    "normalisation": (normalisation, 5),
    "reduction": (reduction, 3),
    "elementwise": (elementwise, 4),
    "transpose": (transpose, 2),
}
