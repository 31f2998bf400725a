"""Indexes agree with the payloads they describe, and the NHWC payloads with their generator."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess

import catalogue
import harness
import make_nhwc
import pytest

GROUPS = {"rep": 22, "nhwc": 10, "corpus": 125}


@pytest.mark.parametrize("group", GROUPS)
def test_index_lists_every_file(group: str) -> None:
    entries = catalogue.load(group)
    assert len(entries) == GROUPS[group]
    files = {entry.file for entry in entries.values()}
    assert files == set((harness.PAYLOADS / group).rglob("*.mlir"))


@pytest.mark.parametrize("group", GROUPS)
def test_arguments_are_those_of_the_function(group: str) -> None:
    for name, entry in catalogue.load(group).items():
        args, result = catalogue.signature(entry.file.read_text())
        indexed = [dataclasses.replace(a, domain="") for a in entry.args]
        assert indexed == args, name
        assert entry.result == result, name


@pytest.mark.parametrize("group", ["rep", "nhwc"])
def test_torch_has_the_parameters_of_its_operation(group: str) -> None:
    for name, entry in catalogue.load(group).items():
        parameters = catalogue.OPERATIONS[entry.torch["op"]].split()
        needed = {p for p in parameters if not p.startswith("[")}
        given = set(entry.torch) - {"op"}
        assert needed <= given <= {p.strip("[]") for p in parameters}, name
        assert entry.torch.get("activation") in (None, "relu", "relu6", "gelu"), name


def test_corpus_has_four_payloads_without_linalg() -> None:
    plain = [n for n, e in catalogue.load("corpus").items() if "linalg." not in e.file.read_text()]
    assert len(plain) == 4
    assert all(name.split("/")[1].startswith(("select_", "slice_")) for name in plain)


def test_nhwc_files_are_what_the_generator_writes() -> None:
    folder = harness.PAYLOADS / "nhwc"
    assert make_nhwc.generate() == {file.name: file.read_text() for file in folder.iterdir()}


def operations(text: str) -> list[str]:
    """Arithmetic and constants in order: what must not change with the layout."""
    return re.findall(r"= arith\.(?!constant)(.*?) %", text) + sorted(re.findall(r"arith\.constant (\S+)", text))


@pytest.mark.parametrize("name", catalogue.load("nhwc"))
def test_nhwc_form_computes_what_the_nchw_form_does(name: str) -> None:
    form = catalogue.load("nhwc")[name]
    original = catalogue.load("rep")[name.removesuffix("-nhwc")]
    n, c, h, w = original.result.shape
    assert form.result.shape == (n, h, w, c)
    assert [a.size for a in form.args] == [a.size for a in original.args]
    assert (form.flops, form.torch, form.kind) == (original.flops, original.torch, original.kind)
    text, other = form.file.read_text(), original.file.read_text()
    assert operations(text) == operations(other)
    for pattern in (r"(strides|dilations) = (dense<\d>)", r"= (linalg|tensor)\.(pad|fill|broadcast|generic)"):
        assert re.findall(pattern, text) == re.findall(pattern, other)
    low = re.findall(r"low\[0, 0, (\d), (\d)\] high\[0, 0, (\d), (\d)\]", other)
    assert re.findall(r"low\[0, (\d), (\d), 0\] high\[0, (\d), (\d), 0\]", text) == low


@pytest.mark.skipif(not shutil.which("mlir-opt-22"), reason="no mlir-opt-22")
def test_all_payloads_verify() -> None:
    texts = [entry.file.read_text() for group in GROUPS for entry in catalogue.load(group).values()]
    done = subprocess.run(
        ["mlir-opt-22", "-split-input-file", "-o", "/dev/null"],
        input="\n// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("text", ["tensor<?x3xf32>", "tensor<3xf64>", "memref<3xf32>", "tensor<3x*xf32>"])
def test_other_types_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match="static tensor"):
        catalogue.tensor(text)


def test_scalars_have_no_extents() -> None:
    assert catalogue.tensor("tensor<f32>") == ((), "float32")


def test_reduction_counts_the_terms_of_an_element() -> None:
    entries = catalogue.load("rep")
    assert entries["bert-t2"].reduction == 768
    assert entries["gpt2-t8"].reduction == 768
    assert entries["mbv2-t1"].reduction == 49
    assert entries["r50-t6"].reduction == 128 * 9
