"""The pages, as a browser without the script sees them."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.database.clinic import COLUMNS, make_visits, open_clinic

import jali
from jali.engines.duckdb import DuckDBEngine
from jali.server.app import STATIC, make_app
from jali.server.auth import RunToken
from jali.server.pages.charts import MOST_BARS, build_bar_chart
from jali.server.pages.curator_pages import list_files
from jali.server.pages.error_pages import build_error_card
from jali.server.pages.page_forms import local_path, read_columns
from jali.server.pages.rendering import TEMPLATES
from jali.server.settings import Settings

COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
NASTY = "<script>alert(1)</script>"
PART = {"X-Jali-Fragment": "1"}


class Browser:
    """A browser without a script, which keeps cookies and sends the word of its session."""

    def __init__(self, app: Any, runner: asyncio.Runner) -> None:
        self._app, self._runner = app, runner
        self.cookies = httpx.Cookies()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._send("GET", path, headers=headers)

    def post(self, path: str, word: str | None = None, *, part: bool = False, **fields: str) -> httpx.Response:
        csrf = self.word() if word is None else word
        return self._send("POST", path, data={"csrf": csrf, **fields}, headers=PART if part else {})

    def done(self, path: str, **fields: str) -> str:
        """Send a form, and follow it to the page that says what was done."""
        sent = self._send("POST", path, data={"csrf": self.word(), **fields})
        assert sent.status_code == 303, re.findall("alert.*?</section>", sent.text, re.DOTALL)
        return self.get(sent.headers["location"]).text

    def word(self) -> str:
        found = re.search(r'name="csrf" content="([0-9a-f]*)"', self.get("/ask").text)
        return "" if found is None else found[1]

    def sign_in(self, token: str, next_: str = "/", **headers: str) -> httpx.Response:
        return self._send("POST", "/sign-in", data={"token": token, "next": next_}, headers=headers)

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        return self._runner.run(self._sent(method, path, **more))

    async def _sent(self, method: str, path: str, **more: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", cookies=self.cookies
        ) as client:
            response = await client.request(method, path, **more)
            self.cookies = client.cookies
            return response


@dataclass
class Clinic:
    db: jali.Database
    app: Any
    runner: asyncio.Runner
    data: Path
    ana: str
    curator: str

    def browser(self, token: str | None = None) -> Browser:
        made = Browser(self.app, self.runner)
        if token is not None:
            assert made.sign_in(token).status_code == 303
        return made


@contextmanager
def served(folder: Path) -> Iterator[Clinic]:
    with opened(folder) as made, asyncio.Runner() as runner:
        made.grant("ana", "visits", jali.Budget(epsilon=1))
        ana, curator = made.access.create("ana", "analyst").text, made.access.create("cara", "curator").text
        app = make_app(made, Settings(data=folder, patience=30, burst=1000))
        yield Clinic(made, app, runner, folder, ana, curator)
        runner.run(app.state.jali.jobs.stop(10))


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Clinic]:
    with served(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """One clinic for tests that leave nothing behind but sessions."""
    with served(tmp_path_factory.mktemp("clinic")) as made:
        yield made


def opened(folder: Path) -> jali.Database:
    columns = COLUMNS | {"ward": jali.Keys(["A", "B", NASTY])}
    return open_clinic(folder, epsilon=10, columns=columns, rows=500)


@pytest.fixture
def ana(clinic: Clinic) -> Browser:
    return clinic.browser(clinic.ana)


@pytest.fixture
def cara(clinic: Clinic) -> Browser:
    return clinic.browser(clinic.curator)


# Signing in and out.


def test_who_is_not_signed_in_is_sent_to_sign_in_and_comes_back(clinic: Clinic) -> None:
    browser = clinic.browser()
    sent = browser.get("/budget?most=3")
    assert (sent.status_code, sent.headers["location"]) == (303, "/sign-in?next=%2Fbudget%3Fmost%3D3")
    shown = browser.get(sent.headers["location"])
    assert shown.status_code == 200
    assert 'value="/budget?most=3"' in shown.text
    back = browser.sign_in(clinic.ana, "/budget?most=3")
    assert (back.status_code, back.headers["location"]) == (303, "/budget?most=3")
    assert browser.get("/budget").status_code == 200


def test_the_session_is_a_strict_cookie_that_no_script_reads(clinic: Clinic) -> None:
    cookie = clinic.browser().sign_in(clinic.ana).headers["set-cookie"].lower()
    for part in ("jali_session=", "httponly", "samesite=strict", "path=/", f"max-age={12 * 3600}"):
        assert part in cookie
    assert "secure" not in cookie
    assert clinic.ana.lower() not in cookie


def test_behind_https_the_cookie_is_sent_over_nothing_else(clinic: Clinic) -> None:
    app = make_app(clinic.db, Settings(data=clinic.data, secure=True))
    assert "secure" in Browser(app, clinic.runner).sign_in(clinic.ana).headers["set-cookie"].lower()


def test_the_token_of_a_visit_signs_in_as_curator(clinic: Clinic) -> None:
    visit = RunToken()
    browser = Browser(make_app(clinic.db, Settings(data=clinic.data), visit), clinic.runner)
    browser.sign_in(visit.text)
    assert browser.get("/curator").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "jali_0_0"])
def test_a_wrong_token_is_refused_with_the_form(clinic: Clinic, token: str) -> None:
    browser = clinic.browser()
    refused = browser.sign_in(token, "/lab")
    assert refused.status_code == 401
    assert "The token is invalid." in refused.text
    assert 'value="/lab"' in refused.text
    assert "set-cookie" not in refused.headers
    assert browser.get("/lab").status_code == 303


def test_many_wrong_tokens_are_refused_for_a_while(clinic: Clinic) -> None:
    browser = clinic.browser()
    found = [browser.sign_in("wrong").status_code for _ in range(12)]
    assert found[0] == 401
    assert found[-1] == 429


def test_another_site_cannot_sign_somebody_in(clinic: Clinic) -> None:
    refused = clinic.browser().sign_in(clinic.ana, **{"Sec-Fetch-Site": "cross-site"})
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/\n/x", ""]
)
def test_only_paths_of_this_site_are_returned_to(shared: Clinic, path: str) -> None:
    assert local_path(path) == "/"
    assert shared.browser().sign_in(shared.ana, path).headers["location"] == "/"


def test_signing_out_ends_the_session(ana: Browser) -> None:
    left = ana.post("/sign-out")
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    assert ana.get("/ask").status_code == 303


def test_a_revoked_token_ends_its_sessions(clinic: Clinic, ana: Browser) -> None:
    clinic.db.access.revoke(clinic.ana.split("_")[1])
    assert ana.get("/ask").status_code == 303


def test_a_part_of_a_page_says_that_the_session_ended(clinic: Clinic) -> None:
    refused = clinic.browser().post("/ask/explain", "", part=True, sql=COUNTS)
    assert refused.status_code == 401
    assert "/sign-in" in refused.text


# Forms.

FORMS = (
    "/sign-out",
    "/ask",
    "/ask/explain",
    "/ask/answer",
    "/receipts/x/redeem",
    "/curator/protect",
    "/curator/grant",
    "/curator/refresh",
    "/curator/tokens",
    "/curator/tokens/revoke",
    "/lab/audits/Laplace",
)


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("word", ["", "0" * 64, "\N{SNOWMAN}"])
def test_a_form_without_the_word_of_its_session_is_refused(shared: Clinic, path: str, word: str) -> None:
    refused = shared.browser(shared.curator).post(path, word, sql=COUNTS, epsilon="0.1", do="ask", name="eve")
    assert refused.status_code == 403
    assert "The CSRF token of the form does not match this session" in refused.text
    assert shared.db.receipts() == ()
    assert len(shared.db.access.tokens()) == 2


def test_every_form_on_a_page_carries_the_word(clinic: Clinic, cara: Browser) -> None:
    word = cara.word()
    for path in ("/ask", "/budget", "/curator"):
        forms = re.findall(r'<form[^>]*method="post".*?</form>', cara.get(path).text, re.DOTALL)
        assert forms
        assert all(f'name="csrf" value="{word}"' in form for form in forms)


# Pages.


def pages(clinic: Clinic) -> list[str]:
    receipt = clinic.db.ask(COUNTS, epsilon="0.1").receipt
    made = clinic.db.stream(
        "admissions", unit="patient", horizon=9, budget=jali.Budget(epsilon=1), keys=["A", "B"]
    )
    made.append([{"item": "1", "owner": "p", "key": "A"}])
    made.publish()
    paths = ["/", "/ask", "/budget", "/streams", "/streams/admissions", "/lab", "/curator", "/sign-in"]
    return [*paths, f"/receipts/{receipt}"]


def test_each_page_has_a_title_a_heading_and_a_twin_that_answers(clinic: Clinic, cara: Browser) -> None:
    for path in pages(clinic):
        shown = cara.get(path)
        assert shown.status_code == 200, path
        assert re.search(r"<title>[^<]+ · Jali</title>", shown.text), path
        assert shown.text.count("<h1") == 1, path
        assert '<main id="main"' in shown.text
        assert 'lang="en"' in shown.text
        twin = re.search(r'<link rel="alternate" type="application/json" href="(/api/v1/[^"]+)">', shown.text)
        assert twin is not None, path
        answered = cara.get(twin[1])
        assert answered.status_code == 200, twin[1]
        assert answered.headers["content-type"] == "application/json"


def test_no_page_has_inline_script_or_style(clinic: Clinic, cara: Browser) -> None:
    for path in [*pages(clinic), "/lab/audits", "/streams/admissions/picture", "/nope"]:
        text = cara.get(path).text
        assert not re.search(r"\sstyle\s*=", text), path
        assert not re.search(r"\son\w+\s*=", text), path
        assert "<style" not in text
        assert re.findall(r"<script[^>]*>", text) in ([], ['<script src="/static/jali.js" defer>']), path
        assert not re.search(r'(src|href)="(https?:)?//', text), path


def test_every_field_has_a_label(clinic: Clinic, cara: Browser) -> None:
    for path in [*pages(clinic), "/lab/audits"]:
        text = cara.get(path).text
        fields = re.findall(r"<(?:input|select|textarea)[^>]*>", text)
        for field in fields:
            name = re.search(r'id="([^"]+)"', field)
            assert 'type="hidden"' in field or (name and f'for="{name[1]}"' in text), (path, field)


def test_the_first_paint_is_small(clinic: Clinic, cara: Browser) -> None:
    files = sum(len(cara.get(f"/static/{file.name}").content) for file in STATIC.iterdir())
    for path in pages(clinic):
        assert len(cara.get(path).content) + files < 60_000, path


def test_files_are_asked_after_and_not_sent_again(cara: Browser) -> None:
    first = cara.get("/static/jali.css")
    assert first.headers["cache-control"] == "no-cache"
    assert cara.get("/static/jali.css", **{"If-None-Match": first.headers["etag"]}).status_code == 304
    assert cara.get("/static/../site.py").status_code == 404


def test_an_unknown_page_is_a_page_and_an_unknown_route_of_the_api_is_not(cara: Browser) -> None:
    for path in ("/nope", "/streams/nope", "/receipts/nope"):
        missing = cara.get(path)
        assert missing.status_code == 404
        assert missing.headers["content-type"].startswith("text/html")
    assert cara.get("/api/v1/nope").headers["content-type"] == "application/json"
    assert cara.get("/api/v1/ask").status_code == 405


def test_pages_are_in_no_schema_of_the_api(cara: Browser) -> None:
    paths = cara.get("/api/v1/openapi.json").json()["paths"]
    assert all(path.startswith(("/api/v1/", "/health", "/metrics")) for path in paths)


# Asking.


def test_explaining_shows_cost_what_is_left_and_a_forecast(clinic: Clinic, ana: Browser) -> None:
    told = ana.post("/ask/explain", part=True, sql=COUNTS, epsilon="0.1").text
    assert "epsilon 0.1" in told
    assert "table visits" not in told  # what is left of it tells what others have asked
    assert "grant ana on visits" in told
    assert "COUNT(*)" in told
    assert "±" in told
    assert clinic.db.receipts() == ()


def test_a_mistake_is_marked_in_its_line(ana: Browser) -> None:
    told = ana.post("/ask/explain", part=True, sql="SELECT COUNT(*)\n  , nope FROM visits", epsilon="1").text
    assert "Table visits has no column nope." in told
    assert "line 2, column 5" in told
    assert "  , nope FROM visits\n    <b>^</b>" in told


def test_a_misspelt_first_word_is_the_one_that_is_marked(ana: Browser) -> None:
    told = ana.post("/ask/explain", part=True, sql="SELCT COUNT(*) FROM visits", epsilon="1").text
    assert "A question must begin with SELECT." in told
    assert "SELCT COUNT(*) FROM visits\n<b>^</b>" in told


def test_a_long_line_is_cut_around_the_mistake() -> None:
    sql = f"SELECT {'x' * 300} FROM t"
    failure = build_error_card(jali.errors.QueryError("Wrong.", position=(1, 200)), sql)
    assert len(failure.line) < 130
    assert failure.caret < len(failure.line)
    assert build_error_card(jali.errors.QueryError("Wrong.", position=(9, 1)), sql).line == ""


def test_an_answer_has_a_table_bars_a_chart_a_receipt_downloads_and_its_plan(clinic: Clinic, ana: Browser) -> None:
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY ward"
    told = ana.post("/ask/answer", part=True, sql=sql, epsilon="0.5").text
    (receipt,) = clinic.db.receipts()
    for part in ('<th scope="col" class="num">n</th>', 'class="span-dot"', 'class="bars"', "± ", receipt.id):
        assert part in told
    for kind in ("csv", "json", "parquet"):
        assert f"/api/v1/receipts/{receipt.id}/answer?format={kind}" in told
    for part in (
        "Contribution bound",
        "Groups",
        "Releases",
        "theorem",
        "instead of",
        "Engine query",
        "Theorem 4.1",
    ):
        assert part in told
    assert "remaining on visits" in told
    other = ana.get(f"/receipts/{receipt.id}?column=a").text
    assert "<figcaption>a</figcaption>" in other


def test_the_plan_names_no_folder_of_the_server(clinic: Clinic, ana: Browser) -> None:
    for path in ("/ask/explain", "/ask/answer"):
        assert str(clinic.data) not in ana.post(path, part=True, sql=COUNTS, epsilon="0.1").text


def test_without_the_script_the_whole_page_explains_and_answers(clinic: Clinic, ana: Browser) -> None:
    explained = ana.post("/ask", sql=COUNTS, epsilon="0.25", do="explain")
    assert explained.status_code == 200
    assert "Privacy loss" in explained.text
    assert 'value="0.25"' in explained.text
    assert clinic.db.receipts() == ()
    answered = ana.post("/ask", sql=COUNTS, epsilon="0.25", do="ask")
    assert 'class="card answer"' in answered.text
    assert COUNTS in answered.text


def test_the_budget_refuses_with_what_would_fit(clinic: Clinic, ana: Browser) -> None:
    told = ana.post("/ask/answer", part=True, sql=COUNTS, epsilon="7").text
    assert "Budget exceeded" in told
    for part in ("Requested", "Remaining", "Difference", "epsilon 7", "What would fit"):
        assert part in told
    assert 'data-fill="epsilon" data-amount="1"' in told
    assert clinic.db.receipts() == ()
    assert ana.post("/ask", sql=COUNTS, epsilon="7", do="ask").status_code == 402


@pytest.mark.parametrize("wrong", [{"epsilon": "x"}, {"max_rows": "0"}, {"max_rows": "many"}, {"sql": ""}])
def test_a_wrong_field_is_named(ana: Browser, wrong: dict[str, str]) -> None:
    fields: dict[str, Any] = {"sql": COUNTS, "epsilon": "0.1"} | wrong
    told = ana.post("/ask/explain", part=True, **fields).text
    assert 'role="alert"' in told
    assert next(iter(wrong)) in told


def test_a_key_that_is_a_script_is_shown_as_text(ana: Browser) -> None:
    for path in ("/ask/explain", "/ask/answer"):
        told = ana.post(path, part=True, sql=COUNTS, epsilon="0.1").text
        assert NASTY not in told
        assert "&lt;script&gt;" in told


def test_names_and_questions_that_are_scripts_are_shown_as_text(clinic: Clinic, cara: Browser) -> None:
    clinic.db.grant(NASTY, "visits", jali.Budget(epsilon=1))
    clinic.db.access.create(NASTY, "analyst")
    made = clinic.db.stream("s", unit="p", horizon=2, budget=jali.Budget(epsilon=1), keys=[NASTY])
    made.append([{"item": "1", "owner": "1", "key": NASTY}])
    made.publish()
    clinic.db.ask(f"SELECT COUNT(*) AS \"{NASTY}\" FROM visits WHERE ward = '{NASTY}'", epsilon="0.1")
    receipt = clinic.db.receipts()[-1].id
    for path in ("/ask", "/budget", "/curator", "/streams/s", f"/receipts/{receipt}"):
        text = cara.get(path).text
        assert "&lt;script&gt;alert" in text, path
        assert NASTY not in text, path
    echoed = cara.post("/ask", sql=f"SELECT '</textarea>{NASTY}'", epsilon='"><i>', do="explain").text
    assert NASTY not in echoed
    assert '"><i>' not in echoed


def test_templates_escape_whatever_their_name() -> None:
    assert TEMPLATES.autoescape is True


def test_many_values_are_drawn_side_by_side() -> None:
    points = [(str(i), float(i), (i - 1.0, i + 1.0)) for i in range(MOST_BARS + 1)]
    assert not build_bar_chart("n", points[:-1]).upright
    drawn = build_bar_chart("n", points)
    assert drawn.upright
    assert [mark.text for mark in drawn.labels] == ["0", "12", "24"]
    assert all(0 <= place <= 100 for bar in drawn.bars for place in (bar.low, bar.end, bar.high, bar.across))


def test_values_without_an_end_stay_in_the_picture() -> None:
    drawn = build_bar_chart(
        "n", [("A", 5.0, (float("-inf"), float("inf"))), ("B", None, None), ("C", -2, (-4.0, 0.0))]
    )
    assert [bar.label for bar in drawn.bars] == ["A", "C"]
    assert all(0 <= place <= 100 for bar in drawn.bars for place in (bar.left, bar.left + bar.width, bar.low))
    assert drawn.left_out == 1


def test_a_histogram_takes_a_line_for_each_cell(ana: Browser) -> None:
    sql = "SELECT HISTOGRAM(ward) AS h FROM visits"
    told = ana.post("/ask/answer", part=True, sql=sql, epsilon="0.5").text
    assert told.count('class="span-dot"') >= 3


def test_a_long_question_gives_its_receipt_and_then_its_answer(clinic: Clinic, monkeypatch: Any) -> None:
    go, run = threading.Event(), DuckDBEngine.run

    def slow(*arguments: Any, **named: Any) -> Any:
        go.wait(30)
        return run(*arguments, **named)

    monkeypatch.setattr(DuckDBEngine, "run", slow)
    app = make_app(clinic.db, Settings(data=clinic.data, patience=0.05))
    browser = Browser(app, clinic.runner)
    browser.sign_in(clinic.ana)
    waiting = browser.post("/ask/answer", part=True, sql=COUNTS, epsilon="0.1").text
    (receipt,) = clinic.db.receipts()
    assert f'data-events="/api/v1/receipts/{receipt.id}/events"' in waiting
    assert "Running" in browser.get(f"/receipts/{receipt.id}", **PART).text
    assert "working" in browser.get("/budget").text
    go.set()
    clinic.runner.run(app.state.jali.jobs.stop(10))
    later = clinic.browser(clinic.ana)
    assert 'class="card answer"' in later.get(f"/receipts/{receipt.id}", **PART).text


def test_who_has_no_grant_is_told_where_they_type_and_when_they_ask(clinic: Clinic) -> None:
    eve = clinic.browser(clinic.db.access.create("eve", "analyst").text)
    assert "no grant</span>" in eve.get("/ask").text
    assert "no grant</span>" not in clinic.browser(clinic.ana).get("/ask").text
    told = eve.post("/ask/explain", part=True, sql=COUNTS, epsilon="0.1").text
    assert "Privacy loss" in told
    assert "eve has no grant on visits" in told
    assert "<dt>leaves</dt>" not in told
    refused = eve.post("/ask/answer", part=True, sql=COUNTS, epsilon="0.1").text
    assert "Ask the curator for a grant." in refused
    assert "db.grant" not in refused


def test_the_question_is_in_the_answer_and_its_receipt_leads_back_to_it(clinic: Clinic, ana: Browser) -> None:
    told = ana.post("/ask/answer", part=True, sql=COUNTS, epsilon="0.1").text
    assert f'<pre class="asked" tabindex="0">{COUNTS}</pre>' in told
    shown = ana.get(f"/receipts/{clinic.db.receipts()[-1].id}").text
    found = re.search(r'href="(/ask\?sql=[^"]+)"', shown)
    assert found is not None
    assert f">{COUNTS}</textarea>" in ana.get(found[1]).text
    assert len(clinic.db.receipts()) == 1


def test_a_question_in_the_address_is_shown_as_text_and_not_asked(clinic: Clinic, ana: Browser) -> None:
    shown = ana.get("/ask").text
    assert f"SELECT ward, COUNT(*) AS n FROM {clinic.db.tables.list()[0].name}" in shown
    nasty = ana.get("/ask?sql=%3C/textarea%3E%3Cscript%3Ealert(1)%3C/script%3E&epsilon=%22%3E%3Ci%3E").text
    assert NASTY not in nasty
    assert '"><i>' not in nasty
    assert clinic.db.receipts() == ()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sql": "x" * 100_001}, "sql may have at most 100,000 characters."),
        ({"max_rows": "many"}, "max_rows must be a whole number."),
        ({"max_rows": "0"}, "max_rows must be at least 1."),
        ({"sql": ""}, "sql is missing."),
    ],
)
def test_a_wrong_field_is_said_in_words(shared: Clinic, wrong: dict[str, str], said: str) -> None:
    ana = shared.browser(shared.ana)
    fields: dict[str, Any] = {"sql": COUNTS, "epsilon": "0.1"} | wrong
    assert said in ana.post("/ask/explain", part=True, **fields).text


def test_a_long_answer_is_drawn_first_and_scrolled(clinic: Clinic, cara: Browser) -> None:
    sql = f"SELECT HISTOGRAM(age, [{', '.join(str(2 * age) for age in range(1, 31))}]) AS h FROM visits"
    told = cara.post("/ask/answer", part=True, sql=sql, epsilon="0.1").text
    assert told.index('class="chart"') < told.index('class="scroll tall"')
    assert told.index("format=csv") < told.index('class="scroll tall"')


# Receipts and budgets.


def begun(db: jali.Database, sql: str = COUNTS) -> str:
    """Pay for a question of ana's, and do not answer it."""
    started = db.serving.begin(sql, {"epsilon": "0.1"}, analyst="ana", stage=lambda _: None)
    return started.receipt  # type: ignore[union-attr]


