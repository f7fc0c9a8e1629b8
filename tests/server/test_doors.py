"""Every route by every role and by nobody; tokens that are wrong, expired or revoked; forms of other sites."""

from __future__ import annotations

import itertools
import logging
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from tests.database.clinic import make_visits
from tests.depth import whole
from tests.server.serving import Place, served

import jali
from jali.server.app import _routes
from jali.server.auth import SESSION_COOKIE, RunToken, SessionCookies
from jali.server.pages import (
    ask_pages,
    budget_pages,
    curator_pages,
    lab_pages,
    receipt_pages,
    sign_in_pages,
    stream_pages,
)

# What each route answers to nobody, an analyst and a curator, for a request that is right or at least well formed.
OPEN = "open"
MATRIX: dict[tuple[str, str], tuple[str, Any]] = {
    ("GET", "/health"): (OPEN, None),
    ("GET", "/api/v1/openapi.json"): (OPEN, None),
    ("GET", "/metrics"): ("curator", None),
    ("GET", "/api/v1/me"): ("analyst", None),
    ("POST", "/api/v1/explain"): ("analyst", {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1}),
    ("POST", "/api/v1/ask"): ("analyst", {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1}),
    ("POST", "/api/v1/batch"): (
        "analyst",
        {"questions": [{"sql": "SELECT COUNT(*) FROM visits WHERE age > 3"}], "epsilon": 1},
    ),
    ("POST", "/api/v1/batch/explain"): (
        "analyst",
        {"questions": [{"sql": "SELECT COUNT(*) FROM visits"}], "epsilon": 1},
    ),
    ("POST", "/api/v1/removed"): ("analyst", {"sql": "SELECT AVG(age) FROM visits", "epsilon": 1}),
    ("GET", "/api/v1/tables"): ("analyst", None),
    ("GET", "/api/v1/tables/visits"): ("analyst", None),
    ("GET", "/api/v1/tables/visits/parts?by=ward"): ("analyst", None),
    ("GET", "/api/v1/budgets"): ("analyst", None),
    ("GET", "/api/v1/budgets/visits"): ("analyst", None),
    ("GET", "/api/v1/receipts"): ("analyst", None),
    ("GET", "/api/v1/receipts/none"): ("analyst", 404),
    ("GET", "/api/v1/receipts/none/answer"): ("analyst", 404),
    ("GET", "/api/v1/receipts/none/events"): ("analyst", 404),
    ("POST", "/api/v1/receipts/none/redeem"): ("analyst", 404),
    ("POST", "/api/v1/receipts/none/cancel"): ("analyst", 404),
    ("GET", "/api/v1/streams"): ("analyst", None),
    ("GET", "/api/v1/streams/none"): ("analyst", 404),
    ("GET", "/api/v1/streams/none/events"): ("analyst", 404),
    ("GET", "/api/v1/lab/reconstruction"): ("analyst", None),
    ("GET", "/api/v1/lab/audits"): ("analyst", None),
    ("POST", "/api/v1/lab/audits/none"): ("analyst", 404),
    ("POST", "/api/v1/tables"): (
        "curator",
        {
            "table": "more",
            "source": "more.parquet",
            "budget": {"epsilon": 1},
            "unit": "patient_id",
            "max_rows": 2,
        },
    ),
    ("POST", "/api/v1/tables/visits/refresh"): ("curator", {}),
    ("POST", "/api/v1/public"): ("curator", {"table": "known", "source": "known.csv"}),
    ("POST", "/api/v1/grants"): ("curator", {"analyst": "zoe", "table": "visits", "budget": {"epsilon": 1}}),
    ("GET", "/api/v1/tokens"): ("curator", None),
    ("POST", "/api/v1/tokens"): ("curator", {"name": "zoe"}),
    ("DELETE", "/api/v1/tokens/none"): ("curator", 404),
    ("GET", "/api/v1/trail"): ("curator", None),
    ("POST", "/api/v1/streams"): ("curator", {"stream": "s", "unit": "p", "horizon": 10, "epsilon": 1}),
    ("POST", "/api/v1/streams/none/items"): ("curator", 404),
    ("POST", "/api/v1/streams/none/publish"): ("curator", 404),
}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("doors")
    (directory / "known.csv").write_text("code,name\n1,one\n")
    make_visits(directory / "more.parquet")
    with served(directory) as place:
        yield place


def ways(place: Place) -> set[tuple[str, str]]:
    """Return every route of the API with its method, as the OpenAPI document has it."""
    document = place.app.openapi()
    return {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}


def named(path: str) -> str:
    """Return the path of the document that a path of the matrix is an instance of."""
    parts = path.partition("?")[0].split("/")
    return "/".join(parts)


