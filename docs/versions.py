"""Put a built site into the branch of all versions: main is ``latest``, the tag v0.2.1 is ``0.2``.

    python docs/versions.py --ref refs/tags/v0.2.1 --html docs/_build/html --site site

The folder ``--site`` is a clone of the branch ``gh-pages`` of the repository that the environment variable
``SITE_REPOSITORY`` names; without that variable the folder is written, and nothing is cloned or pushed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

BRANCH = "gh-pages"
REDIRECT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>propkernels</title>
<meta http-equiv="refresh" content="0; url={0}/"><link rel="canonical" href="{0}/"></head>
<body><p><a href="{0}/">propkernels, version {0}</a></p></body></html>
"""


def folder_of(ref: str) -> str:
    """Return the folder of a Git reference: ``latest`` for main, ``0.2`` for the tag v0.2.1."""
    if ref == "refs/heads/main":
        return "latest"
    found = re.fullmatch(r"refs/tags/v(\d+\.\d+)\.\d+", ref)
    if found is None:
        raise SystemExit(
            f"{ref} is neither main nor a tag such as v0.2.1: no version of the site belongs to it"
        )
    return found[1]


def place(html: Path, site: Path, folder: str) -> list[str]:
    """Replace one version of the site; return all versions, the newest first and ``latest`` last."""
    shutil.rmtree(site / folder, ignore_errors=True)
    shutil.copytree(html, site / folder)
    names = [path.name for path in site.iterdir() if re.fullmatch(r"\d+\.\d+", path.name)]
    versions = sorted(names, key=lambda name: tuple(map(int, name.split("."))), reverse=True)
    versions += ["latest"] if (site / "latest").is_dir() else []
    entries = [
        {"version": name, "url": f"../{name}/", "preferred": i == 0} for i, name in enumerate(versions)
    ]
    (site / "versions.json").write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
    (site / "index.html").write_text(REDIRECT.format(versions[0]), encoding="utf-8")
    (site / ".nojekyll").touch()
    return versions


def git(*words: str, cwd: Path | None = None) -> int:
    """Run a command of Git and return its exit code."""
    return subprocess.run(["git", *words], cwd=cwd, check=False).returncode


def main() -> None:
    """Place one version, and push the branch where a repository is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ref", required=True)
    parser.add_argument("--html", type=Path, required=True)
    parser.add_argument("--site", type=Path, required=True)
    options = parser.parse_args()
    folder, remote = folder_of(options.ref), os.environ.get("SITE_REPOSITORY")
    if remote and git("clone", "--quiet", "--depth", "1", "--branch", BRANCH, remote, str(options.site)):
        git("init", "--quiet", "--initial-branch", BRANCH, str(options.site))
        git("remote", "add", "origin", remote, cwd=options.site)
    options.site.mkdir(exist_ok=True)
    print(*place(options.html, options.site, folder))
    if remote:
        git("add", "--all", cwd=options.site)
        name = ["-c", "user.name=propkernels", "-c", "user.email=propkernels@users.noreply.github.com"]
        git(*name, "commit", "--quiet", "--message", f"Site of {folder}", cwd=options.site)
        if git("push", "--quiet", "origin", f"HEAD:{BRANCH}", cwd=options.site):
            raise SystemExit("the site could not be pushed")


if __name__ == "__main__":
    main()
