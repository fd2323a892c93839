"""Writes the tokenizer and the data that torchtitan's debug model expects in its own
source tree: assets.py FOLDER"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import sys

from tokenizers import Tokenizer, models, pre_tokenizers

folder = pathlib.Path(sys.argv[1], "tests/assets")
(folder / "tokenizer").mkdir(parents=True)
(folder / "c4_test").mkdir()

words = [chr(code) for code in range(32, 127)] + ["<unk>", "<s>", "</s>"]
tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
tokenizer.save(str(folder / "tokenizer/tokenizer.json"))
(folder / "tokenizer/tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>"}), encoding="utf-8")
with open(folder / "c4_test/data.json", "w", encoding="utf-8") as data:
    for i in range(64):
        data.write(json.dumps({"text": f"the number {i} comes after {i - 1} and before {i + 1}. " * 8}) + "\n")