def test_an_open_receipt_is_redeemed_from_the_ledger(clinic: Clinic, ana: Browser) -> None:
    receipt = begun(clinic.db)
    listed = ana.get("/budget").text
    assert f'action="/receipts/{receipt}/redeem"' in listed
    assert "Reserved, not answered" in ana.get(f"/receipts/{receipt}").text
    assert 'class="card answer"' in ana.done(f"/receipts/{receipt}/redeem")
    assert f'action="/receipts/{receipt}/redeem"' not in ana.get("/budget").text


def test_the_receipt_of_somebody_else_does_not_exist(clinic: Clinic) -> None:
    receipt = begun(clinic.db)
    eve = clinic.browser(clinic.db.access.create("eve", "analyst").text)
    assert eve.get(f"/receipts/{receipt}").status_code == 404
    assert eve.post(f"/receipts/{receipt}/redeem").status_code == 404
    assert receipt not in eve.get("/budget").text
    assert "ana" not in re.sub(r"<[^>]*>", "", eve.get("/budget").text).replace("analyst", "")


def test_the_budget_shows_what_is_spent_and_left(clinic: Clinic, ana: Browser) -> None:
    clinic.db.session("ana").ask(COUNTS, epsilon="1/3")
    shown = ana.get("/budget").text
    assert 'title="exactly 2/3"' in shown
    assert "epsilon 0.666666" in shown
    assert "epsilon 9.66666" not in shown
    assert 'width="33.34%"' in shown


