"""Trains the tokenizer of a world model: byte-level BPE over phrases of MLIR text.

    PYTHONPATH=python .venv/bin/python3 -m cwm.train_tokenizer -o model/tokenizer.json texts.jsonl

Texts are canonical state texts and action texts (docs/Trajectories.md). The result is a ``tokenizer.json`` of
Hugging Face's ``tokenizers``, which the C++ side reads, too (docs/Model.md). The same texts give the same file, in
whatever order they come.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

#: Where a text is cut before anything is merged. lib/Model/TextSplit.cpp does the same without a regular expression
#: and refuses files with another. SSA names and other numbered names; up to four digits; what is no ASCII; line ends;
#: phrases: the rest, in which the digits behind ``d``, ``f``, ``i``, ``s`` and ``_`` stay (``f32``, ``d0``).
PHRASES = (
    r"[%!#@^][0-9]{1,6}|[0-9]{1,4}|[\x{80}-\x{10FFFF}]{1,16}|"
    r"[\r\n]{1,16}|"
    r"(?:[dfis_][0-9]{1,4}|[%!#@^](?![0-9])|"
    r"[^%!#@^0-9\r\n\x{80}-\x{10FFFF}]){1,48}"
)
#: With the ids that RoBERTa gives them.
SPECIAL_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
#: Special tokens and all bytes: no vocabulary is smaller.
MIN_VOCABULARY = len(SPECIAL_TOKENS) + 256


class InputError(Exception):
    """What is wrong with an input, in one line."""


def make_tokenizer() -> Tokenizer:
    """An untrained tokenizer that splits as cwm does."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PHRASES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def train(texts: Iterable[str], vocabulary_size: int = 4096, min_frequency: int = 2) -> Tokenizer:
    """Trains a tokenizer.

    Parameters
    ----------
    texts
        Each counts as often as it comes.
    vocabulary_size
        The most tokens; there are fewer if no pair occurs ``min_frequency`` times any more.
    """
    if vocabulary_size < MIN_VOCABULARY:
        raise ValueError(f"a vocabulary of {vocabulary_size} is too small, at least {MIN_VOCABULARY}")
    tokenizer = make_tokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        min_frequency=min_frequency,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def read_lines(name: str, lines: Iterable[str], key: str) -> Iterator[str]:
    """The texts of JSON Lines: strings, or objects with the text under `key`. Objects without it are skipped."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise InputError(f"{name}:{number}: {error}") from None
        if isinstance(value, dict):
            value = value.get(key)
            if value is None:
                continue
        if not isinstance(value, str):
            raise InputError(f"{name}:{number}: expected a text or an object with a text '{key}'")
        yield value


def read_texts(inputs: Sequence[str], key: str) -> Iterator[str]:
    """The texts of files: lines of ``*.jsonl`` and of stdin (``-``), any other file whole."""
    for name in inputs:
        try:
            if name == "-":
                # Not as the locale would have it.
                yield from read_lines("stdin", sys.stdin.buffer.read().decode().split("\n"), key)
            elif name.endswith(".jsonl"):
                with open(name, encoding="utf-8") as file:
                    yield from read_lines(name, file, key)
            else:
                yield pathlib.Path(name).read_bytes().decode()
        except OSError as error:
            raise InputError(f"cannot read '{name}': {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"cannot read '{name}': no UTF-8: {error.reason} at byte {error.start}") from None


def write(tokenizer: Tokenizer, path: pathlib.Path) -> None:
    """Writes `path` whole or not at all."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.tmp-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(tokenizer.to_str(pretty=True) + "\n")
            os.chmod(name, 0o644)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror}") from None


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="train_tokenizer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="*.jsonl or - (stdin, JSON Lines), or a text each")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, metavar="FILE", help="tokenizer.json")
    parser.add_argument("--vocabulary-size", type=int, default=4096, metavar="N", help="the most tokens (4096)")
    parser.add_argument("--min-frequency", type=int, default=2, metavar="N", help="of a pair that is merged (2)")
    parser.add_argument("--key", default="text", help="where objects in JSON Lines have their text (text)")
    result = parser.parse_args(arguments)
    if result.vocabulary_size < MIN_VOCABULARY:
        parser.error(f"--vocabulary-size must be at least {MIN_VOCABULARY}: special tokens and bytes")
    if result.min_frequency < 1:
        parser.error("--min-frequency must be at least 1")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        texts = list(read_texts(options.inputs, options.key))
        if not any(texts):
            raise InputError("there is no text to train on")
        tokenizer = train(texts, options.vocabulary_size, options.min_frequency)
        write(tokenizer, options.output)
    except InputError as error:
        print(f"train_tokenizer: error: {error}", file=sys.stderr)
        return 1
    lengths = sorted(len(tokenizer.encode(text).ids) for text in set(texts))
    size = sum(len(text.encode()) for text in set(texts))
    print(
        f"{options.output}: {tokenizer.get_vocab_size()} tokens from {len(texts)} texts, {len(lengths)} distinct of"
        f" {size} bytes: {size / sum(lengths):.2f} bytes a token, tokens a text: median {lengths[len(lengths) // 2]},"
        f" most {lengths[-1]}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
