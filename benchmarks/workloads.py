"""Makes workloads.json: which workloads the networks of the benchmarks have, by canonical hash.

The table decides what training may see: every workload of a network that is
held out, wherever it also occurs. Hash, operator family and shape come from
`cwm-train collect --dry-run`, networks and how often each calls a workload from
the indexes of payloads/. The representative subgraphs (rep, nhwc) belong to the
network that they were cut from.

  python benchmarks/workloads.py [--check]

With --check nothing is written; the exit status tells whether the file is what
would be written.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

import harness

TABLE = harness.ROOT / "benchmarks" / "workloads.json"
VERSION = 1
#: Networks that no training stage sees (docs/Training.md).
HELD_OUT = ("resnet50", "bert_base", "mobilenet_v2")
#: What the names of representative subgraphs begin with, and the network.
PREFIXES = {
    "bert": "bert_base",
    "gpt2": "gpt2",
    "gptneo": "gptneo_attn",
    "mbv2": "mobilenet_v2",
    "opt": "opt_attn",
    "r3d": "r3d18",
    "r50": "resnet50",
}


def networks_of(folder: pathlib.Path = harness.PAYLOADS) -> dict[str, dict[str, int]]:
    """Networks and weights by payload file, relative to `folder`."""
    networks: dict[str, dict[str, int]] = {}
    for entry in json.loads((folder / "corpus" / "index.json").read_text()):
        networks[f"corpus/{entry['file']}"] = {entry["model"]: entry["weight"]}
    for group in ("rep", "nhwc"):
        for entry in json.loads((folder / group / "index.json").read_text()):
            # Occurrences are those of the corpus, where the same text is there; 1 elsewhere.
            networks[f"{group}/{entry['file']}"] = {PREFIXES[entry["name"].split("-")[0]]: 1}
    for file in sorted(folder.glob("*.mlir")):
        networks[file.name] = {}
    return networks


def describe(files: list[pathlib.Path]) -> list[dict]:
    """What cwm-train says of each payload."""
    command = [harness.tool("cwm-train"), "collect", "--dry-run", *map(str, files)]
    done = harness.run(command)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != len(files):
        raise SystemExit(f"workloads: error: cwm-train: {harness.last_words(done.returncode, done.stderr)}")
    return lines


def table(described: list[dict], networks: dict[str, dict[str, int]], folder: pathlib.Path = harness.PAYLOADS) -> dict:
    """The table for payloads as cwm-train describes them; those it refuses have no workload."""
    workloads: dict[str, dict] = {}
    for line in described:
        if "refused" in line:
            continue
        file = pathlib.Path(line["file"]).resolve().relative_to(folder).as_posix()
        workload = workloads.setdefault(
            line["hash"],
            {"hash": line["hash"], "family": line["family"], "shape": line["shape"], "networks": {}, "files": []},
        )
        workload["files"].append(file)
        for network, weight in networks[file].items():
            known = workload["networks"].get(network, 0)
            # One network may have a text several times in the corpus; representatives repeat it.
            workload["networks"][network] = known + weight if file.startswith("corpus/") else max(known, weight)
    ordered = sorted(workloads.values(), key=lambda workload: workload["files"])
    return {"version": VERSION, "held_out": list(HELD_OUT), "workloads": ordered}


def render(content: dict) -> str:
    """A line for each workload, so that changes can be read."""
    lines = ",\n".join(json.dumps(workload) for workload in content["workloads"])
    head = f'"version": {content["version"]},\n"held_out": {json.dumps(content["held_out"])}'
    return f'{{\n{head},\n"workloads": [\n{lines}\n]\n}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare with the file that is there")
    arguments = parser.parse_args()
    networks = networks_of()
    text = render(table(describe([harness.PAYLOADS / file for file in networks]), networks))
    if arguments.check:
        if TABLE.read_text() == text:
            return 0
        print(f"{TABLE.name} is out of date: run python benchmarks/workloads.py", file=sys.stderr)
        return 1
    TABLE.write_text(text)
    workloads = json.loads(text)["workloads"]
    held = [w for w in workloads if any(n in HELD_OUT for n in w["networks"])]
    shared = [w for w in held if any(n not in HELD_OUT for n in w["networks"])]
    print(f"{len(workloads)} workloads, {len(held)} of them held out, {len(shared)} of these in other networks as well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
