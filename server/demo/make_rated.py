"""Draw the rated subset of the demo benchmark: `python -m server.demo.make_rated`."""

from __future__ import annotations

from server.demo.draws import uniform
from server.demo.files import DATA, read_jsonl

SEED = 20221215
SIZE = 64


def rated_ids() -> list[str]:
    """The ids of the `SIZE` questions with the smallest draws, in the order of the questions file."""
    ids = [entry["id"] for entry in read_jsonl(DATA / "questions.jsonl")]
    chosen = set(sorted(ids, key=lambda identifier: uniform(SEED, identifier))[:SIZE])
    return [identifier for identifier in ids if identifier in chosen]


def main() -> None:
    """Write `data/rated.txt`."""
    (DATA / "rated.txt").write_text("\n".join(rated_ids()) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
