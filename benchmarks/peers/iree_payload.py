"""A payload as IREE wants it: arguments that hold weights become constants of the program.

IREE then packs them while it compiles. Text in, text out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

#: The payloads' own form of an argument that is a weight.
CONSTANT = re.compile(r"(%\w+): (tensor<[^>]*>) \{[^}]*cwm\.constant[^}]*\}")


def with_constants(payload: str, inputs: Sequence[np.ndarray]) -> tuple[str, list[int]]:
    """The payload with `inputs` (one an argument) in place of its constant arguments, and which arguments are left."""
    match = re.search(r"func\.func @kernel\((.*?)\) -> tensor<[^>]*> \{\n", payload, re.DOTALL)
    if not match:
        raise ValueError("no function @kernel with one result")
    arguments = re.findall(r"%\w+: tensor<[^>]*>(?: \{[^}]*\})?", match.group(1))
    if len(arguments) != len(inputs):
        raise ValueError(f"{len(arguments)} arguments, {len(inputs)} inputs")
    kept, constants, resources = [], [], []
    for i, (text, value) in enumerate(zip(arguments, inputs, strict=True)):
        constant = CONSTANT.fullmatch(text)
        if not constant:
            kept.append(i)
            continue
        name, kind = constant.groups()
        constants.append(f"    {name} = arith.constant dense_resource<weight{i}> : {kind}\n")
        # A blob begins with its alignment, 64 in 32 bits.
        resources.append(f'      weight{i}: "0x40000000{value.tobytes().hex()}"')
    head = payload[match.start() : match.end()].replace(match.group(1), ", ".join(arguments[i] for i in kept))
    result = payload[: match.start()] + head + "".join(constants) + payload[match.end() :]
    if resources:
        result += "{-#\n  dialect_resources: {\n    builtin: {\n" + ",\n".join(resources) + "\n    }\n  }\n#-}\n"
    return result, kept
