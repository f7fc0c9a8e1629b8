"""Write hashes.txt: the pinned packages of constraints.txt with the SHA-256 of each file that pip may take.

`python requirements/write_hashes.py INDEX`: the address of a simple index, which is not written down.
"""

from __future__ import annotations

import re
import sys
import tomllib
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
# Wheels of the Pythons and platforms that Jali is tested on, and sources.
_WHEEL = re.compile(
    r"-(py3|py2\.py3|cp311|cp312|cp313|cp3\d+-abi3|cp3\d+\.cp3\d+-abi3)[\w.]*-[\w.]+-(any|manylinux|macosx|win_amd64)"
)
_ABI3 = re.compile(r"-abi3-(any|manylinux|macosx|win_amd64)")
_LINK = re.compile(r'href="[^"]*/([^"/#]+)#sha256=([0-9a-f]{64})"')


def pinned() -> dict[str, str]:
    """Return the version of each package: of constraints.txt, and of what builds Jali itself."""
    lines = (HERE / "constraints.txt").read_text().split()
    built = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["build-system"]["requires"]
    return dict(line.split("==") for line in [*lines, *built] if "==" in line)


def normalized(name: str) -> str:
    """Return a name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def hashes(index: str, name: str, version: str) -> list[str]:
    """Return the hashes of the files of a version that may be installed."""
    with urllib.request.urlopen(f"{index.rstrip('/')}/{normalized(name)}/") as reply:
        found = dict(_LINK.findall(reply.read().decode()))
    stems = {f"{normalized(name)}-{version}"}
    kept = []
    for file, digest in found.items():
        wheel = file.endswith(".whl")
        stem = file.split("-")[0] + "-" + file.split("-")[1] if wheel else file.removesuffix(".tar.gz")
        own, _, number = stem.rpartition("-")
        if f"{normalized(own)}-{number}" not in stems:
            continue
        if not wheel or _WHEEL.search(file) or _ABI3.search(file):
            kept.append(digest)
    if not kept:
        raise SystemExit(f"no file of {name} {version}")
    return sorted(kept)


def main() -> None:
    """Write the file."""
    lines = ["# Written by write_hashes.py: what `make test HASHES=1` and CI install, file by file."]
    for name, version in sorted(pinned().items(), key=lambda pair: normalized(pair[0])):
        lines.append(f"{name}=={version}")
        lines += [f"    --hash=sha256:{digest}" for digest in hashes(sys.argv[1], name, version)]
    text = "\n".join(lines)
    (HERE / "hashes.txt").write_text(re.sub(r"\n(    --hash)", r" \\\n\1", text) + "\n")


if __name__ == "__main__":
    main()
