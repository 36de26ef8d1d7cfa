"""How a model's tokenizer joins a premise and a hypothesis, learned from one pair that it joins itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class PairTemplate:
    """The special tokens before, between and after the two texts, each with its token type."""

    before: tuple[tuple[int, int], ...]
    between: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, int], ...]
    first_type: int
    second_type: int

    @property
    def size(self) -> int:
        """Tokens it adds."""
        return len(self.before) + len(self.between) + len(self.after)

    def join(self, first: list[int], second: list[int]) -> list[tuple[int, int]]:
        """(id, token type) of the joined pair."""
        return [
            *self.before,
            *((number, self.first_type) for number in first),
            *self.between,
            *((number, self.second_type) for number in second),
            *self.after,
        ]


def learn(tokenizer: Any) -> PairTemplate:
    """The template of a tokenizer. Raises `InvalidInput` for one that puts no special token between two texts."""
    joined = tokenizer("a", "a", return_special_tokens_mask=True, return_token_type_ids=True)
    types = joined.get("token_type_ids") or [0] * len(joined["input_ids"])
    rows = list(zip(joined["input_ids"], types, joined["special_tokens_mask"], strict=True))
    runs: list[list[tuple[int, int]]] = [[]]
    special = True
    for number, kind, mask in rows:
        if bool(mask) != special:
            runs.append([])
            special = bool(mask)
        runs[-1].append((number, kind))
    runs += [[]] * (len(runs) == 4)
    if len(runs) != 5:
        raise InvalidInput("the checkpoint's tokenizer does not keep two texts apart", "Name an NLI cross-encoder.")
    return PairTemplate(tuple(runs[0]), tuple(runs[2]), tuple(runs[4]), runs[1][0][1], runs[3][0][1])
