"""`make size`: install the core alone in a fresh venv and print how much room it takes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

LIMIT_MB = 350


def main() -> int:
    """Print the size of an installed core; fail above the limit."""
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as directory:
        venv.create(directory, with_pip=True)
        packages = next((Path(directory) / "lib").glob("python3*/site-packages"))
        before = _megabytes(packages)
        pip = [str(Path(directory) / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", str(root / "requirements" / "constraints.txt"), str(root)], check=True)
        size = _megabytes(packages) - before
    print(f"The installed core takes {size:.0f} MB (limit {LIMIT_MB} MB).")
    return int(size > LIMIT_MB)


def _megabytes(directory: Path) -> float:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    sys.exit(main())