def test_the_budget_shows_a_curator_all_accounts(clinic: Clinic, cara: Browser) -> None:
    clinic.db.session("ana").ask(COUNTS, epsilon="1/3")
    shown = cara.get("/budget").text
    assert "epsilon 9.66666" in shown
    assert "epsilon 0.666666" in shown


def test_a_receipt_of_a_stream_leads_to_the_streams(clinic: Clinic, cara: Browser) -> None:
    clinic.db.stream("s", unit="p", horizon=2, budget=jali.Budget(epsilon=1))
    receipt = clinic.db.receipts()[-1].id
    shown = cara.get(f"/receipts/{receipt}")
    assert shown.status_code == 200
    assert 'href="/streams"' in shown.text


def test_a_batch_is_shown_whole(clinic: Clinic, cara: Browser) -> None:
    with clinic.db.batch(epsilon=1) as batch:
        batch.ask(COUNTS)
        batch.ask("SELECT COUNT(*) AS everyone FROM visits")
    shown = cara.get(f"/receipts/{clinic.db.receipts()[-1].id}")
    assert shown.status_code == 200
    assert "everyone" in shown.text
    assert "format=csv" not in shown.text


# Curators.


@pytest.mark.parametrize("path", [path for path in FORMS if path.startswith("/curator")])
def test_an_analyst_is_refused_what_is_the_curators(shared: Clinic, path: str) -> None:
    ana = shared.browser(shared.ana)
    for refused in (ana.get("/curator"), ana.post(path, name="eve", table="visits", epsilon="1")):
        assert refused.status_code == 403
        assert "This action requires the curator role." in refused.text
    assert 'href="/curator"' not in ana.get("/ask").text
    assert len(shared.db.access.tokens()) == 2


