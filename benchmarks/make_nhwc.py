"""Writes payloads/nhwc: the 2-D convolutions and the pooling of payloads/rep with channels last.

  python benchmarks/make_nhwc.py [OUT]

Extents, padding, bias and epilogue are those of the entries in rep/index.json;
activations are NHWC, weights HWCF (depthwise: HWC). OUT is payloads/nhwc by
default; a test compares what this writes with what is there.
"""

from __future__ import annotations

import json
import pathlib
import sys

import catalogue
import harness

#: Epilogues as torch's importer spells them, from %value to the last name.
ACTIVATIONS = {
    "relu": ["%c0 = arith.cmpf ugt, {0}, %zero : f32", "%r0 = arith.select %c0, {0}, %zero : f32"],
    "relu6": [
        "%c0 = arith.cmpf ult, {0}, %zero : f32",
        "%r0 = arith.select %c0, %zero, {0} : f32",
        "%c1 = arith.cmpf ugt, %r0, %six : f32",
        "%r1 = arith.select %c1, %six, %r0 : f32",
    ],
}
LAST = {"relu": "%r0", "relu6": "%r1"}


def tensor(shape: tuple[int, ...]) -> str:
    return "tensor<" + "".join(f"{d}x" for d in shape) + "f32>"


def last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """NCHW extents as NHWC."""
    n, c, h, w = shape
    return n, h, w, c


def weight_shape(entry: catalogue.Entry, shape: tuple[int, ...]) -> tuple[int, ...]:
    f, c, h, w = shape
    return (h, w, f) if entry.kind == "depthwise_conv2d" else (h, w, c, f)


def arguments(entry: catalogue.Entry) -> list[catalogue.Array]:
    """The arguments of the NHWC form, in the order of the NCHW form."""
    result = []
    for a in entry.args:
        shape = a.shape
        if len(shape) == 4:
            shape = last(shape) if a.role == "activation" else weight_shape(entry, shape)
        result.append(catalogue.Array(shape, a.dtype, a.role, a.domain))
    return result


def padded(x: catalogue.Array, by: int, value: str) -> tuple[list[str], str, tuple[int, ...]]:
    """Lines that pad height and width of %x, what then holds it, and its extents."""
    if not by:
        return [], "%x", x.shape
    n, h, w, c = x.shape
    shape = (n, h + 2 * by, w + 2 * by, c)
    return (
        [
            f"%padded = tensor.pad %x low[0, {by}, {by}, 0] high[0, {by}, {by}, 0] {{",
            "^bb0(%d0: index, %d1: index, %d2: index, %d3: index):",
            f"  tensor.yield {value} : f32",
            f"}} : {tensor(x.shape)} to {tensor(shape)}",
        ],
        "%padded",
        shape,
    )


def epilogue(entry: catalogue.Entry, out: str) -> list[str]:
    """The generic with the residual's addition and the activation; none if there is neither."""
    residual = entry.kind != "max_pool" and sum(a.role == "activation" for a in entry.args) == 2
    activation = entry.torch.get("activation")
    if not residual and not activation:
        return []
    value, body = "%in", []
    if residual:
        body.append("%s = arith.addf %in, %other : f32")
        value = "%s"
    body += [line.format(value) for line in ACTIVATIONS.get(activation, [])]
    value = LAST.get(activation, value)
    count = 3 if residual else 2
    kinds = ", ".join(['"parallel"'] * 4)
    inputs = f"%conv, %residual : {out}, {out}" if residual else f"%conv : {out}"
    block = "%in: f32, %other: f32, %out: f32" if residual else "%in: f32, %out: f32"
    return [
        f"%result = linalg.generic {{indexing_maps = [{', '.join(['#map'] * count)}], iterator_types = [{kinds}]}} "
        f"ins({inputs}) outs(%empty : {out}) {{",
        f"^bb0({block}):",
        *(f"  {line}" for line in body),
        f"  linalg.yield {value} : f32",
        f"}} -> {out}",
    ]


def geometry(stride: int) -> str:
    return f"{{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}"


