"""How much memory there is: what the machine, and the container that a process runs in, still have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CGROUPS = Path("/sys/fs/cgroup")
# Names of the limit, of what is used, and of the part of it that the system gives back when asked: version 2
# of control groups, and version 1.
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def available_memory() -> int | None:
    """Bytes that can be allocated before the system has to end a process, or None where nobody can tell.

    On Linux this is the least of what the machine and every control group of the process have left; on macOS
    all of the machine's memory; on Windows None, since an allocation that is too large fails there by itself.
    """
    if MEMINFO.exists():
        return min((*_machine(), *_control_groups()), default=None)
    with suppress(ValueError, OSError, AttributeError):
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    return None


def _machine() -> Iterator[int]:
    with suppress(OSError, ValueError):
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield 1024 * int(line.split()[1])


def _control_groups(processes: Path = Path("/proc/self/cgroup"), root: Path = CGROUPS) -> Iterator[int]:
    """What is left in the groups of this process, from the innermost one outward."""
    with suppress(OSError):
        for line in processes.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                yield from _left_inside(root, path, *_VERSION_2)
            elif "memory" in controllers.split(","):
                yield from _left_inside(root / "memory", path, *_VERSION_1)


def _left_inside(root: Path, path: str, limit: str, usage: str, inactive: str) -> Iterator[int]:
    inner = root / path.strip("/")
    for group in (inner, *inner.parents):
        if root != group and root not in group.parents:
            return
        with suppress(OSError, ValueError):  # "max": there is no limit
            most, used = int((group / limit).read_text()), int((group / usage).read_text())
            yield max(most - used + _reclaimable(group, inactive), 0)


def _reclaimable(group: Path, name: str) -> int:
    with suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text().splitlines():
            if line.split()[0] == name:
                return int(line.split()[1])
    return 0
