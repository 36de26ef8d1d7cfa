"""Models of the Hub that teams have run here: checked first, then run like a reference system, on the `gpu` queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.checkpoints import FILES
from core.errors import InvalidInput, NotFound, OverQuota
from core.settings import Settings
from core.tables import RunRow
from core.tables.base import utc_now
from server import runs
from server.bootstrap import Services
from server.references import briefly
from server.runs import RunPlan
from submissions import quotas
from submissions.intake import SystemCard
from submissions.sources import model
from submissions.sources.hub import Hub
from submissions.sources.model import Checked, Rules
from systems import catalog
from systems.config import SystemConfig

SYSTEMS = {
    "retrieve-then-read": "Small-RTR",
    "post-hoc-retrieval": "Small-Post",
    "llm-as-retriever": "Small-URL",
}
"""Architecture → the configuration whose model the team's takes the place of."""
MOST = {"k": 100, "P": 20, "A": 100, "shots": 64, "max_new_tokens": 256, "k1": 10.0, "b": 1.0, "temperature": 2.0}
"""Setting → the largest value."""
_LONGEST_DESCRIPTION = 4_000
"""Of the team's own words, so that the model can be named below them in an entry's 5,000."""


@dataclass(frozen=True, slots=True)
class Offered:
    """What a model can be run as, and how each setting stands if nothing is said of it."""

    architecture: str
    title: str
    settings: dict[str, str]


def rules(settings: Settings) -> Rules:
    """What a model may be here."""
    licences = tuple(each.strip().lower() for each in settings.model_licences.split(",") if each.strip())
    return Rules(FILES, int(settings.model_gb * 1e9), licences)


def check(settings: Settings, reference: str, hub: Hub | None = None) -> Checked:
    """What would be refused of a model. The Hub is asked without any token of ours: it must be open to all.

    Raises as `submissions.sources.model.check`.
    """
    found = model.check(hub or Hub(settings.hub_endpoint, pause=briefly), reference, rules(settings))
    unknown = _unknown(found.model_type)
    return replace(found, refusals=(*found.refusals, *unknown)) if found.model_type else found


def submit(
    services: Services,
    team_id: int,
    reference: str,
    benchmark_id: str,
    card: SystemCard,
    decoding: Mapping[str, float | int],
    *,
    seed: int = 0,
    publish: bool = False,
    hub: Hub | None = None,
) -> str:
    """Queue a run of the team's model over a benchmark; returns the run's id.

    Raises `OverQuota`, `InvalidInput` for settings that the architecture does not have, `Refused` with all reasons
    for the model, and as `runs.start`.
    """
    card.check()
    if len(card.description) > _LONGEST_DESCRIPTION:
        raise InvalidInput(
            "The description of the system is too long.",
            f"At most {_LONGEST_DESCRIPTION:,} characters; the model and its commit are named below them.",
        )
    plan = _plan(services.settings, card, decoding)
    services.benchmarks.get(benchmark_id)
    with services.database.reading() as session:
        _check_quota(session, services.settings, team_id)
    found = check(services.settings, reference, hub)
    found.demand()
    described = f"{card.description}\n\nModel: {found.pinned}".strip()
    entry = asdict(replace(card, description=described, links=tuple(card.links)))
    plan = replace(plan, changes=plan.changes | {"model": found.pinned}, entry=entry, seed=seed, publish=publish)
    return runs.start(services, SYSTEMS[card.architecture], benchmark_id, plan, team_id=team_id, queue="gpu")


def own(session: Session, team_id: int, run_id: str) -> RunRow:
    """A run of the team's own. Raises `NotFound`, for another team's as well."""
    row = session.get(RunRow, run_id)
    if row is None or row.team_id != team_id:
        raise NotFound(f"Your team has no run {run_id[:40]!r}.", "List them to see their ids.")
    return row


def listed(session: Session, team_id: int) -> list[RunRow]:
    """The team's runs, newest first."""
    query = select(RunRow).where(RunRow.team_id == team_id)
    return list(session.scalars(query.order_by(RunRow.created_at.desc(), RunRow.id)))


def _plan(settings: Settings, card: SystemCard, decoding: Mapping[str, float | int]) -> RunPlan:
    if card.architecture not in SYSTEMS:
        raise InvalidInput(
            f"Models are run as {', '.join(SYSTEMS)}, not as {card.architecture!r}.", "Choose one of these."
        )
    config = catalog.find(SYSTEMS[card.architecture])
    known = {*catalog.reads(config), "temperature"} & set(MOST)
    for name, value in decoding.items():
        if name not in known or not 0 <= value <= MOST[name]:
            most = f" from 0 to {MOST[name]}" if name in known else ""
            raise InvalidInput(
                f"{name}={value} is no setting of {card.architecture}{most}.", f"Settings: {', '.join(sorted(known))}."
            )
    changes = {name: str(value) for name, value in decoding.items() if name != "temperature"}
    temperature = float(decoding.get("temperature", 0.0))
    plan = RunPlan(changes, seconds=settings.model_hours * 3_600, temperature=temperature)
    plan.config(config.name)
    return plan


def used_today(session: Session, team_id: int) -> int:
    """The team's runs of the last 24 hours that did not fail."""
    recent = (RunRow.team_id == team_id, RunRow.created_at > utc_now() - timedelta(days=1), RunRow.state != "failed")
    return session.scalar(select(func.count()).select_from(RunRow).where(*recent)) or 0


def offered() -> list[Offered]:
    """What a model can be run as, in the architectures' order."""
    found = []
    for architecture, name in SYSTEMS.items():
        config = catalog.find(name)
        usual = {
            setting: _usual(config, setting) for setting in MOST if setting in {*catalog.reads(config), "temperature"}
        }
        found.append(Offered(architecture, config.title, usual))
    return found


def _usual(config: SystemConfig, setting: str) -> str:
    value = getattr(config, setting, None)
    if setting == "temperature":
        return "0"
    return "its own" if value is None or (setting == "max_new_tokens" and not value) else str(value)


def _check_quota(session: Session, settings: Settings, team_id: int) -> None:
    quotas.check(session, team_id, settings.submissions_per_day)
    used = used_today(session, team_id)
    if used >= settings.models_per_day:
        raise OverQuota(
            f"The team has had {used} of {settings.models_per_day} models run in the last 24 hours.",
            "Wait until the oldest run is a day old; checking a model is free.",
        )


def _unknown(model_type: str) -> list[str]:
    """A refusal where transformers is installed here and does not know the type; workers have it always."""
    try:
        from transformers import CONFIG_MAPPING
    except ImportError:
        return []
    return [] if model_type in CONFIG_MAPPING else [f"Its type {model_type!r} is not one that transformers has."]
