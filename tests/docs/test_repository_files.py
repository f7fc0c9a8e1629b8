"""The files that GitHub and pre-commit read: they parse, and run targets of the Makefile."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = ["3.11", "3.12", "3.13"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(workflow: Any) -> Iterator[str]:
    for job in workflow["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_targets_that_the_makefile_has(path: Path) -> None:
    called = [word for command in commands(read(path)) for word in re.findall(r"^make (\S+)", command)]
    assert called != []
    assert set(called) <= TARGETS
    for command in commands(read(path)):
        script = command.split()[0]
        assert script in {"make", "python", "pip-audit"} or (ROOT / script).is_file(), command


def test_tests_run_on_every_python_with_and_without_extras() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    for name in ("test", "core"):
        assert jobs[name]["strategy"]["matrix"]["python"] == PYTHONS
    versions = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert versions == PYTHONS
    assert "exec make test" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_the_repository_and_nothing_else(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_hooks_before_a_commit_run_what_make_lint_runs() -> None:
    hooks = [hook for repo in read(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert {repo["repo"] for repo in read(ROOT / ".pre-commit-config.yaml")["repos"]} == {"local"}
    lint = re.search(r"^lint:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert lint is not None
    for hook in hooks:
        program = hook["entry"].split()[0].rpartition("/")[2]
        assert program == "make" or f"$(BIN)/{program}" in lint.group()
    assert "make lint" in [hook["entry"] for hook in hooks]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_of_issues_parses(path: Path) -> None:
    form = read(path)
    if path.stem == "config":
        assert form["blank_issues_enabled"] is True
        return
    assert {"name", "description", "body"} <= set(form)
    asked = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in asked}) == len(asked)
    assert all(field["attributes"]["label"] for field in asked)


def test_a_citation_says_the_version_and_license_of_the_project() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert str(citation["version"]) == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] != []


@pytest.mark.parametrize(
    "name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "CHANGELOG.md"]
)
def test_what_people_look_for_is_there(name: str) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8")) > 500
