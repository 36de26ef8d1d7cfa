"""How large a file and its parts may be."""

from __future__ import annotations

from dataclasses import dataclass

from core.settings import Settings

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, `rows` a count, `ratio` unpacked size over packed size."""

    file_bytes: int = 64 * MIB
    unpacked_bytes: int = 512 * MIB
    ratio: int = 200
    rows: int = 200_000
    field_bytes: int = MIB

    @classmethod
    def from_settings(cls, settings: Settings) -> Limits:
        """The limits that the service's settings name."""
        return cls(
            file_bytes=settings.max_file_bytes,
            unpacked_bytes=settings.max_unpacked_mb * MIB,
            ratio=settings.max_compression_ratio,
            rows=settings.max_rows,
            field_bytes=settings.max_field_kb * 1024,
        )


def readable_size(size: int) -> str:
    """A size in bytes for people, e.g. `1.5 MiB`."""
    if size < 1024:
        return f"{size} bytes"
    return f"{size / 1024:,.4g} KiB" if size < MIB else f"{size / MIB:,.4g} MiB"