def test_a_curator_protects_a_table(clinic: Clinic, cara: Browser) -> None:
    make_visits(clinic.data / "other.parquet")
    assert '<option value="other.parquet">' in cara.get("/curator").text
    fields: dict[str, Any] = {
        "table": "again",
        "source": "other.parquet",
        "unit": "patient_id",
        "max_rows": "3",
        "epsilon": "2",
    }
    columns = "age = 0:120\nward = A, B\n\ncost = 0 .. 99.5"
    done = cara.done("/curator/protect", **fields, columns=columns, adjacency="replace-one", rows="500")
    assert "Table again is protected." in done
    table = clinic.db.tables.find("again")
    assert (table.max_rows, table.adjacency.value, table.rows) == (3, "replace-one", 500)
    assert (clinic.db.access.trail(5)[0].actor, clinic.db.access.trail(5)[0].outcome) == ("cara", "done")


def test_what_is_wrong_is_said_and_what_was_written_stays(clinic: Clinic, cara: Browser) -> None:
    fields: dict[str, Any] = {
        "table": "again",
        "source": "../secret.parquet",
        "epsilon": "2",
        "columns": "age = 0:120",
    }
    refused = cara.post("/curator/protect", **fields)
    assert refused.status_code == 403
    assert "not in the server&#39;s data directory" in refused.text
    assert "age = 0:120</textarea>" in refused.text
    assert 'value="../secret.parquet"' in refused.text
    assert cara.post("/curator/protect", **fields | {"columns": "nothing"}).status_code == 400
    assert cara.post("/curator/protect", **fields | {"epsilon": ""}).status_code == 422


