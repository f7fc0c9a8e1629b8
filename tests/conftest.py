"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests import depth
from tests.errors.provoked import looked_at, undocumented
from tests.reused import one_thread, reused_certificates, reused_verbs
from tests.servers.postgres import MISSING, Postgres, postgres_binaries, running_postgres

# Tests, plans and laws that stay make every search for garbage long: a tenth of the whole run.
gc.set_threshold(100_000, 50, 100)


_THINNED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the depth to the options."""
    parser.addoption(
        "--depth",
        type=int,
        default=depth.DEPTH,
        help="how thorough: 1 runs some cases of long tests, 10 all of them, with ten times the counts",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set the depth before test modules are imported."""
    depth.DEPTH = config.getoption("depth")
    # No test may fail because the machine is busy. There are ten thousands of them: deep runs draw more of each.
    examples = 10 if depth.DEPTH == 1 else 20 * depth.DEPTH
    settings.register_profile("patient", deadline=None, max_examples=examples)
    settings.load_profile("patient")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is thinned or deep to deep runs, unless tests are asked for by name."""
    named = bool(config.option.keyword) or any("::" in argument for argument in config.args)
    if depth.DEPTH > 1 or named:
        return
    kept = depth.shallow(items)
    left_out = [item for item in items if item not in kept]
    items[:] = [item for item in items if item in kept]
    config.hook.pytest_deselected(items=left_out)
    if left_out:
        _tell(config, depth.describe_thinning(len(left_out), len(items)))


def _tell(config: pytest.Config, text: str) -> None:
    """Keep a text for the start of the run; a worker hands it to the process that prints."""
    config.stash[_THINNED] = text
    path = getattr(config, "workerinput", {}).get("thinned")
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Print how many cases are left out."""
    return [config.stash[_THINNED]] if _THINNED in config.stash else []


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Name the file in which a worker leaves what is to be printed."""
    node.workerinput["thinned"] = str(_handed_over(node))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Print it once: all workers collect the same tests."""
    path = _handed_over(node)
    if path.exists() and _THINNED not in node.config.stash:
        node.config.stash[_THINNED] = path.read_text(encoding="utf-8")
        node.config.get_terminal_writer().line("\n" + node.config.stash[_THINNED])
    path.unlink(missing_ok=True)


def _handed_over(node: Any) -> Path:
    return Path(tempfile.gettempdir()) / f"jali-thinned-{os.getpid()}-{node.gateway.id}"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all tests on Spark to one worker, first: otherwise each worker starts a Spark of its own."""
    from tests.workers import Grouped

    return Grouped(config, log)


def pytest_collection_finish() -> None:
    """Never look for garbage among what was collected: it stays to the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let libraries take everything down that they count."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def errors_that_are_looked_at() -> Iterator[None]:
    """Look at every error that the package makes."""
    with looked_at():
        yield


@pytest.fixture(autouse=True)
def errors_in_the_catalogue(errors_that_are_looked_at: None) -> Iterator[None]:
    """Fail a test that provokes an error whose code or fields are not in the catalogue."""
    yield
    found, undocumented[:] = list(undocumented), []
    assert found == []


@pytest.fixture(scope="session", autouse=True)
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what ledgers in Postgres keep on this machine, such as their anchors, out of the home directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def little_is_made_anew() -> Iterator[None]:
    """Give DuckDB one thread, as each worker has a core; make other things once.

    Deep runs leave all as people have it.
    """
    if depth.DEPTH > 1:
        yield
        return
    with one_thread(), reused_verbs(), reused_certificates():
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real Postgres, one for each worker. Who stops it starts it again."""
    if postgres_binaries() is None:
        pytest.skip(MISSING)
    with running_postgres() as server:
        yield server