def matches(route: str, path: str) -> bool:
    left, right = route.split("/"), named(path).split("/")
    pairs = itertools.zip_longest(left, right)
    return all(a == b or (a is not None and a.startswith("{")) for a, b in pairs)


def test_every_route_is_in_the_matrix(clinic: Place) -> None:
    missing = [way for way in ways(clinic) if not any(way[0] == m and matches(way[1], p) for m, p in MATRIX)]
    assert missing == []


@whole
@pytest.mark.parametrize("way", list(MATRIX), ids=" ".join)
def test_nobody_analysts_and_curators_reach_what_is_theirs(clinic: Place, way: tuple[str, str]) -> None:
    (method, path), (least, expected) = way, MATRIX[way]
    body = expected if isinstance(expected, dict) else ({"items": [{"item": "1"}]} if "items" in path else {})
    right = expected if isinstance(expected, int) else None

    def status(name: str | None) -> int:
        with clinic.client(name) as client:
            document = None if method in ("GET", "DELETE") else body
            return client.request(method, path, json=document).status_code

    def reached(code: int) -> bool:
        return code == right if right is not None else code in (200, 201)

    assert reached(status(None)) if least == OPEN else status(None) == 401
    assert status("ana") == 403 if least == "curator" else reached(status("ana"))
    assert reached(status("cara"))


def test_a_route_that_is_added_is_behind_the_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forgetful = APIRouter()

    @forgetful.get("/forgotten")
    def forgotten() -> dict[str, str]:
        return {"said": "something"}

    monkeypatch.setattr("jali.server.api.lab_routes.router", forgetful)
    # Made anew, not those of other tests.
    monkeypatch.setattr("jali.server.app._routes", _routes.__wrapped__)
    with served(tmp_path) as place:
        with place.client() as nobody:
            assert nobody.get("/api/v1/forgotten").status_code == 401
        with place.client("ana") as ana:
            assert ana.get("/api/v1/forgotten").json() == {"said": "something"}


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer x", "Bearer jali_a_b", "Basic abc", "bearer jali__", "Bearer " + "x" * 5000],
)
def test_what_is_no_token_is_refused_alike(clinic: Place, header: str) -> None:
    # Wrong tokens are counted by address: each of these tests is allowed some.
    clinic.app.state.jali.failed_sign_ins._buckets.clear()
    with clinic.client() as client:
        response = client.get("/api/v1/me", headers={"Authorization": header})
    assert response.status_code == 401
    assert response.json()["error"]["type"] == "SignInNeeded"
    assert response.headers["www-authenticate"] == "Bearer"


def test_many_wrong_tokens_make_an_address_wait_and_good_ones_still_work(place: Place) -> None:
    with place.client() as client:
        codes = [client.get("/api/v1/me", headers={"Authorization": "Bearer no"}).status_code for _ in range(30)]
    assert codes[:10] == [401] * 10
    assert 429 in codes
    with place.client("ana") as client:
        assert client.get("/api/v1/me").status_code == 200


def test_a_revoked_token_is_refused_at_once_wherever_it_is_used(place: Place) -> None:
    with place.client("ana") as ana, place.client("cara") as cara:
        token = ana.get("/api/v1/me").json()["token"]
        cookie = place.app.state.jali.auth.cookies.sign(token)
        signed = {SESSION_COOKIE: cookie}
        assert httpx.get(f"{place.address}/api/v1/me", cookies=signed).status_code == 200
        assert cara.delete(f"/api/v1/tokens/{token}").json()["state"] == "revoked"
        response = ana.get("/api/v1/me")
        assert (response.status_code, response.json()["error"]["message"]) == (401, "The token has been revoked.")
        assert httpx.get(f"{place.address}/api/v1/me", cookies=signed).status_code == 401


def test_an_expired_token_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from jali.ledger import Token

    with place.client("ana") as ana:
        assert ana.get("/api/v1/me").status_code == 200
        monkeypatch.setattr(Token, "expired", lambda _, now=None: True)
        response = ana.get("/api/v1/me")
        assert (response.status_code, response.json()["error"]["message"]) == (401, "The token has expired.")


