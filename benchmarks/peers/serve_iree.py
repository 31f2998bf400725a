"""IREE behind the line protocol: compiles the payload itself for this CPU and runs it on the calling thread.

  build/peers-env/iree/bin/python benchmarks/peers/serve_iree.py FOLDER [--flags plain,tile]

Weights are constants of the program, so IREE packs them while it compiles. Its
driver is local-sync: no threads. Which flags are best differs by row and by up
to hundreds of times; without --flags every set is compiled and the fastest one
served. A call goes through VmContext.invoke, below the wrapper that converts
numpy arrays.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import pathlib

import iree.compiler
import iree.runtime
import iree_payload
import numpy as np
import protocol

ALWAYS = ("--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-const-eval")
#: Data tiling in the dispatches' making, the newer of IREE's two ways.
TILE = ("--iree-opt-data-tiling=false", "--iree-dispatch-creation-data-tiling")
#: No split into workgroups: there is one thread.
WHOLE = ("--iree-llvmcpu-disable-distribution",)
#: A set this many times slower than the fastest in its first call is not timed further.
HOPELESS = 3


def channels_last(row: dict) -> tuple[str, ...]:
    """Convolutions turned into NHWC ones; the transposes of activations are inside the timed call."""
    passes = "iree-preprocessing-convert-conv-to-channels-last"
    if len(row["args"][0]["shape"]) == 5:
        passes += f"{{tiling-factor={row['args'][0]['shape'][1]}}}"
    else:
        passes += ",iree-preprocessing-convert-1x1-filter-conv2d-to-matmul"
    return (f"--iree-preprocessing-pass-pipeline=builtin.module(util.func({passes}))",)


def flag_sets(row: dict) -> dict[str, tuple[str, ...]]:
    """Named sets of flags worth trying on a row."""
    sets = {"plain": (), "tile": TILE, "whole": WHOLE, "tile-whole": (*TILE, *WHOLE)}
    if row["torch"]["op"] == "conv" and row.get("layout") != "nhwc":
        sets |= {f"nhwc-{name}": (*channels_last(row), *flags) for name, flags in sets.items()}
    return sets


class Kernel(protocol.Kernel):
    """A compiled program and its inputs on the device."""

    def __init__(self, program: bytes, inputs: list[np.ndarray]) -> None:
        config = iree.runtime.Config("local-sync")
        module = iree.runtime.VmModule.copy_buffer(config.vm_instance, program)
        self.device, self.function = config.device, module.lookup_function("kernel")
        self.context = iree.runtime.SystemContext(vm_modules=[module], config=config).vm_context
        self.buffers = [iree.runtime.asdevicearray(config.device, x) for x in inputs]
        self.inputs = iree.runtime.VmVariantList(len(inputs))
        for buffer in self.buffers:
            self.inputs.push_ref(buffer._buffer_view)

    def __call__(self) -> iree.runtime.VmVariantList:
        output = iree.runtime.VmVariantList(1)
        self.context.invoke(self.function, self.inputs, output)
        return output

    def result(self) -> np.ndarray:
        view = self().get_as_object(0, iree.runtime.HalBufferView)
        return iree.runtime.DeviceArray(self.device, view).to_host()


def compiled(text: str, flags: tuple[str, ...]) -> bytes:
    return iree.compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=[*ALWAYS, *flags])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of the row")
    parser.add_argument("--flags", help="comma-separated names of sets (default: try all)")
    arguments = parser.parse_args()
    output = protocol.open_output()
    protocol.keep_memory()
    row, inputs = protocol.load(arguments.folder)
    payload = (pathlib.Path(arguments.folder) / "payload.mlir").read_text()
    text, kept = iree_payload.with_constants(payload, inputs)
    sets = flag_sets(row)
    names = arguments.flags.split(",") if arguments.flags else list(sets)
    kernels = [Kernel(compiled(text, sets[name]), [inputs[i] for i in kept]) for name in names]
    first = [protocol.timed(kernel, 1)[0] for kernel in kernels]
    hopeful = [i for i, ns in enumerate(first) if ns <= HOPELESS * min(first)]
    best = hopeful[protocol.fastest([kernels[i] for i in hopeful])]
    version = importlib.metadata.version("iree-base-compiler")
    times = {name: round(ns / 1e3, 1) for name, ns in zip(names, first, strict=True)}
    protocol.serve(output, kernels[best], version=f"IREE {version}", flags=names[best], first_us=times)
    return 0


if __name__ == "__main__":
    main()
