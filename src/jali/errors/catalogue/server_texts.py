"""Texts about servers: running one, requests to it, and sessions at one."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words


def _describe_field(message: str) -> Text:
    """Return the text about a field of a request that is not valid."""
    return Text(
        message,
        "See /api/v1/openapi.json for the request schema.",
        page=Words(remedy="Correct this field and submit the form again."),
    )


def _describe_token(message: str) -> Text:
    """Return the text about a request without a valid token or session."""
    create = "The curator creates tokens with jali token create."
    header = Words(remedy=f"Send a valid token: Authorization: Bearer jali_... {create}")
    return Text(
        message,
        f"Give a valid token: jali.connect(address, token='jali_...'), or set JALI_TOKEN. {create}",
        http=header,
        page=header,
    )


TEXTS: Mapping[str, Text] = {
    "batch-csv-several-tables": Text("A batch has several result tables.", "Use format=json."),
    "column-form-empty": Text(
        "A column needs a range, keys or a kind.", 'Write {{"range": [0, 120]}} or {{"keys": ["A"]}}.'
    ),
    "column-line-malformed": Text(
        "{line} does not declare a column.",
        "Write one column per line: age = 0:120, ward = A, B, C, seen = date, or cost = auto.",
    ),
    "column-line-twice": Text("Column {column} is declared twice.", "Remove one of the declarations."),
    "curators-only": Text("This action requires the curator role.", "Ask a curator to do it."),
    "field-above-most": _describe_field("{field} must be at most {le:,}."),
    "field-below-least": _describe_field("{field} must be at least {ge:,}."),
    "field-empty": _describe_field("{field} must not be empty."),
    "field-missing": _describe_field("{field} is missing."),
    "field-not-a-choice": _describe_field("{field} must be {expected}."),
    "field-not-a-list": _describe_field("{field} must be a list."),
    "field-not-a-number": _describe_field("{field} must be a number."),
    "field-not-a-pair": _describe_field("{field} must be a pair."),
    "field-not-a-text": _describe_field("{field} must be a string."),
    "field-not-a-time": _describe_field("{field} must be a date or time."),
    "field-not-above": _describe_field("{field} must be above {gt:,}."),
    "field-not-an-object": _describe_field("{field} must be an object."),
    "field-not-below": _describe_field("{field} must be below {lt:,}."),
    "field-not-boolean": _describe_field("{field} must be true or false."),
    "field-not-finite": _describe_field("{field} must be finite."),
    "field-not-json": _describe_field("{field} is not valid JSON."),
    "field-not-whole": _describe_field("{field} must be a whole number."),
    "field-too-few": _describe_field("{field} needs at least {min_length:,} item{min_length:?|s}."),
    "field-too-many": _describe_field("{field} may have at most {max_length:,} item{max_length:?|s}."),
    "field-too-many-letters": _describe_field(
        "{field} may have at most {max_length:,} character{max_length:?|s}."
    ),
    "field-unknown": _describe_field("{field} is not a known field."),
    "field-unreadable": _describe_field("{field} cannot be read."),
    "file-outside-data": Text("The file is not in the server's data directory.", "Start the server with --data."),
    "form-of-other-session": Text(
        "The CSRF token of the form does not match this session.", "Reload the page and submit the form again."
    ),
    "form-of-other-site": Text("The form was submitted from another site.", "Sign in on this site."),
    "host-unknown": Text("The host name is not allowed.", "Start the server with --allow-host NAME."),
    "httpx-missing": Text("Connecting to a server needs httpx.", "Run pip install httpx."),
    "lab-people-not-a-power": Text(
        "The number of people must be a power of two, not {n}.", "Use 1024, for example."
    ),
    "method-not-allowed": Text(
        "The method is not allowed here.", "See /api/v1/openapi.json for the available routes."
    ),
    "not-found": Text(
        "There is no {thing}.",
        "Call tables() and streams() of the session to list what exists.",
        http=Words(remedy="See /api/v1/openapi.json for the available routes."),
        page=Words(remedy="See /api/v1/openapi.json for the available routes."),
    ),
    "page-not-found": Text(
        "The page does not exist.",
        "Call tables() and streams() of the session to list what exists.",
        http=Words(remedy="See /api/v1/openapi.json for the available routes."),
        page=Words(remedy="See /api/v1/openapi.json for the available routes."),
    ),
    "part-form-malformed": Text("A subpopulation is one value of one column.", 'Write {{"ward": "A"}}.'),
    "planning-too-large": Text(
        "Planning the question takes too much memory. Nothing was spent.", "Ask a smaller question."
    ),
    "planning-too-slow": Text(
        "Planning the question takes more than {seconds:g} s of CPU time. Nothing was spent.",
        "Ask a smaller question: fewer questions in a batch, fewer aggregates, no within.",
    ),
    "receipt-nobody-answering": Text("No job is answering this receipt.", "GET /api/v1/receipts/{receipt}"),
    "receipt-not-answered": Text(
        "The receipt is reserved but not answered.", "POST /api/v1/receipts/{receipt}/redeem"
    ),
    "receipt-not-of-a-batch": Text(
        "{receipt} is not the receipt of a batch.", "Use redeem for the receipt of a single question."
    ),
    "receipt-of-a-batch": Text(
        "{receipt} is the receipt of a batch.", "Use redeem_batch to redeem all of its answers."
    ),
    "request-failed": Text("The request failed.", "See /api/v1/openapi.json for the available routes."),
    "request-too-large": Text("The request is larger than {most:,} bytes.", "Send a smaller request."),
    "serve-without-tokens": Text(
        "Other machines can reach {host}, but no token exists.",
        "Create one first: jali token create {database} NAME --role curator",
    ),
    "server-address-wrong": Text(
        "The server cannot listen on {host}, port {port}.",
        "The address does not belong to this machine: choose one with --host, such as 127.0.0.1.",
    ),
    "server-busy": Text("Too many questions are running.", "Nothing was spent. Try again later."),
    "server-failed": Text(
        "An unexpected error occurred.",
        "If budget was reserved, the receipt is still open: see /api/v1/receipts. Please report this error.",
    ),
    "server-not-jali": Text("{address} is not a Jali server.", "Check the address."),
    "server-port-forbidden": Text(
        "The server cannot listen on {host}, port {port}.",
        "Ports below 1024 are reserved for the system: choose another with --port.",
    ),
    "server-port-taken": Text(
        "The server cannot listen on {host}, port {port}.",
        "Another program uses this port: choose another with --port, or 0 for a free one.",
    ),
    "server-said": Text("{message}", "{advice}", besides=("server_code",)),
    "server-setting-too-small": Text("{name} must be at least {least}, not {value}.", "Leave {name} out."),
    "server-silent": Text(
        "The server at {address} does not answer.",
        "If budget was reserved, the receipt is still open: redeem it, or ask the question again for free.",
    ),
    "server-token-missing": Text(
        "Connecting to a server needs a token.", "Write jali.connect(address, token=...), or set JALI_TOKEN."
    ),
    "session-ended": _describe_token("The session has ended."),
    "session-of-earlier-run": _describe_token("The session belongs to an earlier run of the server."),
    "sign-in-needed": _describe_token("Authentication is required."),
    "ticks-too-many": Text("Too many ticks at once.", "Publish at most {most:,} at once."),
    "token-expired": _describe_token("The token has expired."),
    "token-not-known": _describe_token("The token is invalid."),
    "token-revoked": _describe_token("The token has been revoked."),
    "too-many-requests": Text("Too many requests.", "Try again in {seconds} s."),
}
