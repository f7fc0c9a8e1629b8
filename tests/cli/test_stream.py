"""`jali stream`: create, append, publish, show and watch."""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cli.conftest import copied

from jali.cli import main
from jali.cli.verbs.stream import VERBS
from jali.cli.verbs.stream_show import StreamScreen, follow_stream
from jali.cli.verbs.stream_ticks import AppendProgress

Runner = Callable[..., Any]
NAMES = sorted(verb.__name__ for verb in VERBS)
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
DECLARED = ("--unit", "patient", "--horizon", 8, "--epsilon", 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one stream."""
    file = tmp_path_factory.mktemp("streams") / "clinic.jali"
    assert main(["init", str(file)]) == 0
    declared = [*map(str, DECLARED), "--every", "day", "--start", "2026-01-01"]
    assert main(["stream", "create", str(file), "admissions", *declared]) == 0
    return file


@pytest.fixture
def stream(jali: Runner, made: Path, tmp_path: Path) -> Callable[..., Any]:
    """A runner of the verbs of `jali stream` on a copy of that database."""
    file = copied(made, tmp_path / "clinic.jali")

    def run(verb: str, *arguments: object, name: str = "admissions") -> Any:
        return jali("stream", verb, file, name, *arguments)

    return run


def items(tmp_path: Path, *owners: str, name: str = "items.csv") -> Path:
    file = tmp_path / name
    file.write_text("item,owner\n" + "".join(f"visit,{owner}\n" for owner in owners))
    return file


def listed(jali: Runner, tmp_path: Path) -> list[str]:
    return [
        one["stream"] for one in jali("stream", "show", tmp_path / "clinic.jali", "--json").document["streams"]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_verb_has_help_with_an_example(jali: Runner, name: str) -> None:
    outcome = jali("stream", name, "--help")
    assert outcome.code == 0
    assert f"Example: jali stream {name}" in outcome.out


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_documented(jali: Runner, name: str) -> None:
    parts = re.split(r"^#+ ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    section = next(part for part in parts if part.startswith(f"jali stream {name}\n"))
    options = set(re.findall(r"--[a-z-]+", jali("stream", name, "--help").out.partition("Options")[2])) - {
        "--help"
    }
    assert options <= set(re.findall(r"--[a-z-]+", section))


def test_the_commands_of_the_page_run(jali: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    jali("init", "clinic.jali")
    Path("monday.csv").write_text("item,owner,key\nvisit 17,p1,A\n")
    (block,) = re.findall(r"^```\n(jali stream create.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines():
        _, *words = shlex.split(line)
        outcome = jali(*words, *(["--once"] if "watch" in words else []))
        assert outcome.code == 0, line
    assert "2026-01-01" in outcome.out
    assert Path("admissions.png").stat().st_size > 1000


def test_creating_says_what_was_chosen_and_what_it_costs_and_again_changes_nothing(
    jali: Runner, stream: Runner, tmp_path: Path
) -> None:
    made = stream("create", *DECLARED, name="other")
    assert made.code == 0
    assert "other is declared and charged." in made.out
    assert "epsilon 1" in made.out
    again = stream("create", *DECLARED, name="other")
    assert again.code == 0
    assert "Nothing changed" in again.out
    another = stream("create", "--unit", "patient", "--horizon", 9, "--epsilon", 1, name="other")
    assert another.code == 2
    assert (
        f"See its declaration with jali stream show {tmp_path / 'clinic.jali'} other --explain, or choose"
        in another.err
    )
    assert listed(jali, tmp_path) == ["admissions", "other"]
    ledger = jali("ledger", tmp_path / "clinic.jali", "--json").document
    assert {a["account"]: a["spent"]["epsilon"] for a in ledger["accounts"]} == {
        "stream admissions": "1",
        "stream other": "1",
    }


def test_a_stream_in_rho_and_one_with_a_delta_are_declared(stream: Runner) -> None:
    found = stream("create", "--no-unit", "--horizon", 8, "--rho", "0.1", "--json", name="a").document
    assert found["cost"]["rho"] == "1/10"
    declared = ("--unit", "patient", "--horizon", 1000, "--epsilon", 1, "--delta", "1e-6")
    both = stream("create", *declared, "--json", name="b").document
    assert both["explanation"]
    assert both["published"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--unit", "p", "--epsilon", 1), "The horizon of the stream is missing"),
        (("--unit", "p", "--horizon", 8), "The privacy loss of the stream is missing"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--rho", 1), "The privacy loss of the stream is missing"),
        (
            ("--unit", "p", "--horizon", 8, "--rho", 1, "--delta", "1e-6"),
            "--delta can be combined with --epsilon, not with --rho",
        ),
        (("--horizon", 8, "--epsilon", 1), "The privacy unit is missing"),
        (("--horizon", 8, "--epsilon", 1, "--unit", "p", "--no-unit"), "cannot be combined"),
        (("--unit", "p", "--horizon", "8.5", "--epsilon", 1), "--horizon must be a whole number"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "mode"), "--measure must be one of"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--mechanism", "wishful"), "wishful"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--every", "year", "--start", "2026-01-01"), "--every"),
        (
            ("--unit", "p", "--horizon", 8, "--epsilon", 1, "--query", "SELECT 1"),
            "The privacy unit comes from the table of the query",
        ),
        (
            ("--unit", "p", "--horizon", 8, "--epsilon", 1, "--key", "id"),
            "--key and --late only apply to streams over a table",
        ),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "sum"), "Write --range 0:100."),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "mean"), "Write --range 0:100."),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "cdf"), "Write --bins 10,20,30."),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "cdf", "--bins", "a,b"), "--bins"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--every", "day"), "Write --start 2026-01-01."),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--start", "2026-01-01"), "Write --every day."),
        (("--no-unit", "--horizon", 8, "--epsilon", 1, "--max-items", 2), "Leave --max-ticks"),
        (("--unit", "p", "--horizon", 8, "--epsilon", "-1"), "--epsilon"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--keys", "ward=A,B"), "names a column"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--keys", "A,,B"), "--keys contains an empty key"),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--keys", ""), "Write --keys A,B,C."),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "sum", "--range", "0-9"), "--range 0:240."),
        (("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "sum", "--range", "0:x"), "--range"),
        (
            ("--unit", "p", "--horizon", 8, "--epsilon", 1, "--measure", "sum", "--range", "9:1"),
            "must not exceed the upper bound",
        ),
        (
            ("--query", "SELECT 1", "--horizon", 8, "--epsilon", 1, "--every", "day"),
            "--every cannot be combined with",
        ),
        (
            ("--query", "SELECT 1", "--horizon", 8, "--epsilon", 1, "--measure", "sum"),
            "--measure cannot be combined",
        ),
    ],
)
def test_a_wrong_declaration_is_refused_in_words_of_the_command_line(
    jali: Runner, stream: Runner, tmp_path: Path, arguments: tuple[object, ...], said: str
) -> None:
    refused = stream("create", *arguments, name="other")
    assert refused.code == 2
    assert said in refused.err
    assert listed(jali, tmp_path) == ["admissions"]


def test_a_question_that_cannot_be_followed_is_shown_with_the_place(stream: Runner) -> None:
    refused = stream("create", "--horizon", 8, "--epsilon", 1, "--query", "SELECT 1", name="other")
    assert refused.code == 4
    assert "  SELECT 1\n         ^" in refused.err


def test_items_are_appended_once_and_a_tick_is_published_once(stream: Runner, tmp_path: Path) -> None:
    file = items(tmp_path, "p1", "p2", "p3")
    first = stream("append", file, "--json").document
    assert (first["new"], first["known"], first["dropped"], first["unreadable"]) == (3, 0, 0, 0)
    again = stream("append", file)
    assert "0 new · 3 known before · 0 dropped" in again.out
    assert "curator's alone" in again.out
    published = stream("publish", "--json").document["ticks"]
    assert [tick["tick"] for tick in published] == [1]
    assert published[0]["label"] == "2026-01-01"
    assert stream("publish", "--tick", 1, "--json").document["ticks"] == published
    assert stream("show", "--json").document["ticks"] == published


def test_appending_can_publish_and_an_empty_file_is_an_empty_tick(stream: Runner, tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    told = stream("append", empty, "--publish")
    assert told.code == 0
    assert "0 new" in told.out
    assert "2026-01-01" in told.out
    found = stream("append", items(tmp_path, "p1"), "--publish", "--json").document["published"]
    assert found["tick"] == 2
    (only,) = found["values"]
    low, high = only["interval"]
    assert low < only["value"] < high


def test_items_come_from_stdin_too(stream: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b'{"item": "a", "owner": "p1"}\nnonsense \xff\n{"item": "b", "owner": "p2"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines), encoding="ascii"))
    told = stream("append", "-")
    assert told.code == 0
    assert "2 new · 0 known before · 0 dropped · 1 unreadable\n" in told.out
    assert "Unreadable: every item needs item and owner." in told.out


def test_a_record_of_several_lines_is_one_item_and_broken_quotes_change_no_exit_code(
    stream: Runner, tmp_path: Path
) -> None:
    file = tmp_path / "long.csv"
    file.write_text('item,owner\n"a\nb,p8\nc,p9",p1\nb,p2\n"c,p3\nd,p4\n')
    told = stream("append", file)
    assert told.code == 0
    assert "2 new · 0 known before · 0 dropped · 2 unreadable" in told.out


def test_what_is_wrong_with_a_file_or_a_name_is_said(stream: Runner, tmp_path: Path) -> None:
    assert "cannot be read" in stream("append", tmp_path / "none.csv").err
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("id,person\n1,2\n")
    refused = stream("append", wrong)
    assert (refused.code, "no column item" in refused.err) == (2, True)
    for verb in ("publish", "show", "watch"):
        missing = stream(verb, *(["--once"] if verb == "watch" else []), name="nothing")
        assert missing.code == 2
        assert "nothing" in missing.err


def test_a_header_that_lacks_what_the_stream_needs_is_refused_before_the_first_item(
    stream: Runner, tmp_path: Path
) -> None:
    stream("create", *DECLARED, "--keys", "A,B,C", name="wards")
    stream("create", "--no-unit", "--horizon", 8, "--epsilon", 1, name="lone")
    options = ("--measure", "mean", "--range", "0:9")
    stream("create", *DECLARED, *options, name="stays")
    for name, header, said in (
        ("wards", "item,owner", "no column key"),
        ("wards", "item,key", "no column owner"),
        ("stays", "owner,item", "no column value"),
        ("lone", "item,owner", "each item of this stream is a person"),
    ):
        file = tmp_path / f"{name}.csv"
        file.write_text(f"{header}\n1,2\n")
        refused = stream("append", file, name=name)
        assert refused.code == 2
        assert said in refused.err
    right = tmp_path / "right.csv"
    right.write_text("item,owner,key\n1,2,A\n")
    assert stream("append", right, "--json", name="wards").document["new"] == 1


def test_items_that_cannot_be_read_are_told_apart_and_may_come_again(stream: Runner, tmp_path: Path) -> None:
    stream("create", *DECLARED, "--keys", "A,B,C,D", name="wards")
    file = tmp_path / "monday.csv"
    file.write_text("item,owner,key\n1,p1,a\n2,p2,A\n3,p2,A\n")
    told = stream("append", file, name="wards").out
    assert "1 new · 0 known before · 1 dropped · 1 unreadable" in told
    assert "Dropped: beyond the contribution bounds of one person (--max-ticks 1, --max-items 1)." in told
    assert "Unreadable: every item needs item, owner and key (one of A, B, C, ...)." in told
    file.write_text("item,owner,key\n1,p1,A\n2,p2,A\n3,p2,A\n")
    again = stream("append", file, "--json", name="wards").document
    assert (again["new"], again["known"], again["dropped"], again["unreadable"]) == (1, 2, 0, 0)


def test_a_file_of_another_kind_is_refused(stream: Runner, tmp_path: Path) -> None:
    file = tmp_path / "items.parquet"
    file.write_bytes(b"PAR1\n\nPAR1")
    refused = stream("append", file)
    assert (refused.code, ".parquet" in refused.err, ".jsonl" in refused.err) == (2, True, True)
    assert stream("append", items(tmp_path, "p1", name="items.txt"), "--json").document["new"] == 1
    assert stream("append", items(tmp_path, "p2", name="items"), "--json").document["new"] == 1


def test_a_mistyped_time_closes_nothing_and_the_last_tick_is_said_to_be_the_last(stream: Runner) -> None:
    refused = stream("publish", "--until", "2027-01-05")
    assert (refused.code, "2026-01-09" in refused.err) == (2, True)
    options = ("--unit", "p", "--horizon", "none", "--epsilon", 1, "--every", "day", "--start", "2026-01-01")
    stream("create", *options, name="endless")
    many = stream("publish", "--until", "2206-01-01", name="endless")
    assert (many.code, "name the last: --tick 65743." in many.err) == (2, True)
    assert "last tick" not in stream("publish", "--tick", 7).out
    assert "This is the last tick" in stream("publish", "--until", "2026-01-09").out


def test_after_the_horizon_appending_and_publishing_are_refused_alike(stream: Runner, tmp_path: Path) -> None:
    stream("publish", "--tick", 8)
    for refused in (stream("publish"), stream("append", items(tmp_path, "p1"))):
        assert refused.code == 2
        assert "All 8 ticks" in refused.err


def test_an_option_below_its_least_value_is_refused_in_plain_words(stream: Runner) -> None:
    refused = stream("show", "--last", 0)
    assert (refused.code, "jali: --last must be at least 1. See" in refused.err) == (2, True)


def test_all_ticks_of_the_clock_that_have_ended_are_published(stream: Runner) -> None:
    found = stream("publish", "--until", "2026-01-04", "--json").document["ticks"]
    assert [tick["label"] for tick in found] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    refused = stream("publish", "--until", "2026-01-05", "--tick", 4)
    assert (refused.code, "cannot be combined" in refused.err) == (2, True)
    assert stream("publish", "--tick", 9).code == 2


def test_showing_lists_the_streams_or_the_ticks_of_one(jali: Runner, stream: Runner, tmp_path: Path) -> None:
    stream("publish", "--tick", 5)
    told = jali("stream", "show", tmp_path / "clinic.jali").out
    assert "5 of 8" in told
    shown = stream("show", "--last", 2).out
    assert "3 ticks before these." in shown
    assert "2026-01-05" in shown
    assert "2026-01-03" not in shown
    assert "cost epsilon 1, once, for all ticks" in shown
    assert stream("show", "--explain").out
    empty = tmp_path / "empty.jali"
    jali("init", empty)
    assert "no stream yet" in jali("stream", "show", empty).out
    assert jali("stream", "show", empty, "--explain").code == 2


def test_a_picture_is_drawn_into_a_file(stream: Runner, tmp_path: Path) -> None:
    stream("publish", "--tick", 3)
    picture = tmp_path / "admissions.svg"
    told = stream("show", "--plot", picture)
    assert (told.code, told.out.splitlines()[-1]) == (0, f"wrote {picture}")
    assert "<svg" in picture.read_text()
    assert stream("show", "--plot", picture, "--json").document["published"] == 3


@pytest.mark.parametrize("name", ["none/a.svg", "a.gif", "a", "."])
def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_shown(
    stream: Runner, tmp_path: Path, name: str
) -> None:
    stream("publish", "--tick", 3)
    refused = stream("show", "--plot", tmp_path / name)
    assert (refused.code, refused.out) == (2, "")
    assert "Give a file ending in .png, .svg or .pdf in a directory that exists." in " ".join(refused.err.split())
    assert not (tmp_path / name).is_file()


def test_nothing_published_is_nothing_to_draw(stream: Runner, tmp_path: Path) -> None:
    refused = stream("show", "--plot", tmp_path / "a.png")
    assert (refused.code, refused.out) == (2, "")
    assert "has not published anything to plot" in " ".join(refused.err.split())
    assert not (tmp_path / "a.png").exists()


def test_ticks_before_the_shown_ones_are_counted_alike_by_publish_and_show(stream: Runner) -> None:
    assert stream("create", *DECLARED, "--keys", ",".join(map(str, range(10))), name="many").code == 0
    stream("publish", name="many")
    for told in (stream("publish", "--tick", 8, name="many"), stream("show", name="many")):
        assert "5 ticks before these." in told.out


def test_keys_sums_means_and_distributions_go_through_every_verb(stream: Runner, tmp_path: Path) -> None:
    wanted = {
        "wards": (("--keys", "A,B"), 2),
        "costs": (("--measure", "sum", "--range", "0:100"), 1),
        "ages": (("--measure", "mean", "--range", "0:100", "--keys", "1,2"), 2),
        "spread": (("--measure", "cdf", "--range", "0:100", "--bins", "25,50,75"), 3),
    }
    file = tmp_path / "items.jsonl"
    lines = [f'{{"item": "{i}", "owner": "p{i}", "key": "{"AB12"[i % 4]}", "value": {i}}}' for i in range(40)]
    file.write_text("\n".join(lines))
    for name, (options, count) in wanted.items():
        assert stream("create", *DECLARED, *options, name=name).code == 0
        assert stream("append", file, "--publish", name=name).code == 0
        (tick,) = stream("show", "--json", name=name).document["ticks"]
        assert len(tick["values"]) == count
        assert "tick 1" in stream("watch", "--once", name=name).out
        for one in tick["values"]:
            assert one["interval"][0] <= one["value"] <= one["interval"][1]
    assert stream("show", "--plot", tmp_path / "spread.svg", name="spread").code == 0


# Watching.


def test_watching_once_draws_plain_letters(stream: Runner) -> None:
    assert "Nothing was published yet." in stream("watch", "--once").out
    stream("publish", "--tick", 3)
    drawn = stream("watch", "--once").out
    assert drawn.startswith("admissions · count so far · tick 3 of 8\n")
    assert "\x1b" not in drawn
    assert re.search("[\u2801-\u28ff]", drawn)
    assert "2026-01-03" in drawn
    assert stream("watch", "--once", "--key", "Z").code == 2
    assert stream("watch", "--json").document["published"] == 3


def test_watching_ends_by_itself_with_the_last_tick(stream: Runner) -> None:
    stream("publish", "--tick", 8)
    outcome = stream("watch")
    assert outcome.code == 0
    assert "tick 8 of 8" in outcome.out


def watched(published: int, horizon: int | None = 8) -> Any:
    return SimpleNamespace(published=published, declaration=SimpleNamespace(horizon=horizon))


def test_a_stream_is_drawn_anew_only_when_it_has_new_ticks() -> None:
    view, done, waits = watched(3), list[int](), iter([3, 4, 4, 8])

    def wait() -> None:
        view.published = next(waits)

    follow_stream(view, lambda: done.append(view.published), wait)
    assert done == [3, 4, 8]


def test_an_interrupt_ends_watching_well(capsys: pytest.CaptureFixture[str]) -> None:
    view, done = watched(3, None), list[int]()

    def wait() -> None:
        raise KeyboardInterrupt

    follow_stream(view, lambda: done.append(view.published), wait)
    assert done == [3]
    assert "Traceback" not in capsys.readouterr().err


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_drawn_over(monkeypatch: pytest.MonkeyPatch) -> None:
    import jali

    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("LINES", "20")
    with jali.connect() as database:
        view = database.stream("visits", unit="patient", horizon=4, budget=jali.Budget(epsilon=1))
        terminal = Terminal()
        screen = StreamScreen(terminal)
        view.publish()
        screen.show(view)
        first = terminal.getvalue()
        lines = first.count("\n")
        assert lines <= 19
        view.publish()
        screen.show(view)
    assert terminal.getvalue()[len(first) :].startswith(f"\x1b[{lines}A\x1b[J")
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", terminal.getvalue())
    assert max(map(len, plain.splitlines())) <= 70


def test_progress_is_shown_to_terminals_only() -> None:
    for stream, told in ((Terminal(), True), (io.StringIO(), False)):
        progress = AppendProgress(stream)
        progress(1000)
        progress.end()
        assert ("1,000 items" in stream.getvalue()) is told


def test_a_stream_follows_a_table_which_pays(jali: Runner, clinic: Path) -> None:
    question = "SELECT date_trunc('day', seen) AS day, COUNT(*) AS n FROM visits GROUP BY day"
    declared = ("--start", "2025-01-01", "--horizon", 5, "--epsilon", "1/2", "--max-items", 2)
    made = jali("stream", "create", clinic, "daily", "--query", question, *declared)
    assert made.code == 0
    assert "visits" in made.out
    accounts = jali("ledger", clinic, "--json").document["accounts"]
    assert {one["account"]: one["spent"]["epsilon"] for one in accounts}["table visits"] == "1/2"
    found = jali("stream", "publish", clinic, "daily", "--until", "2025-01-04", "--json").document["ticks"]
    assert [tick["label"] for tick in found] == ["2025-01-01", "2025-01-02", "2025-01-03"]
    # 500 patients, each of whom counts in one tick with two visits; noise beyond 100 has a chance below 1e-6.
    assert abs(found[-1]["values"][0]["value"] - 1000) < 100
    refused = jali("stream", "append", clinic, "daily", "-")
    assert (refused.code, "reads a table" in refused.err) == (2, True)
    dear = jali("stream", "create", clinic, "dear", "--query", question, "--start", "2025-01-01", "--horizon", 5)
    assert dear.code == 2
    over = jali("stream", "create", clinic, "dear", "--query", question, *declared[:4], "--epsilon", 9)
    assert over.code == 3
