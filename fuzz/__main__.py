"""Random cases for as long as is asked, in child processes: ``python -m fuzz --seconds 600``.

A finding is a wrong result, an error that is not one clear sentence, a warning about overflow, a crash, or a
case that does not end. Each is named by its number, from which everything is drawn again: ``python -m fuzz
--repeat 123`` runs one, ``--shrink 123`` makes it smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz.counts import STORE, keep, runs

CHUNK, PATIENCE = 20_000, 120.0  # cases per child; seconds of a core of its own after which a case hangs


class Driver:
    """Starts children, notices when one dies or hangs, and adds up what they say."""

    def __init__(self, only: str | None, store: str) -> None:
        self.only, self.store, self.counts = only, store, Counter[str]()
        self.findings: dict[str, dict[str, Any]] = {}
        self.digests: dict[int, str] = {}

    def chunk(self, first: int, count: int, end: float) -> int:
        """Run cases in a child until it is done, dies, or time is up; return the next number."""
        with tempfile.TemporaryDirectory() as folder:
            mark, said = Path(folder) / "mark", Path(folder) / "said"
            mark.write_text(f"{first:<20}{self.only or '?':<20}")
            words = [sys.executable, "-m", "fuzz.worker", str(first), str(count), str(mark)]
            environment = {**os.environ, "PYTHONHASHSEED": "0", STORE: self.store}
            with said.open("wb") as stream, (Path(folder) / "errors").open("wb") as errors:
                child = subprocess.Popen(
                    words + ([self.only] if self.only else []), stdout=stream, stderr=errors, env=environment
                )
                ended, number, family = self._watch(child, mark, end)
            for line in said.read_text().splitlines():
                self._take(json.loads(line))
            if ended == "time":
                return number
            if child.returncode == 1 and number == first:
                raise SystemExit((Path(folder) / "errors").read_text())
            if ended or child.returncode:
                tail = (Path(folder) / "errors").read_text(errors="replace").strip().splitlines()[-1:]
                kind = ended or "crash"
                finding = {"kind": kind, "text": f"exit {child.returncode} {' '.join(tail)}", "where": ""}
                said = {"finding": {**finding, "case": ""}, "number": number, "family": family, "check": "?"}
                self._take(said)
                self.counts[f"{family} ? {kind}"] += 1
                return number + 1
        return first + count

    def _watch(self, child: subprocess.Popen[bytes], mark: Path, end: float) -> tuple[str, int, str]:
        """Why a child was ended (empty where it ended by itself), its last case, and the family of that."""
        number, since = -1, time.monotonic()
        while child.poll() is None:
            time.sleep(0.2)
            now = int(mark.read_text()[:20])
            if now != number:
                number, since = now, time.monotonic()
            hangs = time.monotonic() - since > PATIENCE * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
            if hangs or time.monotonic() > end:
                child.kill()
                child.wait()
                return ("hang" if hangs else "time"), number, mark.read_text()[20:].strip()
        said = mark.read_text()
        return "", int(said[:20]), said[20:].strip()

    def _take(self, line: dict[str, Any]) -> None:
        if "counts" in line:
            self.counts.update(line["counts"])
        elif "digest" in line:
            self.digests[line["number"]] = line["digest"]
        else:
            finding = line["finding"]
            head = finding["text"].split(":")[0] if finding["kind"] == "unclear" else ""
            key = " ".join([finding["kind"], line["family"], finding["where"], head])
            said = {**finding, "family": line["family"], "number": line["number"], "times": 0}
            known = self.findings.setdefault(key, said)
            known["times"] += 1

    def compare_processes(self) -> None:
        """Run the cases with digests again, in a process that hashes strings otherwise."""
        here = dict(self.digests)
        numbers = sorted(here)[:2000]
        if not numbers:
            return
        code = (
            "import json,sys\nfrom fuzz.cases import outcome_of\nfrom fuzz.families import case_of, run\n"
            "for n in json.load(sys.stdin):\n    found = []\n    case = case_of(n, 'processes')\n"
            "    said = outcome_of(lambda: found.append(run(case)))\n"
            "    print(json.dumps([n, found[0] if found else said.text[:80]]))\n"
        )
        environment = {**os.environ, "PYTHONHASHSEED": "17"}
        run = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(numbers),
            env=environment,
            capture_output=True,
            text=True,
        )
        for line in run.stdout.splitlines():
            number, digest = json.loads(line)
            self.counts["processes two interpreters right"] += digest == here[number]
            if digest != here[number]:
                finding = {
                    "kind": "wrong",
                    "text": "another result in another process",
                    "where": "",
                    "case": "",
                }
                self._take({"finding": finding, "number": number, "family": "processes", "check": "digest"})


def next_number() -> int:
    """Where earlier runs ended, so that no case is run twice."""
    return max((run["last"] for run in runs("fuzz")), default=0)


def fuzz(seconds: float, first: int, only: str | None) -> dict[str, Any]:
    """Run cases until the time is up, and return what was counted."""
    begin, number = time.monotonic(), first
    with tempfile.TemporaryDirectory() as store:
        driver = Driver(only, store)
        while time.monotonic() - begin < seconds:
            number = driver.chunk(number, CHUNK, begin + seconds)
            total, n_findings = sum(driver.counts.values()), len(driver.findings)
            spent = time.monotonic() - begin
            print(f"{total} cases, {n_findings} kinds of findings, {spent:.0f} s", flush=True)
    driver.compare_processes()
    return {
        "first": first,
        "last": number,
        "seconds": round(time.monotonic() - begin),
        "counts": dict(sorted(driver.counts.items())),
        "findings": sorted(driver.findings.values(), key=lambda finding: -finding["times"]),
        "boundscheck": os.environ.get("NUMBA_BOUNDSCHECK", "0"),
    }


def repeat(number: int, only: str | None, shrink: bool, name: str | None) -> None:
    """Run one case here, and print it; or make it smaller first, or keep the file that it reads."""
    from fuzz.cases import outcome_of
    from fuzz.corpus import keep_last
    from fuzz.families import case_of, run
    from fuzz.shrink import shrunk, verdict

    case = case_of(number, only)
    if name is not None:
        outcome_of(lambda: run(case))
        print(keep_last(name))
        return
    if shrink:
        case = shrunk(case)
    print(case, *verdict(case), sep="\n")
    if not shrink:
        run(case)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.split(":")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument(
        "--first", type=int, help="number of the first case; by default where the last run ended"
    )
    parser.add_argument(
        "--only", help="one family, such as offsets, forged or adapters: those of fuzz/families.py"
    )
    parser.add_argument("--repeat", type=int, metavar="NUMBER")
    parser.add_argument("--shrink", type=int, metavar="NUMBER")
    parser.add_argument(
        "--keep", metavar="NAME", help="with --repeat: put the file of the case into the corpus"
    )
    options = parser.parse_args()
    if options.repeat is not None or options.shrink is not None:
        number = options.shrink if options.repeat is None else options.repeat
        return repeat(number, options.only, options.repeat is None, options.keep)
    counts = fuzz(options.seconds, next_number() if options.first is None else options.first, options.only)
    print(keep("fuzz", counts))
    for finding in counts["findings"]:
        print("{kind} x{times} [{number}] {where}: {text}".format(**finding))
    sys.exit(int(bool(counts["findings"])))


if __name__ == "__main__":
    main()