def test_a_curator_grants_refreshes_makes_a_token_and_revokes_it(clinic: Clinic, cara: Browser) -> None:
    assert "bo may spend epsilon 0.5 on visits." in cara.done(
        "/curator/grant", analyst="bo", table="visits", epsilon="1/2"
    )
    assert str(clinic.db.remaining("visits", analyst="bo").epsilon) == "1/2"
    before = clinic.db.ask(COUNTS, epsilon="0.1").receipt
    assert "answered on the new data" in cara.done("/curator/refresh", table="visits")
    assert clinic.db.ask(COUNTS, epsilon="0.1").receipt != before
    made = cara.done("/curator/tokens", name="bo", role="analyst", days="7")
    found = re.search(r"jali_[0-9a-f]+_[\w-]+", made)
    assert found is not None
    bo = clinic.browser(found[0])
    assert found[0] not in cara.get("/curator").text
    assert "is revoked" in cara.done("/curator/tokens/revoke", token=found[0].split("_")[1])
    assert bo.get("/ask").status_code == 303
    trail = cara.get("/curator").text
    for act in ("grant", "refresh", "make token", "revoke token"):
        assert act in trail


def test_columns_are_read_as_they_are_written() -> None:
    found = read_columns(
        'day = 2025-01-01:2025-12-31\nx = auto\nname = "a, b", c\nflag:boolean = true, false\nk = 7'
    )
    assert found["day"].range == ("2025-01-01", "2025-12-31")
    assert found["x"].range == "auto"
    assert found["name"].keys == ["a, b", "c"]
    assert found["flag"].keys == [True, False]
    assert found["k"].keys == [7]
    for wrong in ("age", "age =", "= 1", "a = 0:1\na = 0:2"):
        with pytest.raises(jali.errors.CatalogError):
            read_columns(wrong)


