"""Makes the folder roberta/: a small random RoBERTa as transformers saves it, and what it computes.

    pip install torch==2.13.0 transformers safetensors
    python unittests/Model/Inputs/make_roberta.py

EncoderTest compares with the output. Weights, biases and norms are all random, so that none can be left out unnoticed.
"""

from __future__ import annotations

import pathlib

import torch
from safetensors.torch import save_file
from transformers import RobertaConfig, RobertaModel

FOLDER = pathlib.Path(__file__).parent / "roberta"
LENGTHS = [12, 7, 3, 1]


def main() -> None:
    config = RobertaConfig(
        vocab_size=261,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=20,
        type_vocab_size=2,
        pad_token_id=1,
        layer_norm_eps=1e-5,
    )
    torch.manual_seed(5)
    model = RobertaModel(config, add_pooling_layer=False).eval()
    ids = torch.randint(5, config.vocab_size, (len(LENGTHS), max(LENGTHS)))
    mask = torch.arange(max(LENGTHS)).unsqueeze(0) < torch.tensor(LENGTHS).unsqueeze(1)
    ids[~mask] = config.pad_token_id
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        hidden = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    model.save_pretrained(FOLDER)
    save_file(
        {"ids": ids.int(), "lengths": torch.tensor(LENGTHS).int(), "hidden": (hidden * mask.unsqueeze(2)).contiguous()},
        FOLDER / "expected.safetensors",
    )


if __name__ == "__main__":
    main()
