"""Writes vocab.json and merges.txt of byte-level BPE into FOLDER: RoBERTa's special tokens, all bytes, EXTRA words."""

from __future__ import annotations

import json
import pathlib
import sys

folder, extra = pathlib.Path(sys.argv[1]), int(sys.argv[2])
plain = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
odd = [byte for byte in range(256) if byte not in plain]
characters = [chr(byte) if byte in plain else chr(256 + odd.index(byte)) for byte in range(256)]
tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *characters, *("a" * (2 + index) for index in range(extra))]
(folder / "vocab.json").write_text(json.dumps({token: index for index, token in enumerate(tokens)}))
(folder / "merges.txt").write_text("#version: 0.2\n")
