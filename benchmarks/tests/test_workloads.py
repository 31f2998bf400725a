"""Tests of the table of workloads and of which of them have pools."""

from __future__ import annotations

import json
import pathlib

import pools
import workloads


def line(name: str, digest: str, **more: object) -> dict:
    return {"file": f"/p/{name}", "hash": digest, "family": "matmul", "shape": "1x2", **more}


def test_a_workload_has_all_networks_it_occurs_in() -> None:
    networks = {
        "corpus/a/x.mlir": {"bert_base": 12},
        "corpus/a/same.mlir": {"bert_base": 3},
        "corpus/b/x.mlir": {"gpt2": 2},
        "rep/x.mlir": {"bert_base": 1},
        "corpus/b/y.mlir": {"gpt2": 1},
        "corpus/b/z.mlir": {"gpt2": 1},
    }
    described = [line(name, "1" if name not in ("corpus/b/y.mlir",) else "2") for name in networks if "z" not in name]
    described.append({"file": "/p/corpus/b/z.mlir", "refused": "no linalg op"})
    content = workloads.table(described, networks, pathlib.Path("/p"))
    assert content["held_out"] == ["resnet50", "bert_base", "mobilenet_v2"]
    assert [w["networks"] for w in content["workloads"]] == [{"bert_base": 15, "gpt2": 2}, {"gpt2": 1}]
    assert json.loads(workloads.render(content)) == content


def test_every_payload_of_the_benchmarks_has_a_network_or_none() -> None:
    networks = workloads.networks_of()
    assert networks["rep/mbv2-t4.mlir"] == {"mobilenet_v2": 1}
    assert networks["nhwc/r50-t3-nhwc.mlir"] == {"resnet50": 1}
    assert networks["matmul_512.mlir"] == {}
    assert networks["corpus/gpt2/softmax_12x128x128.mlir"] == {"gpt2": 12}


def test_the_committed_table_holds_out_three_networks_wherever_they_occur() -> None:
    content = json.loads(workloads.TABLE.read_text())
    by_file = {file: workload for workload in content["workloads"] for file in workload["files"]}
    corpus = {
        f"corpus/{e['file']}": e for e in json.loads((workloads.harness.PAYLOADS / "corpus/index.json").read_text())
    }
    for file, entry in corpus.items():
        if file in by_file and entry["model"] in workloads.HELD_OUT:
            assert by_file[file]["networks"][entry["model"]] >= entry["weight"]
    # BERT and GPT-2 share texts: those are held out of GPT-2, too.
    shared = [w for w in content["workloads"] if {"bert_base", "gpt2"} <= w["networks"].keys()]
    assert len(shared) == 8
    for group in ("rep", "nhwc"):
        for file in (workloads.harness.PAYLOADS / group).glob("*.mlir"):
            assert by_file[f"{group}/{file.name}"]["networks"]


def test_pools_are_of_held_out_networks_and_representatives() -> None:
    content = json.loads(workloads.TABLE.read_text())
    chosen = pools.select(content)
    assert sum(name.startswith("rep/") for name in chosen) == 22
    for name, workload in chosen.items():
        held = any(network in content["held_out"] for network in workload["networks"])
        assert held or name.startswith("rep/")
    # No text has two.
    assert len({workload["hash"] for workload in chosen.values()}) == len(chosen)


def test_estimate() -> None:
    assert (
        pools.estimate([1000, 3000], 72.0, 2, 100) == "1.0 h for all 100 at 36 s each; 0.2 MB for all 100 at 2 kB each"
    )
    assert pools.estimate([], 5.0, 0, 3) == "nothing to estimate by"
