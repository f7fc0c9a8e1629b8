"""Texts about servers: running one, requests to it, and sessions at one."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "batch-csv-several-tables": Text("A batch has several tables.", "Take format=json."),
    "column-form-empty": Text(
        "A column has a range, or keys, or a kind.", 'Write {{"range": [0, 120]}} or {{"keys": ["A"]}}.'
    ),
    "column-line-malformed": Text(
        "{line} declares no column.",
        "Write age = 0:120, or ward = A, B, C, or seen = date, or cost = auto; one in each line.",
    ),
    "column-line-twice": Text("Column {column} is declared twice.", "Leave out one of them."),
    "curators-only": Text("This is for curators.", "Ask the curator to do it."),
    "field-above-most": Text(
        "{field} must be at most {le:,}.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-below-least": Text(
        "{field} must be at least {ge:,}.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-empty": Text(
        "{field} must not be empty.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-missing": Text(
        "{field} is missing.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-a-choice": Text(
        "{field} must be {expected}.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-a-list": Text(
        "{field} must be a list.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-a-number": Text(
        "{field} must be a number.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-a-pair": Text(
        "{field} must be a pair.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-a-text": Text(
        "{field} must be a text.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-a-time": Text(
        "{field} must be a date or a time.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-above": Text(
        "{field} must be more than {gt:,}.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-an-object": Text(
        "{field} must be an object.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-below": Text(
        "{field} must be less than {lt:,}.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-boolean": Text(
        "{field} must be true or false.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-finite": Text(
        "{field} must be finite.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-json": Text(
        "{field} is no JSON.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-not-whole": Text(
        "{field} must be a whole number.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-too-few": Text(
        "{field} needs at least {min_length:,}.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-too-many": Text(
        "{field} may have at most {max_length:,}.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-too-many-letters": Text(
        "{field} may have at most {max_length:,} letters.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-unknown": Text(
        "{field} is not known here.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "field-unreadable": Text(
        "{field} cannot be read.",
        "See /api/v1/openapi.json for what is expected.",
        page=Words(remedy="Mend this field, and send it again."),
    ),
    "file-outside-data": Text("The file is not in the server's data directory.", "Start it with --data."),
    "form-of-other-session": Text(
        "The form does not belong to this session.", "Load the page again, and send it once more."
    ),
    "form-of-other-site": Text("The form came from another site.", "Sign in on this one."),
    "host-unknown": Text("The server is not called like this.", "Start it with --allow-host NAME."),
    "httpx-missing": Text("Servers are reached by httpx.", "Run pip install httpx."),
    "lab-people-not-a-power": Text("{n} people are no power of two.", "Take 1024."),
    "method-not-allowed": Text("This cannot be done here.", "See /api/v1/openapi.json for what there is."),
    "not-found": Text(
        "There is no {thing}.",
        "See tables() and streams() of the session for what there is.",
        http=Words(remedy="See /api/v1/openapi.json for what there is."),
        page=Words(remedy="See /api/v1/openapi.json for what there is."),
    ),
    "page-not-found": Text(
        "There is no such page.",
        "See tables() and streams() of the session for what there is.",
        http=Words(remedy="See /api/v1/openapi.json for what there is."),
        page=Words(remedy="See /api/v1/openapi.json for what there is."),
    ),
    "part-form-malformed": Text("A part is one value of one column.", 'Write {{"ward": "A"}}.'),
    "planning-too-large": Text("The question takes too much to plan. Nothing was spent.", "Ask for less at once."),
    "planning-too-slow": Text(
        "The question takes too long to plan: more than {seconds:g} s of CPU. Nothing was spent.",
        "Ask for less at once: fewer questions in a batch, fewer aggregates, no within.",
    ),
    "receipt-nobody-answering": Text("Nobody is answering this receipt.", "GET /api/v1/receipts/{receipt}"),
    "receipt-not-answered": Text(
        "The receipt is paid and not answered.", "POST /api/v1/receipts/{receipt}/redeem"
    ),
    "receipt-not-of-a-batch": Text(
        "{receipt} is no receipt of a batch.", "Redeem the receipt of a single question with redeem."
    ),
    "receipt-of-a-batch": Text(
        "{receipt} is the receipt of a batch.", "Redeem all of its answers with redeem_batch."
    ),
    "request-failed": Text("It failed.", "See /api/v1/openapi.json for what there is."),
    "request-too-large": Text("The request is larger than {most:,} bytes.", "Send less at once."),
    "serve-without-tokens": Text(
        "Other machines can reach {host}, and nobody has a token.",
        "Make one first: jali token create {database} NAME --role curator",
    ),
    "server-address-wrong": Text(
        "Nobody can listen on {host}, port {port}.",
        "It is no address of this machine: take one with --host, such as 127.0.0.1.",
    ),
    "server-busy": Text("Too many questions are under way.", "Nothing was spent: ask again in a while."),
    "server-failed": Text(
        "Jali failed, unexpectedly.",
        "If a question was paid, its receipt is open: see /api/v1/receipts. Please report this.",
    ),
    "server-not-jali": Text("{address} is no server of Jali.", "Check its address."),
    "server-port-forbidden": Text(
        "Nobody can listen on {host}, port {port}.", "Ports below 1024 are the system's: take another with --port."
    ),
    "server-port-taken": Text(
        "Nobody can listen on {host}, port {port}.",
        "Another program has it: take another with --port, or 0 for a free one.",
    ),
    "server-said": Text("{message}", "{advice}", besides=("server_code",)),
    "server-setting-too-small": Text("{name} must be at least {least}, not {value}.", "Leave {name} out."),
    "server-silent": Text(
        "The server at {address} does not answer.",
        "If a question was paid, its receipt is open: redeem it, or ask again for nothing.",
    ),
    "server-token-missing": Text(
        "A server is opened by a token.", "Write jali.connect(address, token=...), or set JALI_TOKEN."
    ),
    "session-ended": Text(
        "The session has ended.",
        "Give a good one: jali.connect(address, token='jali_...'), or set JALI_TOKEN. The curator makes it: jali token create.",
        http=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
        page=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
    ),
    "session-of-earlier-run": Text(
        "The session was one of an earlier run.",
        "Give a good one: jali.connect(address, token='jali_...'), or set JALI_TOKEN. The curator makes it: jali token create.",
        http=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
        page=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
    ),
    "sign-in-needed": Text(
        "Nobody is signed in.",
        "Give a good one: jali.connect(address, token='jali_...'), or set JALI_TOKEN. The curator makes it: jali token create.",
        http=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
        page=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
    ),
    "ticks-too-many": Text("These are many ticks at once.", "Publish at most {most:,} at once."),
    "token-expired": Text(
        "The token expired.",
        "Give a good one: jali.connect(address, token='jali_...'), or set JALI_TOKEN. The curator makes it: jali token create.",
        http=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
        page=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
    ),
    "token-not-known": Text(
        "The token is not known here.",
        "Give a good one: jali.connect(address, token='jali_...'), or set JALI_TOKEN. The curator makes it: jali token create.",
        http=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
        page=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
    ),
    "token-revoked": Text(
        "The token was revoked.",
        "Give a good one: jali.connect(address, token='jali_...'), or set JALI_TOKEN. The curator makes it: jali token create.",
        http=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
        page=Words(
            remedy="Send a good token: Authorization: Bearer jali_... The curator makes one: jali token create."
        ),
    ),
    "too-many-requests": Text("There were too many requests.", "Wait {seconds} s."),
}
