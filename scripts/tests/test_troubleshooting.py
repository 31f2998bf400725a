"""Every message in docs/Troubleshooting.md is one that the sources print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "Troubleshooting.md"


def literals() -> str:
    """All string literals of the sources, neighbours joined as the compiler does."""
    text = []
    for pattern in ("lib/**/*.cpp", "cmake/*.cmake", "scripts/*.sh"):
        for path in ROOT.glob(pattern):
            source = path.read_text()
            # Adjacent literals, and literals joined by + or <<.
            source = re.sub(r'(?<!\\)"\s*(?:\+|<<)?\s*(?:R?"\()?"', "", source)
            text.append(source.replace('\\"', '"'))
    return "\n".join(text)


def messages() -> list[str]:
    rows = re.findall(r"^\| `(.*?)`(?: \([^|]*\))? \|", PAGE.read_text(), flags=re.MULTILINE)
    assert len(rows) > 20
    return rows


SOURCES = literals()


@pytest.mark.parametrize("message", messages())
def test_message_is_printed(message: str) -> None:
    # What stands between names and numbers, quotes aside: those belong to
    # either side of a name in the source.
    for fragment in re.split(r"\W*…\W*", message):
        assert fragment.strip("'\"() ") in SOURCES, f"nothing prints: {fragment}"