def test_a_change_by_cookie_needs_the_word_of_its_session(place: Place) -> None:
    auth = place.app.state.jali.auth
    with place.client("cara") as client:
        token = client.get("/api/v1/me").json()["token"]
    cookie = auth.cookies.sign(token)
    form = {"name": "zoe"}
    with httpx.Client(base_url=place.address, cookies={SESSION_COOKIE: cookie}) as browser:
        assert browser.get("/api/v1/tokens").status_code == 200
        for word in (
            "",
            "x",
            SessionCookies(b"another" * 5).csrf_token(cookie),
            auth.cookies.csrf_token(auth.cookies.sign(token)),
        ):
            response = browser.post("/api/v1/tokens", json=form, headers={"X-CSRF-Token": word})
            assert (response.status_code, response.json()["error"]["type"]) == (403, "FormExpired")
        good = browser.post("/api/v1/tokens", json=form, headers={"X-CSRF-Token": auth.cookies.csrf_token(cookie)})
        assert good.status_code == 201
    for wrong in ("", "x", cookie[:-2], cookie + "a", SessionCookies(b"another" * 5).sign(token)):
        response = httpx.get(f"{place.address}/api/v1/me", cookies={SESSION_COOKIE: wrong} if wrong else {})
        assert response.status_code == 401


def test_a_visit_opens_one_run_alone(tmp_path: Path) -> None:
    from tests.database.clinic import open_clinic
    from tests.server.serving import running

    from jali.server.app import make_app
    from jali.server.settings import Settings

    with open_clinic(tmp_path) as database:
        visit, later = RunToken(), RunToken()
        app = make_app(database, Settings(data=tmp_path), visit)
        with running(app) as address:
            told = httpx.get(f"{address}/api/v1/me", headers={"Authorization": f"Bearer {visit.text}"})
            assert told.json()["role"] == "curator"
            cookie = app.state.jali.auth.cookies.sign(visit.id)
            assert httpx.get(f"{address}/api/v1/me", cookies={SESSION_COOKIE: cookie}).status_code == 200
            other = app.state.jali.auth.cookies.sign(later.id)
            assert httpx.get(f"{address}/api/v1/me", cookies={SESSION_COOKIE: other}).status_code == 401
            wrong = httpx.get(f"{address}/api/v1/me", headers={"Authorization": f"Bearer {later.text}"})
            assert wrong.status_code == 401
        assert database.access.tokens() == ()


