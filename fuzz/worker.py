"""The process that runs cases, within limits of memory: if it dies, the driver knows of which case.

    python -m fuzz.worker FIRST COUNT MARK [FAMILY]

Writes one line of JSON for each finding and each digest, and counts now and then; the number of the case at
hand and its family stand in the file MARK.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections import Counter
from typing import Any

MEMORY = 8 * 2**30


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def main() -> None:
    """Run cases, one after the other."""
    first, count, mark, only = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], (sys.argv[4:] or [None])[0]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from fuzz.cases import outcome_of
    from fuzz.families import case_of, run

    warnings.simplefilter("ignore")  # of what is left out of odd inputs; those of numpy are findings
    handle = os.open(mark, os.O_WRONLY)
    counts: Counter[str] = Counter()
    said_at = time.monotonic()
    for number in range(first, first + count):
        case = case_of(number, only)
        os.pwrite(handle, f"{number:<20}{case.family:<20}".encode(), 0)
        found: list[Any] = []
        outcome = outcome_of(lambda case=case, found=found: found.append(run(case)))
        counts[f"{case.family} {case.check} {outcome.kind}"] += 1
        if outcome.is_finding:
            said = {
                "kind": outcome.kind,
                "text": outcome.text,
                "where": outcome.where,
                "case": str(case)[:2000],
            }
            say({"finding": said, "number": number, "family": case.family, "check": case.check})
        elif case.family == "processes":
            say({"digest": found[0] if found else outcome.text[:80], "number": number})
        if sum(counts.values()) >= 50 or time.monotonic() - said_at > 2.0:
            say({"counts": counts})
            counts.clear()
            said_at = time.monotonic()
    say({"counts": counts})


if __name__ == "__main__":
    main()
