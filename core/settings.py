"""Every setting of the service: one table of name, default and help, read from the environment once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from core.errors import InvalidInput

PREFIX = "AQA_"
_KINDS = {bool: "true or false", int: "a whole number", float: "a number"}


def _setting(default: Any, help: str, least: float = 0, most: float = float("inf")) -> Any:
    return field(default=default, metadata={"help": help, "least": least, "most": most})


@dataclass(frozen=True)
class Settings:
    """One frozen value handed to whoever needs it; the variable is `AQA_` + the field's name in capitals."""

    data_dir: str = _setting("data", "Folder for the SQLite file, corpora, indexes and local blobs.")
    database_url: str = _setting("", "SQLAlchemy URL; empty means SQLite in the data folder.")
    pool_size: int = _setting(10, "Connections to the database that a process keeps open.", least=1)
    pool_overflow: int = _setting(20, "Connections that a process may open beyond those for a while.")
    pool_timeout: float = _setting(
        10.0, "Seconds that a request waits for a connection while all are in use.", least=0.01
    )
    blobs: str = _setting("", "Where files are kept: empty for the data folder, or s3://BUCKET/PREFIX.")
    s3_endpoint: str = _setting("", "Address of an S3 server other than Amazon's; credentials as boto3 finds them.")
    s3_link_mb: int = _setting(
        16, "Files on S3 of this size or more are downloaded straight from there, in MiB; 0 sends all by the service."
    )
    s3_public_endpoint: str = _setting(
        "", "Address at which users reach an S3 server other than Amazon's; empty means that they cannot."
    )
    host: str = _setting("127.0.0.1", "Address the web server listens on.")
    port: int = _setting(7860, "Port the web server listens on.", least=1)
    public_url: str = _setting("", "Address users reach the service at; empty means http://HOST:PORT.")
    secret_key: str = _setting("", "Key that signs session cookies; empty means one made and kept in the data folder.")
    secure_cookies: bool = _setting(False, "Send session cookies over HTTPS only; switch on behind TLS.")
    judge: str = _setting(
        "small", "Judge of benchmarks for which no rescore promoted another: a key or spec of docs/judges."
    )
    sentence_form: str = _setting("plain", "How sentences of edited passages are judged: plain, or with context.")
    judge_queue: str = _setting("cpu", "Queue whose workers judge: cpu, or gpu to leave judging to workers there.")
    fanout_pairs: int = _setting(
        512, "An evaluation that lacks more judgments is split into chunks of this size; 0 for no limit."
    )
    broker_url: str = _setting("", "Celery broker that announces jobs, like redis://HOST:6379/0; empty for polling.")
    sweep_seconds: float = _setting(15.0, "With a broker: jobs that nobody took for this long are announced again.")
    grace_seconds: float = _setting(30.0, "A worker told to stop gives its job back when it takes longer than this.")
    metrics_token: str = _setting("", "Bearer token that /metrics asks for; empty means there is no /metrics.")
    log_json: bool = _setting(False, "Write log records as one JSON object a line.")
    embedded_worker: bool = _setting(True, "Run a worker thread inside `aqa serve`.")
    max_file_mb: int = _setting(64, "Largest accepted file, in MiB.", least=1)
    max_unpacked_mb: int = _setting(512, "Largest decompressed size of a file, in MiB.", least=1)
    max_compression_ratio: int = _setting(200, "A compressed file that grows by more than this is refused.", least=1)
    max_rows: int = _setting(200_000, "Most rows a file may hold.", least=1)
    max_field_kb: int = _setting(1024, "Longest value of one field, in KiB.", least=1)
    submissions_per_day: int = _setting(20, "Submissions a team may make in 24 hours; 0 means no limit.")
    upload_chunk_mb: int = _setting(8, "Largest piece of a file that is sent in pieces, in MiB.", least=1)
    upload_hours: int = _setting(24, "Hours until a file that was sent in pieces and not submitted is dropped.")
    hub_inline_mb: int = _setting(
        64, "Files up to this size travel inside a commit to /hub, larger ones by LFS, in MiB."
    )
    hub_files: int = _setting(1_000, "Most files a repository under /hub may hold at once.")
    hub_repo_mb: int = _setting(2_048, "Most bytes a repository under /hub may hold over its history, in MiB.")
    open_registration: bool = _setting(False, "Let anybody make a team; otherwise a maintainer makes them.")
    hub_endpoint: str = _setting("", "Hub to fetch from and publish to; empty means HF_ENDPOINT or huggingface.co.")
    hub_token: str = _setting("", "Token for that Hub: to read the inbox, answer there, and publish.")
    inbox_repo: str = _setting("", "Dataset repository on the Hub whose files become submissions; empty means none.")
    inbox_seconds: int = _setting(300, "Pause between two looks into the inbox.")
    publish_repo: str = _setting("", "Dataset repository on the Hub that boards are published to; empty means none.")
    publish_seconds: int = _setting(3_600, "Pause between two publications of the boards.")
    snapshot_seconds: int = _setting(
        86_400, "Pause between two looks at whether a board has changed and is to be kept; 0 means never."
    )
    token_days: int = _setting(365, "Days until a new token expires; 0 means never.")
    webhooks_per_team: int = _setting(5, "Most webhooks of a team; 0 switches webhooks off.")
    webhook_private: bool = _setting(False, "Let webhooks go to plain HTTP and to addresses of private networks.")
    rate_limit: str = _setting(
        "600 per minute", "Requests a token or a visitor's address may send; empty for no limit."
    )
    rate_limit_files: str = _setting("60 per minute", "The same for requests that send a file or start work.")
    rate_limit_sign_in: str = _setting("20 per minute", "The same for signing in.")
    rate_limit_register: str = _setting("10 per hour", "The same for making a team.")
    rate_limit_board: str = _setting("1200 per minute", "The same for the board, by address; its files are free.")
    rate_limit_storage: str = _setting(
        "memory://", "Where requests are counted; redis://HOST:PORT for several servers."
    )
    models_per_day: int = _setting(5, "Models a team may have run in 24 hours; 0 switches model references off.")
    model_hours: float = _setting(6.0, "Longest time that a team's model may answer questions, in hours.")
    model_gb: float = _setting(30.0, "Largest weights of a model that is run for a team, in GB.")
    model_licences: str = _setting(
        "apache-2.0,mit,bsd-2-clause,bsd-3-clause,cc0-1.0,cc-by-4.0,cc-by-sa-4.0,openrail,bigscience-openrail-m",
        "Licences, as the Hub spells them, under which a model may be run for a team; empty for any that is named.",
    )
    bootstrap_resamples: int = _setting(9_999, "Resamples behind every interval, at most 100,000.", 100, 100_000)
    bootstrap_seed: int = _setting(20221215, "Seed of the shared resample matrix.")
    lease_seconds: int = _setting(60, "A job whose worker is silent for this long goes back to the queue.", least=1)
    job_attempts: int = _setting(3, "Times a job is tried before it ends as failed.", least=1)
    poll_seconds: float = _setting(
        0.5, "Longest time an idle worker waits before it looks for a job again.", least=0.01
    )
    judge_chunk: int = _setting(256, "Pairs judged between two writes to the judgment cache.", least=1)

    @property
    def data_path(self) -> Path:
        """The data folder as an absolute path."""
        return Path(self.data_dir).expanduser().absolute()

    @property
    def max_file_bytes(self) -> int:
        """The largest accepted file."""
        return self.max_file_mb * 2**20

    @property
    def resolved_database_url(self) -> str:
        """The database's URL with the default filled in."""
        return self.database_url or f"sqlite:///{self.data_path / 'aqa.sqlite'}"

    @property
    def resolved_public_url(self) -> str:
        """Where links point to."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read all settings. Raises `InvalidInput` naming the variable for a value of the wrong kind."""
        source = os.environ if environment is None else environment
        given = {f.name: source[PREFIX + f.name.upper()] for f in fields(cls) if PREFIX + f.name.upper() in source}
        return cls(**{f.name: _parse(f, given[f.name]) for f in fields(cls) if f.name in given})


def _parse(setting: Field[Any], text: str) -> Any:
    kind: type[Any] = type(setting.default)
    try:
        if kind is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        value = kind(text)
    except (KeyError, ValueError):
        raise _wrong(setting, text, f"is not {_KINDS[kind]}") from None
    least, most = setting.metadata["least"], setting.metadata["most"]
    if kind is not str and not (least <= value <= most and value < float("inf")):
        within = f"{least:,} or more" if most == float("inf") else f"between {least:,} and {most:,}"
        raise _wrong(setting, text, f"is not {within}")
    return value


def _wrong(setting: Field[Any], text: str, what: str) -> InvalidInput:
    variable = PREFIX + setting.name.upper()
    return InvalidInput(f"{variable}={text!r} {what}.", f"Set {variable} to a value like {setting.default}.")
