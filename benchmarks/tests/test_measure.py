"""What needs numpy and torch: skipped in the environment of `make check`, which has neither.

PYTHONPATH=.venv/lib/python3.11/site-packages .venv-bench/bin/python3 -m pytest benchmarks
"""

from __future__ import annotations

import pathlib
import sys

import catalogue
import harness
import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
import measure  # noqa: E402
import torch_peers  # noqa: E402
from peers import server  # noqa: E402


def test_one_wrong_element_fails() -> None:
    expected = np.linspace(-1, 1, 1000).reshape(10, 100)
    output = expected.astype(np.float32)
    assert measure.compare(output, expected, 64) < 1e-6
    output[3, 7] += 1e-3
    with pytest.raises(harness.Failed, match=r"1 of 1000 elements, first at \(3, 7\)"):
        measure.compare(output, expected, 64)
    output[3, 7] = np.nan
    with pytest.raises(harness.Failed, match="1 of 1000"):
        measure.compare(output, expected, 64)


def test_shape_must_match() -> None:
    with pytest.raises(harness.Failed, match="shape"):
        measure.compare(np.zeros((2, 3), np.float32), np.zeros((3, 2)), 1)


@pytest.mark.parametrize("name", catalogue.load("nhwc"))
def test_layouts_agree(name: str) -> None:
    """The NHWC entry's reference is the NCHW entry's, transposed."""
    form, original = catalogue.load("nhwc")[name], catalogue.load("rep")[name.removesuffix("-nhwc")]
    inputs = measure.make_inputs(original, 1)
    moved = []
    for a, x in zip(original.args, inputs, strict=True):
        if x.ndim == 4 and a.role == "activation":
            x = x.transpose(0, 2, 3, 1)
        elif x.ndim == 4:
            x = x[:, 0].transpose(1, 2, 0) if form.kind == "depthwise_conv2d" else x.transpose(2, 3, 1, 0)
        moved.append(np.ascontiguousarray(x))
    assert [m.shape for m in moved] == [a.shape for a in form.args]
    with torch_peers.session():
        expected = torch_peers.reference(original, inputs).transpose(0, 2, 3, 1)
        assert np.allclose(torch_peers.reference(form, moved), expected, rtol=1e-12, atol=1e-12)


def test_results_have_the_shapes_of_the_index() -> None:
    for name, entry in catalogue.load("rep").items():
        if entry.flops > 1e9:
            continue
        with torch_peers.session():
            assert torch_peers.reference(entry, measure.make_inputs(entry, 1)).shape == entry.result.shape, name


def test_torch_behind_the_protocol(tmp_path: pathlib.Path) -> None:
    entry = catalogue.load("rep")["gpt2-t8"]
    inputs = measure.make_inputs(entry, 1)
    measure.write_row(entry, inputs, tmp_path)
    script = pathlib.Path(server.__file__).parent / "serve_torch.py"
    peer = server.Server(f"{sys.executable} {script} eager {{}}", tmp_path)
    with torch_peers.session():
        measure.compare(peer.output(), torch_peers.reference(entry, inputs), entry.reduction)
    assert peer.time() > 0
    peer.close()