def test_files_are_found_below_the_data_directory_alone(tmp_path: Path) -> None:
    inside = tmp_path / "data"
    (inside / "deep" / ".hidden").mkdir(parents=True)
    for name in ("a.parquet", "deep/b.csv", "deep/c.duckdb", "deep/.hidden/d.csv", ".e.csv", "f.txt"):
        (inside / name).touch()
    (tmp_path / "secret.csv").touch()
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    assert sorted(list_files(inside)) == ["a.parquet", "deep/b.csv", "deep/c.duckdb"]


def test_whoever_loads_the_address_of_a_form_again_is_led_to_its_page(clinic: Clinic, cara: Browser) -> None:
    receipt = begun(clinic.db)
    for path in (*FORMS, f"/receipts/{receipt}/redeem"):
        if path in ("/ask", "/receipts/x/redeem"):
            continue
        led = cara.get(path)
        assert led.status_code == 303, path
        assert cara.get(led.headers["location"]).status_code == 200, path


def test_a_new_token_is_shown_once_and_to_nobody_else(clinic: Clinic, cara: Browser) -> None:
    sent = cara.post("/curator/tokens", name="bo", role="analyst", days="7")
    place = sent.headers["location"]
    assert "jali_" not in place
    other = clinic.browser(clinic.curator)
    assert "only once" not in other.get(place).text
    assert "only once" in cara.get(place).text
    assert "only once" not in cara.get(place).text


