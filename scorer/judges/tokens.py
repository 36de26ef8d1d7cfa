"""Text to token ids such that nothing a user typed becomes a special token.

`split_special_tokens=True` is not enough: a unigram vocabulary, such as T5's, holds `</s>` and `<extra_id_0>` as
pieces, so that the model of the tokenizer still finds them in the text. What is left of them is spelled out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def encode(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Ids of each text without any special token but the unknown one; nothing is cut."""
    if not texts:
        return []
    encoded: list[list[int]] = tokenizer(
        list(texts), add_special_tokens=False, split_special_tokens=True, truncation=False, verbose=False
    )["input_ids"]
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    return [ids if special.isdisjoint(ids) else _spelled(tokenizer, ids, special) for ids in encoded]


def _spelled(tokenizer: Any, ids: list[int], special: set[int]) -> list[int]:
    """Each special id as the pieces of its text, cut after the first letter so that the whole is not found again."""
    out: list[int] = []
    for number in ids:
        if number in special:
            text, model = tokenizer.convert_ids_to_tokens(number), tokenizer.backend_tokenizer.model
            out += [piece.id for part in (text[0], text[1:]) for piece in model.tokenize(part)]
        else:
            out.append(number)
    return out


def label_id(tokenizer: Any, label: str) -> int:
    """The first id a T5 checkpoint generates for a label: that of its encoded text (209 for `1` in T5's vocabulary).

    `convert_tokens_to_ids("1")` is another token, the one inside a word.
    """
    number: int = tokenizer.encode(label, add_special_tokens=False)[0]
    return number
