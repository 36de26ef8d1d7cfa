"""Where a model runs and in which precision, settled before its weights are fetched."""

from __future__ import annotations

import logging
import os
import platform
from dataclasses import dataclass
from pathlib import Path

import torch

from core.errors import InvalidInput, Unavailable
from scorer.judges.options import Options

log = logging.getLogger(__name__)
_WIDTH = {"bf16": 2, "fp32": 4}
_ALIASES = {"bfloat16": "bf16", "float32": "fp32"}
_FP16 = ("fp16", "float16", "half", "f16")


@dataclass(frozen=True, slots=True)
class Placement:
    """A device, or `auto` for one model spread over several cards, and a precision."""

    device: str
    dtype: str

    @property
    def torch_dtype(self) -> torch.dtype:
        return torch.bfloat16 if self.dtype == "bf16" else torch.float32

    @property
    def on_gpu(self) -> bool:
        return self.device != "cpu"


def place(options: Options, name: str, parameters: int, numbers_at_work: int) -> Placement:
    """The place for a model of so many parameters with so many numbers in one batch's largest tensors.

    Raises `InvalidInput` for fp16 or an unknown device and `Unavailable` where the memory is too small; the judge
    never moves to another device, precision or model by itself.
    """
    device = "cpu" if options.device == "auto" and not torch.cuda.is_available() else options.device
    dtype = _dtype(options.dtype, device)
    needed = (parameters + numbers_at_work) * _WIDTH[dtype]
    if device == "cpu":
        _require(needed, available_memory(), name, dtype, "of main memory")
        return Placement("cpu", dtype)
    return Placement(_card(device, needed, name, dtype), dtype)


def _dtype(asked: str, device: str) -> str:
    dtype = _ALIASES.get(asked, asked)
    if dtype in _FP16:
        raise InvalidInput("fp16 is refused: T5 overflows in it, and its NaN would pass for a verdict", "Use bf16.")
    if dtype == "auto":
        native = device != "cpu" and torch.cuda.is_available() and torch.cuda.is_bf16_supported(False)
        return "bf16" if native else "fp32"
    if dtype not in _WIDTH:
        raise InvalidInput(f"there is no precision {asked!r}", "Use bf16 or fp32.")
    if dtype == "bf16" and device == "cpu" and not cpu_has_bf16():
        log.warning("This processor has no bf16 instructions: bf16 is emulated, slower than fp32.")
    return dtype


def cpu_has_bf16() -> bool:
    """Whether the processor multiplies bf16 itself: AMX or AVX512-BF16 on x86, the bf16 extension on ARM."""
    if platform.machine() in ("aarch64", "arm64"):
        cpuinfo = Path("/proc/cpuinfo")
        return cpuinfo.is_file() and " bf16" in cpuinfo.read_text(errors="replace")
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def _card(device: str, needed: int, name: str, dtype: str) -> str:
    if not torch.cuda.is_available():
        raise InvalidInput(f"there is no device {device!r}: torch sees no GPU", "Use device=cpu.")
    free = [torch.cuda.mem_get_info(card)[0] for card in range(torch.cuda.device_count())]
    if device not in ("auto", "cuda"):
        number = device.removeprefix("cuda:")
        if not number.isdecimal() or int(number) >= len(free):
            raise InvalidInput(f"there is no device {device!r}", f"Devices: cpu, cuda:0 … cuda:{len(free) - 1}.")
        _require(needed, free[int(number)], name, dtype, f"on {device}")
        return device
    best = max(range(len(free)), key=lambda card: free[card])
    if free[best] >= needed:
        return f"cuda:{best}"
    _require(needed, sum(free) * 9 // 10, name, dtype, f"on {len(free)} GPU(s), a tenth kept back")
    return "auto"


def _require(needed: int, available: int, name: str, dtype: str, where: str) -> None:
    if needed > available:
        raise Unavailable(
            f"{name} in {dtype} needs {needed / 1e9:.1f} GB; {available / 1e9:.1f} GB are free {where}",
            "Use a larger machine, bf16 instead of fp32, more GPUs, or a smaller judge such as `small`; "
            "scores of different judges are never mixed.",
        )


def available_memory() -> int:
    """Bytes of main memory this process may still take: what is free, or what its control group leaves."""
    return min([_free_memory(), *_group_memory()])


def _free_memory() -> int:
    """Free and reclaimable bytes by the kernel's estimate; all of the memory where it gives none."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _group_memory() -> list[int]:
    """What a container's memory limit leaves (control groups v2), page cache counted as free."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used = int((group / "memory.current").read_text()) - int(stat.get("file", 0))
    except (OSError, ValueError):
        return []
    return [] if limit == "max" else [int(limit) - used]
