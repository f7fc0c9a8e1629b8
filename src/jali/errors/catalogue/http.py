"""Texts of requests to a server."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
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
    "receipt-nobody-answering": Text("Nobody is answering this receipt.", "GET /api/v1/receipts/{receipt}"),
    "receipt-not-answered": Text(
        "The receipt is paid and not answered.", "POST /api/v1/receipts/{receipt}/redeem"
    ),
    "request-failed": Text("It failed.", "See /api/v1/openapi.json for what there is."),
    "request-too-large": Text("The request is larger than {most:,} bytes.", "Send less at once."),
    "server-busy": Text("Too many questions are under way.", "Nothing was spent: ask again in a while."),
    "server-failed": Text(
        "Jali failed, unexpectedly.",
        "If a question was paid, its receipt is open: see /api/v1/receipts. Please report this.",
    ),
    "server-said": Text("{message}", "{advice}", besides=("server_code",)),
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
