"""The pages in a real browser: typing, asking, sliding, and what they look like.

Screenshots go into the directory that JALI_SCREENSHOTS names.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.database.clinic import make_visits, open_clinic
from tests.depth import deep
from tests.parquet import write_parquet

import jali
from jali.engines.duckdb import DuckDBEngine
from jali.server.app import make_app
from jali.server.settings import Settings

CHROMIUM = Path("/usr/bin/chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed.")

COUNTS = "SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age FROM visits GROUP BY ward"
# Five thousand people with four rows each.
VISITS = """SELECT (i // 4)::INTEGER AS patient_id, (20 + i % 60)::INTEGER AS age,
    ['A', 'B', 'C', 'A', 'B', 'A'][1 + (i % 6)::INTEGER] AS ward, (i % 1000) / 10.0::DOUBLE AS cost
    FROM range(20000) t(i)"""
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_PATIENCE = 30_000
playwright.expect.set_options(timeout=_PATIENCE)
_WIDE, _PHONE = {"width": 1180, "height": 860}, {"width": 375, "height": 812}


@dataclass
class Site:
    """A server over a clinic, and who may sign in."""

    db: jali.Database
    address: str
    data: Path
    ana: str
    curator: str
    app: Any = field(repr=False)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=list(_ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("clinic")
    write_parquet(VISITS, folder / "visits.parquet")
    make_visits(folder / "wards.parquet", 100)
    with open_clinic(folder, epsilon=10, rows=20_000) as db:
        db.grant("ana", "visits", jali.Budget(epsilon=5))
        ana, curator = db.access.create("ana", "analyst").text, db.access.create("cara", "curator").text
        app = make_app(db, Settings(data=folder, patience=0.5, rate=1000, burst=10_000, grace=5))
        with running(app) as address:
            yield Site(db, address, folder, ana, curator, app)


class running:  # noqa: N801 - read as a verb
    """Serve an application from a thread, on a free port."""

    def __init__(self, app: Any) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        self._socket.close()


class Opener:
    """Opens pages, and notes what went wrong in them."""

    def __init__(self, browser: Any, site: Site) -> None:
        self._browser, self._site = browser, site
        self._contexts: list[Any] = []
        self.problems: list[str] = []

    def __call__(self, path: str = "/ask", *, token: str | None = None, **options: Any) -> Any:
        context = self._browser.new_context(**{"viewport": _WIDE, "color_scheme": "light"} | options)
        context.set_default_timeout(_PATIENCE)
        self._contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._console)
        if token is not None:
            page.goto(f"{self._site.address}/sign-in#{token}")
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(f"{self._site.address}/")
        page.goto(self._site.address + path)
        return page

    def _console(self, message: Any) -> None:
        if message.type == "error" and not any(f"status of {known}" in message.text for known in (401, 404)):
            self.problems.append(message.text)

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture
def opening(chromium: Any, site: Site) -> Iterator[Opener]:
    made = Opener(chromium, site)
    yield made
    made.close()
    # A style or a script that the policy refuses is told on the console.
    assert made.problems == []


@pytest.fixture
def shoot(tmp_path: Path) -> Any:
    folder = Path(os.environ.get("JALI_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return lambda page, name: page.screenshot(path=str(folder / name), full_page=True)


def sideways(page: Any) -> int:
    """Return by how many pixels the page is wider than its window."""
    found: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found


@deep
def test_a_token_is_pasted_to_sign_in_and_a_button_signs_out(site: Site, opening: Opener) -> None:
    page = opening("/budget")
    assert page.url == f"{site.address}/sign-in?next=%2Fbudget"
    page.get_by_label("Token").fill("jali_0_wrong")
    page.get_by_role("button", name="Sign in").click()
    playwright.expect(page.get_by_role("alert")).to_have_text("The token is invalid.")
    page.get_by_label("Token").fill(site.ana)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{site.address}/budget")
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{site.address}/sign-in")


def test_a_link_fills_in_the_token_and_leaves_none_in_the_address(site: Site, opening: Opener) -> None:
    page = opening("/sign-in")
    page.goto(f"{site.address}/#{site.ana}")
    button = page.get_by_role("button", name="Sign in")
    playwright.expect(button).to_be_focused()  # and not pressed: the link may be somebody else's
    playwright.expect(page.get_by_role("status")).to_have_text("The link has filled in your token. Press Sign in.")
    assert site.ana not in page.evaluate("location.href")
    button.click()
    page.wait_for_url(f"{site.address}/")
    playwright.expect(page.get_by_role("heading", name="Ask", level=1)).to_be_visible()
    assert site.ana not in page.evaluate("location.href + JSON.stringify(history.state)")


def test_typing_explains_and_marks_mistakes(site: Site, opening: Opener) -> None:
    before = len(site.db.receipts())
    page = opening(token=site.ana)
    page.get_by_label("Question, in SQL").press_sequentially("SELECT nope FROM visits")
    panel = page.locator("#explained")
    playwright.expect(panel).to_contain_text("Table visits has no column nope.")
    assert panel.locator("pre").inner_text() == "SELECT nope FROM visits\n       ^"
    page.get_by_label("Question, in SQL").fill(COUNTS)
    playwright.expect(panel).to_contain_text("Privacy loss")
    playwright.expect(panel).to_contain_text("grant ana on visits")
    page.get_by_label("epsilon", exact=True).fill("0.25")
    playwright.expect(panel.locator(".cost")).to_have_text("epsilon 0.25")
    page.get_by_label("epsilon", exact=True).fill("50")
    playwright.expect(panel).to_contain_text("would be refused")
    assert len(site.db.receipts()) == before


@deep
def test_a_name_is_inserted_where_the_cursor_is(site: Site, opening: Opener) -> None:
    page = opening(token=site.ana)
    page.get_by_label("Question, in SQL").fill("SELECT COUNT(*) FROM")
    page.get_by_role("button", name="visits", exact=True).click()
    playwright.expect(page.get_by_label("Question, in SQL")).to_have_value("SELECT COUNT(*) FROM visits")


def test_asking_shows_a_table_a_chart_and_the_plan(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening(token=site.ana)
    page.get_by_label("Question, in SQL").fill(COUNTS)
    page.get_by_role("button", name="Ask", exact=True).click()
    answer = page.locator(".answer")
    playwright.expect(answer.locator("tbody tr")).to_have_count(3)
    playwright.expect(answer.locator(".bars svg[role=img]")).to_have_count(3)
    answer.get_by_role("link", name="mean_age").click()
    playwright.expect(answer.locator("figcaption")).to_have_text("mean_age")
    answer.get_by_role("link", name="n", exact=True).click()
    playwright.expect(answer.locator("figcaption")).to_have_text("n")
    shoot(page, "ask.png")
    answer.get_by_text("How it was answered").click()
    answer.get_by_text("Releases").click()
    answer.get_by_text("[1] COUNT(*)").click()
    playwright.expect(answer.get_by_text("Theorem 4.1").first).to_be_visible()
    shoot(page, "plan.png")
    with page.expect_download() as held:
        answer.get_by_role("link", name="CSV").click()
    assert Path(held.value.path()).read_text().startswith("ward,n,n_low,n_high")


def test_the_keyboard_is_enough_to_ask(site: Site, opening: Opener) -> None:
    page = opening(token=site.ana)
    playwright.expect(page.get_by_label("Question, in SQL")).to_be_focused()
    page.keyboard.type("SELECT COUNT(*) AS everyone FROM visits")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "epsilon"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".answer")).to_contain_text("everyone")


def test_the_budget_refuses_and_a_button_fills_in_what_fits(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening(token=site.ana)
    page.get_by_label("Question, in SQL").fill(
        "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 30 GROUP BY ward"
    )
    page.get_by_label("epsilon", exact=True).fill("7")
    page.keyboard.press("Control+Enter")
    card = page.locator(".refused")
    for name in ("Requested", "Remaining", "Difference", "What would fit"):
        playwright.expect(card).to_contain_text(name)
    shoot(page, "refused.png")
    button = card.get_by_role("button").first
    amount = button.get_attribute("data-amount")
    button.click()
    playwright.expect(page.get_by_label("epsilon", exact=True)).to_have_value(amount)


@deep
def test_a_long_question_is_followed_to_its_answer(site: Site, opening: Opener, monkeypatch: Any) -> None:
    go, run = threading.Event(), DuckDBEngine.run

    def slow(*arguments: Any, **named: Any) -> Any:
        go.wait(60)
        return run(*arguments, **named)

    monkeypatch.setattr(DuckDBEngine, "run", slow)
    page = opening(token=site.ana)
    page.get_by_label("Question, in SQL").fill("SELECT COUNT(*) AS n FROM visits WHERE age > 41")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".waiting")).to_contain_text("Running")
    playwright.expect(page.locator("[data-stage]")).to_have_text("reading")
    go.set()
    playwright.expect(page.locator(".answer tbody tr")).to_have_count(1)


@deep
def test_an_open_receipt_is_redeemed(site: Site, opening: Opener, shoot: Any) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 52"
    begun: Any = site.db.serving.begin(sql, {"epsilon": "0.1"}, analyst="ana", stage=lambda _: None)
    page = opening("/budget", token=site.ana)
    shoot(page, "budget.png")
    page.get_by_role("button", name="Redeem").first.click()
    playwright.expect(page.locator(".answer")).to_be_visible()
    assert begun.receipt in page.url
    page.goto(f"{site.address}/budget")
    playwright.expect(page.get_by_role("button", name="Redeem")).to_have_count(0)


def test_a_curator_protects_a_table(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening("/curator", token=site.curator)
    form = page.locator("form[action='/curator/protect']")
    form.get_by_label("Name").fill("wards")
    form.get_by_label("File in the data directory").fill("wards.parquet")
    form.get_by_label("Unit").fill("patient_id")
    form.get_by_label("Rows per person").fill("5")
    form.get_by_label("Budget, epsilon").fill("2")
    form.get_by_label("Columns").fill("age = 0:120\nward = A, B, C, D")
    shoot(page, "curator.png")
    form.get_by_role("button", name="Protect").click()
    playwright.expect(page.get_by_role("status")).to_contain_text("Table wards is protected.")
    page.locator("form[action='/curator/tokens']").get_by_label("Name").fill("bo")
    page.get_by_role("button", name="Create", exact=True).click()
    playwright.expect(page.locator("#new-token")).to_contain_text("jali_")
    playwright.expect(page.get_by_role("button", name="Copy")).to_be_visible()
    shoot(page, "token.png")
    page.reload()
    playwright.expect(page.locator("#new-token")).to_have_count(0)
    rows = page.locator("tr", has_text="bo")
    said: list[str] = []

    def refuse(dialog: Any) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", refuse)
    page.get_by_role("button", name="Revoke the token of bo").click()
    playwright.expect(page.get_by_role("button", name="Revoke the token of bo")).to_be_visible()
    assert "Revoke the token of bo?" in said[0]
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke the token of bo").click()
    playwright.expect(page.get_by_role("status")).to_contain_text("is revoked")
    playwright.expect(rows.first).to_contain_text("revoked")


def test_a_slider_moves_the_curve_and_an_audit_tells_its_verdict(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening("/lab", token=site.ana)
    said, law = page.locator("#lab-text"), page.locator("#curve polyline.law")
    playwright.expect(said).to_contain_text("of 1,024 bits")
    before, share = law.get_attribute("points"), said.inner_text()
    page.locator("#people").fill("12")
    playwright.expect(said).to_contain_text("of 4,096 bits")
    assert law.get_attribute("points") != before
    page.locator("#noise").fill("3")
    playwright.expect(page.locator("#noise-text")).to_have_text("1,000")
    playwright.expect(page.locator("#noise")).to_have_attribute("aria-valuetext", "1,000")
    playwright.expect(said).not_to_have_text(share)
    page.locator("#loss").fill("2.5")
    playwright.expect(page.locator("#loss-text")).to_have_text("316")
    page.get_by_label("Find").fill("no such thing")
    playwright.expect(page.get_by_text("No match.")).to_be_visible()
    playwright.expect(page.locator("#audit-table")).to_be_hidden()
    page.get_by_label("Find").fill("laplace")
    row = page.locator("tr[data-name=laplace]")
    claimed = row.locator(".claimed").inner_text()
    page.get_by_role("button", name="Audit Laplace", exact=True).click()
    playwright.expect(row.locator(".verdict")).to_contain_text("no violation found up to epsilon")
    playwright.expect(row.locator(".claimed")).to_have_text(claimed)
    page.locator("#noise").fill("1.5")
    playwright.expect(page.locator("#noise-text")).to_have_text("31.6")
    shoot(page, "lab.png")


@deep
def test_a_stream_is_updated_as_it_is_published(site: Site, opening: Opener, shoot: Any) -> None:
    stream = site.db.stream(
        "admissions", unit="patient", horizon=60, budget=jali.Budget(epsilon=1), keys=["A", "B"]
    )

    def publish(tick: int) -> None:
        people = [f"{tick}-{place}" for place in range(30 + tick % 7)]
        stream.append([{"item": who, "owner": who, "key": "AB"[i % 3 == 0]} for i, who in enumerate(people)])
        stream.publish()

    for tick in range(20):
        publish(tick)
    page = opening("/streams", token=site.ana)
    page.get_by_role("link", name="admissions").click()
    playwright.expect(page.locator("[data-published]")).to_have_attribute("data-published", "20")
    publish(20)
    playwright.expect(page.locator("[data-published]")).to_have_attribute("data-published", "21")
    shoot(page, "streams.png")
    page.goto("about:blank")


def test_on_a_phone_no_page_scrolls_sideways(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening(token=site.curator, viewport=_PHONE, device_scale_factor=2)
    page.get_by_label("Question, in SQL").fill(COUNTS)
    page.get_by_role("button", name="Ask", exact=True).click()
    playwright.expect(page.locator(".answer tbody tr")).to_have_count(3)
    shoot(page, "ask_phone.png")
    page.get_by_text("How it was answered").click()
    assert sideways(page) <= 0
    for path in ("/budget", "/streams", "/lab", "/curator", "/sign-in", "/nope"):
        page.goto(site.address + path)
        if path == "/lab":
            playwright.expect(page.locator("#audit-table")).to_be_visible()
            playwright.expect(page.locator("#curve .across")).to_be_visible()
            shoot(page, "lab_phone.png")
        assert sideways(page) <= 0, path


@deep
def test_it_is_dark_where_that_is_preferred(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening(token=site.ana, color_scheme="dark")
    page.get_by_label("Question, in SQL").fill(COUNTS)
    playwright.expect(page.locator("#explained")).to_contain_text("Privacy loss")
    shoot(page, "explain_dark.png")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".answer tbody tr")).to_have_count(3)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(19, 21, 20)"
    shoot(page, "ask_dark.png")


@deep
def test_a_link_works_in_a_tab_that_is_already_at_the_door(site: Site, opening: Opener) -> None:
    page = opening("/sign-in")
    page.evaluate(f"location.hash = '#{site.ana}'")
    playwright.expect(page.get_by_text("The link has filled in your token")).to_be_visible()
    playwright.expect(page.get_by_label("Token")).to_have_value(site.ana)
    assert site.ana not in page.evaluate("location.href")


def held(monkeypatch: Any) -> threading.Event:
    """Let no question be read for until the event is set."""
    go, run = threading.Event(), DuckDBEngine.run

    def slow(*arguments: Any, **named: Any) -> Any:
        go.wait(60)
        return run(*arguments, **named)

    monkeypatch.setattr(DuckDBEngine, "run", slow)
    return go


@deep
def test_asking_is_shown_at_once_and_what_was_explained_is_gone(
    site: Site, opening: Opener, monkeypatch: Any
) -> None:
    page = opening(token=site.ana)
    held_back: list[Any] = []

    def hold(route: Any) -> None:
        held_back.append(route)

    page.route("**/ask/answer", hold)
    page.get_by_label("Question, in SQL").fill("SELECT COUNT(*) AS n FROM visits WHERE age > 43")
    playwright.expect(page.locator("#explained")).to_contain_text("Privacy loss")
    page.evaluate(
        """() => {
            document.querySelector("button[value=ask]").click();
            window.seen = [
                document.querySelector("#answered").textContent,
                document.querySelector("#answered").getAttribute("aria-busy"),
                document.querySelector("button[value=ask]").disabled,
                document.querySelector("#explained").textContent,
            ];
        }"""
    )
    assert page.evaluate("window.seen") == ["Asking …", "true", True, ""]
    while not held_back:
        page.wait_for_timeout(10)
    held_back[0].continue_()
    playwright.expect(page.locator(".answer tbody tr")).to_have_count(1)
    playwright.expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()


@deep
def test_an_answer_tells_its_question_and_fades_when_another_is_typed(site: Site, opening: Opener) -> None:
    page = opening(token=site.ana)
    sql = page.get_by_label("Question, in SQL")
    sql.fill("SELECT COUNT(*) AS n FROM visits WHERE age > 44")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".answer .asked")).to_have_text(
        "SELECT COUNT(*) AS n FROM visits WHERE age > 44"
    )
    playwright.expect(page.locator("#answered")).not_to_have_class("stale")
    sql.fill("SELECT nope FROM visits")
    playwright.expect(page.locator("#answered")).to_have_class("stale")
    playwright.expect(page.locator("#explained")).to_contain_text("no column nope")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator("#answered")).to_contain_text("no column nope")
    assert page.locator("#explained").inner_text() == ""


@deep
def test_what_is_typed_is_there_again_after_another_page(site: Site, opening: Opener) -> None:
    page = opening(token=site.ana)
    page.get_by_label("Question, in SQL").fill(COUNTS)
    page.get_by_label("epsilon", exact=True).fill("0.3")
    page.get_by_role("link", name="Budget").click()
    page.get_by_role("link", name="Ask", exact=True).click()
    playwright.expect(page.get_by_label("Question, in SQL")).to_have_value(COUNTS)
    playwright.expect(page.get_by_label("epsilon", exact=True)).to_have_value("0.3")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{site.address}/sign-in")
    assert page.evaluate("sessionStorage.length") == 0


@deep
def test_a_server_that_goes_away_is_said_and_the_receipt_named(
    site: Site, opening: Opener, monkeypatch: Any, shoot: Any
) -> None:
    go = held(monkeypatch)
    page = opening(token=site.ana)
    page.route("**/events", lambda route: route.abort())
    page.get_by_label("Question, in SQL").fill("SELECT COUNT(*) AS n FROM visits WHERE age > 45")
    page.keyboard.press("Control+Enter")
    lost = page.locator("[data-lost]")
    playwright.expect(lost).to_be_visible()
    playwright.expect(lost).to_contain_text("The server does not respond.")
    playwright.expect(lost).to_contain_text("Redeem the receipt")
    shoot(page, "lost.png")
    go.set()
    opening.problems[:] = [one for one in opening.problems if "ERR_FAILED" not in one]


@deep
def test_wide_answers_are_cards_on_a_phone(site: Site, opening: Opener, shoot: Any) -> None:
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age, SUM(cost) AS paid, COUNT(cost) AS bills, "
    sql += "MEDIAN(age) AS middle FROM visits GROUP BY ward"
    page = opening(token=site.curator)
    page.get_by_label("Question, in SQL").fill(sql)
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".answer tbody tr")).to_have_count(3)
    shoot(page, "wide.png")
    page.set_viewport_size({"width": 390, "height": 844})
    assert sideways(page) <= 0
    box = page.locator(".answer .scroll")
    assert box.evaluate("place => place.scrollWidth - place.clientWidth") <= 0
    shoot(page, "wide_phone.png")


@deep
def test_a_long_answer_is_scrolled_below_its_chart(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening(token=site.curator)
    bins = ", ".join(str(2 * age) for age in range(1, 31))
    page.get_by_label("Question, in SQL").fill(f"SELECT HISTOGRAM(age, [{bins}]) AS h FROM visits")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".answer .tall")).to_be_visible()
    shoot(page, "long.png")


@deep
def test_without_the_script_the_lab_and_its_audits_are_pages(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening("/sign-in", java_script_enabled=False)
    page.get_by_label("Token").fill(site.ana)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{site.address}/lab")
    playwright.expect(page.locator("#curve .law")).to_be_visible()
    shoot(page, "lab_plain.png")
    page.get_by_role("link", name="List what can be audited").click()
    page.get_by_role("button", name="Audit Laplace", exact=True).click()
    playwright.expect(page.locator("tr[data-name=laplace] .verdict")).to_contain_text("no violation found")
    shoot(page, "audits_plain.png")


@deep
def test_who_has_no_grant_sees_it_beside_the_table(site: Site, opening: Opener, shoot: Any) -> None:
    page = opening(token=site.db.access.create("eve", "analyst").text)
    playwright.expect(page.locator(".help")).to_contain_text("no grant")
    page.get_by_label("Question, in SQL").fill(COUNTS)
    playwright.expect(page.locator("#explained")).to_contain_text("eve has no grant on visits")
    shoot(page, "no_grant.png")