def test_analysts_see_their_own_receipts_and_grants_alone(place: Place) -> None:
    with place.client("ana") as ana, place.client("ben") as ben, place.client("cara") as cara:
        asked = ana.post("/api/v1/ask", json={"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1}).json()
        assert ben.get("/api/v1/receipts").json() == {"receipts": []}
        for path in ("", "/answer", "/events"):
            assert ben.get(f"/api/v1/receipts/{asked['receipt']}{path}").status_code == 404
        assert ben.post(f"/api/v1/receipts/{asked['receipt']}/redeem").status_code == 404
        assert len(cara.get("/api/v1/receipts").json()["receipts"]) == 1
        place.database.grant("ben on visits and more", "visits", jali.Budget(epsilon=1))
        mine = {one["account"] for one in ben.get("/api/v1/budgets").json()["accounts"]}
        assert mine == {"grant ben on visits"}
        assert len(cara.get("/api/v1/budgets").json()["accounts"]) == 4


def test_too_many_requests_of_one_token_wait_and_others_do_not(tmp_path: Path) -> None:
    with served(tmp_path, rate=0.5, burst=5) as place, place.client("ana") as ana, place.client("ben") as ben:
        codes = [ana.get("/api/v1/me").status_code for _ in range(8)]
        assert (codes[:5], set(codes[5:])) == ([200] * 5, {429})
        assert int(ana.get("/api/v1/me").headers["retry-after"]) >= 1
        assert ben.get("/api/v1/me").status_code == 200


def test_a_body_that_is_too_large_is_refused_with_and_without_its_length(tmp_path: Path) -> None:
    with served(tmp_path, body=10_000) as place, place.client("ana") as client:
        large = b'{"sql": "' + b" " * 20_000 + b'"}'
        headers = {"Content-Type": "application/json"}
        said = client.post("/api/v1/ask", content=large, headers=headers)
        unsaid = client.post("/api/v1/ask", content=iter([large]), headers=headers)
        for response in (said, unsaid):
            assert (response.status_code, response.json()["error"]["type"]) == (413, "TooLarge")


def test_another_name_for_this_machine_is_refused(shared: Place) -> None:
    with shared.client("ana") as client:
        for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""):
            response = client.get("/api/v1/me", headers={"Host": host})
            assert (response.status_code, response.json()["error"]["type"]) == (400, "WrongHost")
        for host in ("localhost", "LOCALHOST:99", "127.0.0.1:1", "[::1]:8000"):
            assert client.get("/api/v1/me", headers={"Host": host}).status_code == 200


def test_browsers_are_kept_strict(shared: Place) -> None:
    with shared.client("ana") as client:
        for path in ("/api/v1/me", "/health", "/api/v1/none"):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in headers


def test_tokens_are_in_no_log_and_no_response_but_the_first(
    place: Place, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    seen = ""
    with place.client("cara") as cara, place.client("ana") as ana:
        made = cara.post("/api/v1/tokens", json={"name": "zoe"}).json()["text"]
        for path in ("tokens", "trail", "me", "budgets", "receipts", "tables"):
            seen += cara.get(f"/api/v1/{path}").text + ana.get(f"/api/v1/{path}").text
        seen += ana.post("/api/v1/ask", json={"sql": "SELECT", "epsilon": made}).text.replace(made, "")
        seen += cara.get("/metrics").text
        assert cara.get("/api/v1/none", headers={"Authorization": f"Bearer {made}x"}).status_code in (401, 404)
    seen += "\n".join(record.getMessage() for record in caplog.records if "httpx" not in record.name)
    seen += "".join(capfd.readouterr())
    for token in (made, *place.tokens.values()):
        assert token.split("_", 2)[2] not in seen


def test_what_fails_unexpectedly_says_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ward D has 125 rows")

    monkeypatch.setattr("jali.server.api.table_routes.tables_document", broken)
    with place.client("ana") as client:
        response = client.get("/api/v1/tables")
    assert response.status_code == 500
    assert "125" not in response.text + caplog.text
    assert response.json()["error"]["type"] == "JaliError"


def test_curators_reach_no_file_outside_the_data_directory(place: Place, tmp_path: Path) -> None:
    (tmp_path.parent / "outside.parquet").write_bytes(b"x")
    (tmp_path / "link.parquet").symlink_to(tmp_path.parent / "outside.parquet")
    budget = {"epsilon": 1}
    with place.client("cara") as client:
        for source in ("../outside.parquet", str(tmp_path.parent / "outside.parquet"), "link.parquet", ".", "/"):
            form = {"table": "t", "source": source, "budget": budget}
            response = client.post("/api/v1/tables", json=form)
            assert (response.status_code, response.json()["error"]["type"]) == (403, "OutsideData"), source


def test_acts_are_in_the_trail_with_who_did_them(place: Place) -> None:
    with place.client("cara") as client:
        client.post("/api/v1/grants", json={"analyst": "zoe", "table": "visits", "budget": {"epsilon": 2}})
        acts = client.get("/api/v1/trail").json()["acts"]
    assert [(act["actor"], act["act"], act["outcome"]) for act in acts[:2]] == [
        ("cara", "grant", "done"),
        ("", "token created", "done"),
    ]
    assert acts[0]["about"] == "zoe on visits: epsilon=2, delta=0"
    assert place.database.verify().problems == ()


def test_a_revoked_token_hears_no_more_of_a_stream(place: Place) -> None:
    stream = place.database.stream("arrivals", unit="patient", horizon=30, epsilon=2)
    stream.publish(1)
    with place.client("ana") as ana, ana.stream("GET", "/api/v1/streams/arrivals/events") as told:
        lines = told.iter_lines()
        assert next(line for line in lines if line.startswith("event: tick"))
        place.database.access.revoke(place.tokens["ana"].split("_")[1])
        stream.publish(2)
        rest = list(lines)  # it ends
    assert sum(line.startswith("event: tick") for line in rest) <= 1  # one that was on its way


def test_so_many_streams_of_events_are_open_to_one_caller(place: Place) -> None:
    place.database.stream("arrivals", unit="patient", horizon=30, epsilon=2)
    with ExitStack() as stack, place.client("ana") as ana:
        held = []
        for _ in range(16):
            told = stack.enter_context(ana.stream("GET", "/api/v1/streams/arrivals/events"))
            held.append(told.iter_lines())  # one that is let go closes its connection
            assert next(held[-1]) == "event: begin"
        assert ana.get("/api/v1/streams/arrivals/events").status_code == 503


def test_another_site_signs_nobody_in(place: Place) -> None:
    form = {"token": place.tokens["ana"]}
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        response = httpx.post(f"{place.address}/sign-in", data=form, headers=headers)
        assert response.status_code == 403
        assert SESSION_COOKIE not in response.cookies
    assert httpx.post(f"{place.address}/sign-in", data=form, headers={"Origin": place.address}).status_code == 303


def test_who_signs_out_has_ended_the_session_everywhere(place: Place) -> None:
    signed = httpx.post(f"{place.address}/sign-in", data={"token": place.tokens["ana"]}).cookies
    word = place.app.state.jali.auth.cookies.csrf_token(signed[SESSION_COOKIE])
    assert httpx.get(f"{place.address}/budget", cookies=signed).status_code == 200
    assert httpx.post(f"{place.address}/sign-out", data={"csrf": word}, cookies=signed).status_code == 303
    assert httpx.get(f"{place.address}/api/v1/me", cookies=signed).status_code == 401
    with place.client("ana") as client:
        assert client.get("/api/v1/me").status_code == 200


def test_odd_methods_are_counted_together(place: Place) -> None:
    with place.client("cara") as client:
        for number in range(20):
            assert client.request(f"FOO{number}", "/zz").status_code in (404, 405)
        assert client.get("/metrics").text.count("FOO") == 0


def pages() -> list[tuple[str, str]]:
    """Return every page and form with its method."""
    parts = (ask_pages, budget_pages, curator_pages, lab_pages, receipt_pages, sign_in_pages, stream_pages)
    routes = [route for part in parts for route in part.router.routes if isinstance(route, APIRoute)]
    return sorted((method, route.path) for route in routes for method in (route.methods or set()) - {"HEAD"})


def test_every_page_is_behind_the_door_and_curators_pages_are_theirs(clinic: Place) -> None:
    found = pages()
    assert len(found) > 12
    cookies = clinic.app.state.jali.auth.cookies
    for method, route in found:
        if route == "/sign-in":
            continue
        path = route.replace("{receipt}", "none").replace("{name}", "none")
        nobody = httpx.request(method, clinic.address + path, data={} if method == "POST" else None, timeout=60)
        assert (nobody.status_code, nobody.headers["location"].partition("?")[0]) == (303, "/sign-in"), path
        for name in ("ana", "cara"):
            token = clinic.tokens[name].split("_")[1]
            with httpx.Client(
                base_url=clinic.address, cookies={SESSION_COOKIE: cookies.sign(token)}, timeout=60
            ) as browser:
                told = browser.request(method, path, data={} if method == "POST" else None)
            if method == "POST" or (name == "ana" and path.startswith("/curator")):
                assert told.status_code == 403, (name, path)  # without the word of the session, or not theirs
            else:
                led = told.headers.get("location", "/sign-in")  # the address of a form leads to its page
                assert told.status_code in (200, 404) or not led.startswith("/sign-in"), (name, path)


def test_metrics_tell_the_routes_of_the_api_and_of_the_pages_apart(clinic: Place) -> None:
    with clinic.client("cara") as client:
        client.get("/api/v1/receipts/none")
        client.get("/receipts/none")
        counted = client.get("/metrics").text
    for route in ("/api/v1/receipts/{receipt}", "/receipts/{receipt}"):
        assert f'route="{route}"' in counted
    assert 'route="/receipts/{receipt}"' in counted


def test_the_document_declares_the_envelope_the_scheme_and_what_is_answered(clinic: Place) -> None:
    with clinic.client() as client:
        document = client.get("/api/v1/openapi.json").json()
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "HTTPValidationError" not in document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for operation in methods.values():
            if path == "/health":
                continue
            assert {"token": []} in operation["security"], path
            for status in ("401", "403", "429"):
                schema = operation["responses"][status]["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Envelope"}, path
    asked = document["paths"]["/api/v1/ask"]["post"]["responses"]
    assert {"200", "202", "402", "404", "422", "503"} <= set(asked)
    assert asked["200"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/AnswerTold"}


def test_what_is_answered_is_as_declared(clinic: Place) -> None:
    from jali.server.schemas import AcceptedTold, AnswerTold, BatchTold, Envelope

    question = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": "0.1"}
    with clinic.client("ana") as client:
        AnswerTold.model_validate(client.post("/api/v1/ask", json=question).json())
        batch = {"questions": [{"sql": question["sql"]}], "epsilon": "0.1"}
        BatchTold.model_validate(client.post("/api/v1/batch", json=batch).json())
        Envelope.model_validate(client.post("/api/v1/ask", json=question | {"epsilon": "x"}).json())
        Envelope.model_validate(client.post("/api/v1/ask", json=question | {"nope": 1}).json())
        late = client.post("/api/v1/ask", json=question | {"epsilon": "0.2", "wait": 0})
        (AcceptedTold if late.status_code == 202 else AnswerTold).model_validate(late.json())


def test_budgets_have_a_decimal_beside_each_fraction(place: Place) -> None:
    with place.client("ana") as client:
        client.post("/api/v1/ask", json={"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1/3"})
        left = client.get("/api/v1/budgets/visits").json()
        accounts = client.get("/api/v1/budgets").json()["accounts"]
    assert (left["epsilon"], left["decimal"]["epsilon"]) == ("149/3", "49.6666")
    assert accounts[0]["spent"]["decimal"]["epsilon"] == "0.333334"