def test_the_trail_has_one_line_for_each_act_with_its_outcome(clinic: Clinic, cara: Browser) -> None:
    before = len(clinic.db.access.trail())
    assert cara.post("/curator/grant", analyst="ana", table="visits", epsilon="7").status_code == 400
    cara.done("/curator/grant", analyst="bo", table="visits", epsilon="1")
    cara.done("/curator/tokens", name="bo", role="analyst", days="7")
    cara.done("/curator/refresh", table="visits")
    clinic.db.grant("eve", "visits", jali.Budget(epsilon=1))
    trail = clinic.db.access.trail()
    assert [(deed.actor, deed.act, deed.outcome) for deed in trail[: len(trail) - before]] == [
        ("", "budget opened", "done"),
        ("cara", "refresh", "done"),
        ("cara", "make token", "done"),
        ("cara", "grant", "done"),
        ("cara", "grant", "refused"),
    ]
    assert clinic.db.verify().problems == ()
    told = cara.get("/api/v1/trail").json()["acts"]
    assert (told[1]["act"], told[1]["outcome"]) == ("refresh", "done")


def test_a_range_that_is_bought_says_what_it_cost_and_its_receipt_says_what_it_is(
    clinic: Clinic, cara: Browser
) -> None:
    assert "a twentieth of the table&#39;s epsilon" in cara.get("/curator").text.replace("'", "&#39;")
    make_visits(clinic.data / "other.parquet")
    fields: dict[str, Any] = {"table": "again", "source": "other.parquet", "unit": "patient_id", "max_rows": "3"}
    done = cara.done("/curator/protect", **fields, epsilon="20", columns="age = auto")
    (bought,) = (field.range for field in clinic.db.tables.find("again").fields if field.name == "age")
    assert bought is not None
    said = f"{bought.low} to {bought.high}, for epsilon 1"
    assert f"The range of age was estimated: {said}" in done
    receipt = clinic.db.receipts()[-1]
    assert receipt.question == "RANGE OF again.age"
    assert f"<b>{said}</b>" in cara.get(f"/receipts/{receipt.id}").text


