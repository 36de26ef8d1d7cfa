"""The small judge's features: late interaction of frozen token vectors, and what the letters say.

All functions are pure; a feature is a named float. Similarities are cosines of contextual token vectors. No feature
looks at the answer's length or kind alone: made negatives differ in them from real answers, real wrong answers do not.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scorer.judges import small_text as text
from scorer.judges.small_encoder import Tokens
from scorer.judges.small_text import Reading, Span

Floats = npt.NDArray[np.float32]
Features = dict[str, float]
BLOCK = 10
BLOCKS = 4
"""A MaxSim window is four blocks of ten tokens."""
DECAYS = (6.0, 15.0, 40.0)
"""Tokens after which a question word's match counts 1/e for an answer mention."""
MOST_CANDIDATES = 60


def canonical(question: str) -> str:
    """A question as the features read it: lower case, no question mark; typed and spoken styles look alike."""
    return " ".join(question.lower().split()).rstrip("?. ")


def qa_features(question: str, answer: str, asked: Tokens, stated: Tokens, premise: Tokens) -> Features:
    """Features of one (question, answer, passage).

    `question` is canonical; `asked` encodes it, `stated` encodes `question answer`, `premise` the passage.
    No text may be without tokens.
    """
    features = _whole(stated, premise)
    reading = Reading(premise.text)
    content = _content(asked)
    similar = asked.vectors[content] @ premise.vectors.T
    weights = rarity(asked.ids[content])
    features |= _coverage("q", similar, weights)
    features |= _answer(question, answer, stated, premise, reading)
    spans = _answer_spans(answer, stated, premise, reading, len(question))
    near, features_near = _near_answer(similar, weights, spans, len(premise))
    features |= features_near
    chosen = spans[near]
    features |= _in_sentence(question, similar, weights, premise, reading, chosen)
    features["gap"] = features["q_max"] - features["sentence_q"]
    pointer = _pointer(asked)
    pointing = premise.vectors @ pointer
    features["asks_answer"] = float(pointing[chosen[0] : chosen[1]].mean())
    features |= _rivals(question, answer, similar, pointing, premise, reading, features)
    return features


def claim_features(claim: Tokens, premise: Tokens) -> Features:
    """Features of a bare (premise, claim) pair; neither may be without tokens."""
    features = _whole(claim, premise)
    content = _content(claim)
    similar = claim.vectors[content] @ premise.vectors.T
    weights = rarity(claim.ids[content])
    features |= _coverage("c", similar, weights)
    reading = Reading(premise.text)
    bounds = np.searchsorted(reading.ends, premise.starts, side="right")
    best = max(
        (similar[:, bounds == s].max(axis=1) for s in np.unique(bounds)), key=lambda found: float(found @ weights)
    )
    features["sentence_c"] = float(best @ weights / weights.sum())
    features["sentence_c_min"] = float(best.min())
    stems, known = text.content_stems(claim.text), frozenset(reading.stems)
    features["words"] = _share([s in known for s in stems])
    features["words_missing"] = float(np.log1p(sum(s not in known for s in stems)))
    numbers = text.numbers(claim.text)
    there = frozenset(text.numbers(premise.text))
    features["numbers_missing"] = float(sum(number not in there for number in numbers))
    features["numbers_found"] = float(sum(number in there for number in numbers))
    names = Reading(claim.text).capitalised
    features["names_missing"] = float(np.log1p(len(names - known)))
    features["negation"] = float(text.negated(claim.text) and not text.negated(premise.text))
    return features


def rarity(ids: npt.NDArray[np.int64]) -> Floats:
    """Weight of a token in [0.15, 1] from its vocabulary id: BERT's vocabulary is sorted by frequency."""
    scaled = (np.log(np.maximum(ids, 1)) - np.log(1900)) / (np.log(30522) - np.log(1900))
    return np.asarray(np.clip(scaled, 0.15, 1.0), dtype=np.float32)


