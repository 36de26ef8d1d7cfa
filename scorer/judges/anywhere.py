"""Whether a judge's spec means the same judge in every process, whatever folder that was started in."""

from __future__ import annotations

from pathlib import Path

from core.checkpoints import is_folder
from core.errors import InvalidInput


def check_anywhere(spec: str) -> None:
    """Raise `InvalidInput` for a file or folder named from here, which another worker would look for elsewhere.

    The judge beneath a calibrated one is looked at too, where its file of maps can be read.
    """
    name, mark, query = spec.partition("?")
    key, _, source = name.partition(":")
    path = Path(source).expanduser()
    if source and not Path(source).is_absolute() and _is_local(key, source):
        raise InvalidInput(
            f"The judge {spec!r} is named by a path from this process' folder, where other workers would not find it.",
            f"Name it by a path that is the same for all workers, such as {key}:{path.resolve()}{mark}{query}, "
            "or, for a model, by its Hub id and revision.",
        )
    if key == "calibrated" and path.is_file():
        from scorer.judges.calibrated.judge import read

        check_anywhere(read(path).base)


def _is_local(key: str, source: str) -> bool:
    """As the judges read it: a file of maps is always one, and only the small judge takes a folder without a sign."""
    return key == "calibrated" or is_folder(source) or (key == "small" and Path(source).is_dir())