# Streams and the lab.


def test_a_stream_is_drawn_with_its_bands(clinic: Clinic, ana: Browser) -> None:
    made = clinic.db.stream("s", unit="p", horizon=9, budget=jali.Budget(epsilon=1), keys=["A", "B"])
    assert "Nothing has been published yet." in ana.get("/streams/s").text
    for tick in range(3):
        made.append([{"item": str(tick), "owner": str(tick), "key": "A"}])
        made.publish()
    shown = ana.get("/streams/s").text
    assert shown.count("<polyline") == 2
    assert shown.count("<polygon") == 2
    assert "after=3" in shown
    assert "tick 3 of 9" in ana.get("/streams/s/picture").text


def test_a_distribution_over_time_is_drawn(clinic: Clinic, ana: Browser) -> None:
    budget, ages = jali.Budget(epsilon=1), jali.Range(0, 100)
    made = clinic.db.stream(
        "d", unit="p", horizon=9, budget=budget, measure="cdf", value=ages, bins=[20, 40, 60, 80]
    )
    made.append([{"item": "1", "owner": "1", "value": 30}])
    made.publish()
    shown = ana.get("/streams/d")
    assert shown.status_code == 200
    assert "<polyline" in shown.text


def test_the_lab_promises_nobody_anything(ana: Browser) -> None:
    for path in ("/lab", "/lab/audits"):
        text = ana.get(path).text
        assert "private" not in text.casefold()
    assert 'action="/lab/audits/Laplace"' in ana.get("/lab/audits").text


def test_without_the_script_the_lab_draws_and_audits(ana: Browser) -> None:
    shown = ana.get("/lab").text
    assert 'class="law"' in shown
    assert "of 1,024 bits" in shown
    assert "of 64 bits" in ana.get("/lab?people=6&noise=0.5").text
    listed = ana.get("/lab/audits").text
    assert "<h1>Audits</h1>" in listed
    found = re.search(r'<td class="claimed"[^>]*>([^<]+)</td>', listed[listed.index('data-name="laplace"') :])
    assert found is not None
    audited = ana.post("/lab/audits/Laplace").text
    row = audited[audited.index("<tbody>") :]
    assert row.index('data-name="laplace"') < row.index("not tried yet")
    assert "no violation found" in row
    assert f">{found[1]}</td>" in row
    assert ana.post("/lab/audits/nope").status_code == 404


def test_the_ends_of_the_sliders_are_those_of_the_drawing(ana: Browser) -> None:
    for people, n in ((2, 4), (10, 1024), (14, 16384)):
        for noise in ("-9", "9"):
            shown = ana.get(f"/lab/curve?people={people}&noise={noise}").text
            told = dict(re.findall(r'data-([a-z-]+)="([^"]*)"', shown))
            ends = float(told["noise-min"]), float(told["noise-max"])
            assert ends == pytest.approx((math.log10(math.sqrt(n) / 100), math.log10(10 * n)), abs=1e-4)
            assert float(told["noise"]) == ends[noise == "9"]
            assert float(told["loss"]) == float(told["loss-max" if noise == "-9" else "loss-min"])
