"""The C++ tokenizer gives the ids of Hugging Face's, for texts of all kinds; training is deterministic."""

from __future__ import annotations

import itertools
import json
import pathlib
import random
import subprocess
import sys

import pytest
from cwm import train_tokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIALS = train_tokenizer.SPECIAL_TOKENS

#: What is not met in programs.
ODD_TEXTS = [
    "",
    " ",
    "  x",
    "a  b",
    "\n\n  %0 = \t1.0e-05",
    'é à ü %λ = "日本語" 🙂 ok',
    "\u00a0nbsp \u0085 nel \u2028 ls \u3000 wide",
    "0x1F 123456789 007 %1234567 !12 #3 @4 ^5 % ! # @ ^",
    "<mask> in <s>text</s>  <pad><unk>",
    "<ma<mask>sk> <s><s> </ s> <s",
    " \t<mask>\n<mask>  <mask>x",
    "\x00\x01\x7f",
    "\x00" * 100,
    "a" * 3000,
    "ab" * 3000,
    " " * 500,
    "\r\n\r\n" * 40,
    "é" * 100 + "🙂" * 50,
    "12345" * 100,
    "f32 bf16 i64 d0 s1 _2 f12345 i1i2i3 x16x32 xf32> d0)-> (d1",
    "_ __a_1 conv_2d_nhwc_hwcf",
    "\U0001d518\U0001d52b\U0001d7d9 x²³ ½ Ⅷ",
    "it's we'll I'd they've 'S ''s x's's don't'",
    "affine_map<(d0, d1, d2) -> (d0 floordiv 8, d1 * 4 + d2)>" * 3,
]
ALPHABET = [*"abz_09df \t\n%#!@^<>()[]{},:=-+*/.\"'é日🙂 \u00a0", "<s>", "<mask>", "f32", "%12", " = ", "'s"]


@pytest.fixture(scope="session")
def texts(real_texts: list[str]) -> list[str]:
    """500 texts: real ones, slices of them, odd and random ones."""
    source = random.Random(1)
    result = source.sample(real_texts, min(200, len(real_texts)))
    for _ in range(150):
        text = source.choice(real_texts)
        begin = source.randrange(len(text))
        result.append(text[begin : begin + source.randrange(1, 3000)])
    result += ODD_TEXTS
    while len(result) < 500:
        result.append("".join(source.choice(ALPHABET) for _ in range(source.randrange(1, 400))))
    return result


def expect_equal(tokenizer: Tokenizer, path: pathlib.Path, texts: list[str], model_tool) -> None:
    tokenizer.save(str(path))
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = model_tool("tokenize", path, text=lines)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.rstrip("\n").split("\n")]
    assert len(found) == len(texts)
    differ = [
        text
        for text, result in zip(texts, found, strict=True)
        if result["ids"] != tokenizer.encode(text, add_special_tokens=False).ids
    ]
    assert not differ, f"{len(differ)} of {len(texts)} texts differ, the first is {differ[0]!r}"
    # Only white space beside a token that takes it in may be lost.
    lost = [text for text, result in zip(texts, found, strict=True) if result["text"] != text]
    assert all("<mask>" in text for text in lost)


def test_phrases(texts: list[str], real_texts: list[str], tmp_path: pathlib.Path, model_tool) -> None:
    assert len(texts) == 500
    tokenizer = train_tokenizer.train(real_texts, vocabulary_size=1500)
    assert tokenizer.get_vocab_size() == 1500
    expect_equal(tokenizer, tmp_path / "tokenizer.json", texts, model_tool)
    # Long merges were learned, and the texts use them.
    ids = tokenizer.encode(real_texts[0]).ids
    assert len(ids) < len(real_texts[0]) / 3


def make_words_tokenizer(texts: list[str], mask: AddedToken) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=[*SPECIALS[:4], mask],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@pytest.mark.parametrize("normalized", [False, True])
def test_words(texts: list[str], real_texts: list[str], tmp_path: pathlib.Path, model_tool, normalized: bool) -> None:
    # As RoBERTa's file has it: the mask takes the space before it.
    mask = AddedToken("<mask>", lstrip=True, normalized=normalized, special=True)
    tokenizer = make_words_tokenizer(real_texts + ODD_TEXTS, mask)
    expect_equal(tokenizer, tmp_path / "tokenizer.json", texts, model_tool)


def test_words_of_other_scripts(tmp_path: pathlib.Path, model_tool) -> None:
    """Each code point of the blocks that docs/Model.md promises, between letters, digits, spaces and dots."""
    blocks = [(0x80, 0x590), (0x2000, 0x2C00), (0x3000, 0x3400), (0xFF00, 0xFFF0), (0x1F000, 0x1FB00)]
    blocks += [(0x4E00, 0x4E40), (0xAC00, 0xAC20)]
    points = [chr(value) for value in itertools.chain.from_iterable(itertools.starmap(range, blocks))]
    texts = [f"a{point}b 1{point}2 .{point}. {point}" for point in points]
    # Merges over the borders of pieces show where those are.
    tokenizer = make_words_tokenizer(texts, AddedToken("<mask>", special=True))
    expect_equal(tokenizer, tmp_path / "tokenizer.json", texts, model_tool)