def convolution(entry: catalogue.Entry, args: list[catalogue.Array], out: str) -> list[str]:
    op = "depthwise_conv_2d_nhwc_hwc" if entry.kind == "depthwise_conv2d" else "conv_2d_nhwc_hwcf"
    weight, bias = args[-2], args[-1]
    padding, value, shape = padded(args[0], entry.torch["padding"], "%zero")
    tail = epilogue(entry, out)
    constants = []
    if padding or "%zero" in "".join(tail):
        constants.append("%zero = arith.constant 0.000000e+00 : f32")
    if entry.torch.get("activation") == "relu6":
        constants.append("%six = arith.constant 6.000000e+00 : f32")
    return [
        *constants,
        *padding,
        f"%empty = tensor.empty() : {out}",
        f"%bias_everywhere = linalg.broadcast ins(%bias : {tensor(bias.shape)}) outs(%empty : {out}) "
        "dimensions = [0, 1, 2]",
        f"%conv = linalg.{op} {geometry(entry.torch['stride'])} ins({value}, %weight : {tensor(shape)}, "
        f"{tensor(weight.shape)}) outs(%bias_everywhere : {out}) -> {out}",
        *tail,
        f"return {'%result' if tail else '%conv'} : {out}",
    ]


def pooling(entry: catalogue.Entry, args: list[catalogue.Array], out: str) -> list[str]:
    padding, value, shape = padded(args[0], entry.torch["padding"], "%lowest")
    window = tensor((entry.torch["kernel"],) * 2)
    return [
        "%lowest = arith.constant 0xFF800000 : f32",
        *padding,
        f"%empty = tensor.empty() : {out}",
        f"%init = linalg.fill ins(%lowest : f32) outs(%empty : {out}) -> {out}",
        f"%window = tensor.empty() : {window}",
        f"%result = linalg.pooling_nhwc_max {geometry(entry.torch['stride'])} ins({value}, %window : {tensor(shape)}, "
        f"{window}) outs(%init : {out}) -> {out}",
        f"return %result : {out}",
    ]


def payload(entry: catalogue.Entry) -> str:
    args = arguments(entry)
    out = tensor(last(entry.result.shape))
    names = ["%x"]
    if entry.kind != "max_pool":
        names += ["%residual"] * (len(args) - 3) + ["%weight", "%bias"]
    declared = ", ".join(
        f"{name}: {tensor(a.shape)}" + (" {cwm.constant}" if a.role == "constant" else "")
        for name, a in zip(names, args, strict=True)
    )
    lines = (pooling if entry.kind == "max_pool" else convolution)(entry, args, out)
    maps = ["#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>"] if "#map" in "".join(lines) else []
    return "\n".join(
        [
            f"// {entry.what}, channels last; written by benchmarks/make_nhwc.py from rep/{entry.file.name}.",
            *maps,
            "module {",
            f"  func.func @kernel({declared}) -> {out} {{",
            *(f"    {line}" for line in lines),
            "  }",
            "}",
            "",
        ]
    )


def generate() -> dict[str, str]:
    """File name -> content of everything in payloads/nhwc."""
    files, index = {}, []
    for entry in catalogue.load("rep").values():
        if entry.kind not in ("conv2d", "depthwise_conv2d", "max_pool"):
            continue
        name = f"{entry.name}-nhwc"
        files[f"{name}.mlir"] = payload(entry)
        args = [{"shape": list(a.shape), "dtype": a.dtype, "role": a.role} for a in arguments(entry)]
        result = {"shape": list(last(entry.result.shape)), "dtype": entry.result.dtype}
        index.append(
            {
                "name": name,
                "file": f"{name}.mlir",
                "what": f"{entry.what}, NHWC",
                "kind": entry.kind,
                "layout": "nhwc",
                "flops": entry.flops,
                "args": args,
                "result": result,
                "torch": entry.torch,
            }
        )
    files["index.json"] = "[\n" + ",\n".join(json.dumps(value) for value in index) + "\n]\n"
    return files


def main() -> int:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else harness.PAYLOADS / "nhwc"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in generate().items():
        (folder / name).write_text(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