def _share(found: list[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def _unit(vector: Floats) -> Floats:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def _content(tokens: Tokens) -> npt.NDArray[np.int64]:
    """Indices of tokens that are words with content; all where there is none."""
    surface = [tokens.text[s:e].lower() for s, e in zip(tokens.starts, tokens.ends, strict=True)]
    kept = [k for k, word in enumerate(surface) if word.isalnum() and word not in text.FUNCTION_WORDS]
    return np.asarray(kept or range(len(tokens)), dtype=np.int64)


def _pointer(asked: Tokens) -> Floats:
    """The vector of the question word (all tokens where there is none): it lies near what is asked for."""
    surface = [asked.text[s:e] for s, e in zip(asked.starts, asked.ends, strict=True)]
    found = [k for k, word in enumerate(surface) if word in text.QUESTION_WORDS]
    return _unit(asked.vectors[found or range(len(asked))].mean(axis=0))


def _whole(hypothesis: Tokens, premise: Tokens) -> Features:
    similar = hypothesis.vectors @ premise.vectors.T
    padded = -(-similar.shape[1] // BLOCK) * BLOCK
    blocks = np.pad(similar, ((0, 0), (0, padded - similar.shape[1])), constant_values=-1.0)
    blocks = blocks.reshape(len(similar), -1, BLOCK).max(axis=2)
    starts = range(max(blocks.shape[1] - BLOCKS + 1, 1))
    windowed = np.stack([blocks[:, k : k + BLOCKS].max(axis=1) for k in starts], axis=1)
    best = windowed[:, int(windowed.mean(axis=0).argmax())]
    return {
        "cosine": float(_unit(hypothesis.vectors.mean(axis=0)) @ _unit(premise.vectors.mean(axis=0))),
        "max_all": float(similar.max(axis=1).mean()),
        "max_window": float(best.mean()),
        "max_window_low": float(np.sort(best)[:3].mean()),
    }


def _coverage(name: str, similar: Floats, weights: Floats) -> Features:
    best = similar.max(axis=1)
    return {
        f"{name}_max": float(best @ weights / weights.sum()),
        f"{name}_min": float(best.min()),
        f"{name}_low": float(np.sort(best)[:2].mean()),
    }


def _answer(question: str, answer: str, stated: Tokens, premise: Tokens, reading: Reading) -> Features:
    part = stated.starts > len(question)
    best = (stated.vectors[part] @ premise.vectors.T).max(axis=1) if part.any() else np.zeros(1)
    stems = text.content_stems(answer)
    known = frozenset(reading.stems)
    kind, asked = text.shape(answer), text.expected(question)
    loose = {kind, asked} == {"number", "date"}
    return {
        "a_max": float(best.mean()),
        "a_min": float(best.min()),
        "a_words": _share([s in known for s in stems]),
        "a_in_question": float(bool(stems) and set(stems) <= {text.stem(w) for w, _ in text.words(question)}),
        "type_match": float(asked != "other" and (kind == asked or loose)),
        "type_clash": float(asked != "other" and kind != asked and not loose),
    }


def _answer_spans(answer: str, stated: Tokens, premise: Tokens, reading: Reading, at: int) -> list[Span]:
    """Token spans of the answer's mentions; without one, the span most like the answer."""
    found = reading.mentions(answer)
    if found:
        return [_token_span(span, premise) for span in found[:MOST_CANDIDATES]]
    part = stated.starts > at
    length = int(min(max(part.sum(), 1), len(premise)))
    like = stated.vectors[part if part.any() else slice(None)] @ premise.vectors.T
    first = int(np.convolve(like.max(axis=0), np.ones(length), "valid").argmax())
    return [(first, first + length)]


def _token_span(span: Span, tokens: Tokens) -> Span:
    first = min(int(np.searchsorted(tokens.ends, span[0], side="right")), len(tokens) - 1)
    return first, max(int(np.searchsorted(tokens.starts, span[1], side="left")), first + 1)


def _decayed(similar: Floats, spans: list[Span], decay: float, n: int) -> Floats:
    """Per span and question token the best match outside the span, fading with distance: (spans, tokens)."""
    places = np.arange(n)
    bounds = np.array(spans)
    distance = np.maximum(np.maximum(bounds[:, :1] - places, places - bounds[:, 1:] + 1), 0)
    fading = np.exp(-np.arange(n + 1) / decay).astype(np.float32)
    fading[0] = 0.0
    weight = fading[distance]
    found = np.empty((len(spans), len(similar)), dtype=np.float32)
    for row, kept in zip(found, weight, strict=True):
        np.max(similar * kept, axis=1, out=row)
    return found


def _near_answer(similar: Floats, weights: Floats, spans: list[Span], n: int) -> tuple[int, Features]:
    features: Features = {"mentioned_often": float(len(spans) > 1)}
    chosen = 0
    for decay in DECAYS:
        found = _decayed(similar, spans, decay, n)
        scores = found @ weights / weights.sum()
        best = int(scores.argmax())
        features[f"near_{decay:.0f}"] = float(scores[best])
        features[f"near_{decay:.0f}_plain"] = float(found[best].mean())
        features[f"near_{decay:.0f}_low"] = float(np.sort(found[best])[:2].mean())
        features[f"near_{decay:.0f}_min"] = float(found[best].min())
        if decay == DECAYS[1]:
            chosen = best
    return chosen, features


def _in_sentence(
    question: str, similar: Floats, weights: Floats, premise: Tokens, reading: Reading, span: Span
) -> Features:
    sentence = reading.sentence(int(premise.starts[span[0]]))
    inside = (premise.starts >= sentence[0]) & (premise.starts < sentence[1])
    inside[span[0] : span[1]] = False
    best = similar[:, inside].max(axis=1) if inside.any() else np.zeros(len(similar), dtype=np.float32)
    there = premise.text[sentence[0] : sentence[1]]
    here = set(reading.content_within(sentence))
    everywhere = frozenset(reading.stems)
    stems = text.content_stems(question)
    names = reading.capitalised
    numbers, known = text.numbers(question), text.numbers(there)
    return {
        "sentence_q": float(best @ weights / weights.sum()),
        "sentence_q_min": float(best.min()),
        "sentence_q_low": float(np.sort(best)[:2].mean()),
        "sentence_words": _share([s in here for s in stems]),
        "passage_words": _share([s in everywhere for s in stems]),
        "names_elsewhere": float(sum(s in names and s not in here for s in stems)),
        "names_here": float(sum(s in names and s in here for s in stems)),
        "words_missing": float(np.log1p(sum(s not in everywhere for s in stems))),
        "numbers_missing": float(sum(number not in known for number in numbers)),
        "negation": float(text.negated(question) != text.negated(there)),
    }


def _rivals(
    question: str,
    answer: str,
    similar: Floats,
    pointing: Floats,
    premise: Tokens,
    reading: Reading,
    known: Features,
) -> Features:
    """How the answer's surroundings compare with those of the passage's other spans of its kind."""
    asked = {text.stem(word) for word, _ in text.words(question)}
    own = set(text.content_stems(answer))

    def rival(span: Span) -> bool:
        stems = set(reading.content_within(span))
        return bool(stems) and not stems <= asked and stems.isdisjoint(own)

    found = [span for span in text.candidates(text.shape(answer), premise.text) if rival(span)]
    if not found:
        return {"rival": 0.0, "rival_rank": 0.0, "rival_points": 0.0, "rival_both": 0.0, "no_rival": 1.0}
    spans = [_token_span(span, premise) for span in found[:MOST_CANDIDATES]]
    near = _decayed(similar, spans, DECAYS[1], len(premise)).mean(axis=1)
    total = np.concatenate(([0.0], np.cumsum(pointing, dtype=np.float64)))
    points = np.array([(total[e] - total[s]) / (e - s) for s, e in spans])
    own_near, own_points = known["near_15_plain"], known["asks_answer"]
    return {
        "rival": float(own_near - near.max()),
        "rival_rank": float((near > own_near).mean()),
        "rival_points": float(own_points - points.max()),
        "rival_both": float(own_near + own_points - (near + points).max()),
        "no_rival": 0.0,
    }