def test_import(texts: list[str], real_texts: list[str], tmp_path: pathlib.Path, model_tool) -> None:
    """vocab.json and merges.txt, as older models come."""
    tokenizer = make_words_tokenizer(real_texts, AddedToken("<mask>", lstrip=True, special=True))
    vocabulary, merges = tokenizer.model.save(str(tmp_path))
    done = model_tool("import", vocabulary, merges)
    assert done.returncode == 0, done.stderr
    imported = tmp_path / "imported.json"
    imported.write_text(done.stdout, encoding="utf-8")
    again = Tokenizer.from_file(str(imported))
    assert again.get_vocab() == tokenizer.get_vocab()
    for text in texts[::10]:
        assert again.encode(text).ids == tokenizer.encode(text).ids
    expect_equal(again, tmp_path / "tokenizer.json", texts, model_tool)


def test_other_splits_are_refused(tmp_path: pathlib.Path, model_tool) -> None:
    tokenizer = train_tokenizer.train(["a b"], vocabulary_size=300)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    done = model_tool("tokenize", path, text="")
    assert done.returncode == 1
    assert 'its pre_tokenizer is unknown: \'{"type":"Whitespace"}\'' in done.stderr


# Training.


def train_in_process(*arguments: str, text: bytes | None = None, seed: str = "0") -> subprocess.CompletedProcess[bytes]:
    folder = pathlib.Path(train_tokenizer.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", "cwm.train_tokenizer", *arguments],
        input=text,
        capture_output=True,
        env={"PYTHONPATH": str(folder), "PYTHONHASHSEED": seed},
        check=False,
    )


def test_training_is_deterministic(real_texts: list[str], tmp_path: pathlib.Path) -> None:
    texts = real_texts[:60]
    files = []
    for seed in ("1", "2"):
        random.Random(seed).shuffle(texts)
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
        path = tmp_path / f"{seed}.json"
        done = train_in_process("-", "-o", str(path), "--vocabulary-size=700", text=lines, seed=seed)
        assert done.returncode == 0, done.stderr
        assert f"{path}: 700 tokens from {len(texts)} texts".encode() in done.stdout
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_inputs(tmp_path: pathlib.Path) -> None:
    """Lines of text, of objects with and without text, and whole files are the same."""
    (tmp_path / "a.jsonl").write_text('"ab ab"\n\n{"kind": "header"}\n{"text": "cd cd"}\n')
    (tmp_path / "b.jsonl").write_text('{"other": "ab ab"}\n{"other": "cd cd"}\n')
    (tmp_path / "c.txt").write_text("ab ab")
    (tmp_path / "d.txt").write_text("cd cd")
    assert list(train_tokenizer.read_texts([str(tmp_path / "a.jsonl")], "text")) == ["ab ab", "cd cd"]
    assert list(train_tokenizer.read_texts([str(tmp_path / "b.jsonl")], "other")) == ["ab ab", "cd cd"]
    names = [str(tmp_path / "c.txt"), str(tmp_path / "d.txt")]
    assert list(train_tokenizer.read_texts(names, "text")) == ["ab ab", "cd cd"]
    output = tmp_path / "tokenizer.json"
    assert train_tokenizer.main([*names, "-o", str(output)]) == 0
    tokens = Tokenizer.from_file(str(output)).get_vocab()
    assert [tokens[name] for name in SPECIALS] == [0, 1, 2, 3, 4]
    assert "ab" in tokens and "cd" in tokens
    assert sorted(path.name for path in tmp_path.iterdir() if "tmp" in path.name) == []


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("", "there is no text to train on"),
        ('""\n', "there is no text to train on"),
        ('"a"\n{', "bad.jsonl:2: Expecting property name"),
        ('{"text": 1}', "bad.jsonl:1: expected a text or an object with a text 'text'"),
        ("[]", "bad.jsonl:1: expected a text"),
        ("\udcff", "no UTF-8: invalid start byte at byte 0"),
    ],
)
def test_bad_inputs(tmp_path: pathlib.Path, capsys, contents: str, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(contents.encode(errors="surrogateescape"))
    output = tmp_path / "tokenizer.json"
    assert train_tokenizer.main([str(path), "-o", str(output)]) == 1
    assert message in capsys.readouterr().err
    assert not output.exists()


def test_bad_paths(tmp_path: pathlib.Path, capsys) -> None:
    good = tmp_path / "good.txt"
    good.write_text("ab ab")
    assert train_tokenizer.main([str(tmp_path / "none"), "-o", str(tmp_path / "x")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
    assert train_tokenizer.main([str(good), "-o", str(tmp_path / "none" / "x")]) == 1
    assert "cannot write" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        train_tokenizer.main([str(good), "-o", str(tmp_path / "x"), "--vocabulary-size=260"])
    assert "must be at least 261" in capsys.readouterr().err
    with pytest.raises(ValueError, match="at least 261"):
        train_tokenizer.train(["a"], vocabulary_size=5)
