"""torch behind the line protocol: the example of a server, and a check of the protocol itself.

python benchmarks/subgraphs.py --peer served='python benchmarks/peers/serve_torch.py eager {}'
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import catalogue
import torch
import torch_peers

from peers import protocol


def main() -> int:
    output = protocol.open_output()
    mode, folder = sys.argv[1:]
    row, inputs = protocol.load(folder)
    with torch_peers.session(), tempfile.TemporaryDirectory() as temporary:
        entry = catalogue.entry(row, pathlib.Path(folder))
        local = torch_peers.start(mode, entry, inputs, pathlib.Path(temporary))
        protocol.serve(output, protocol.Function(local.call, local.output), version=torch.__version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
