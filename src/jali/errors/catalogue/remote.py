"""Texts about sessions at a server."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "httpx-missing": Text("Servers are reached by httpx.", "Run pip install httpx."),
    "receipt-not-of-a-batch": Text(
        "{receipt} is no receipt of a batch.", "Redeem the receipt of a single question with redeem."
    ),
    "receipt-of-a-batch": Text(
        "{receipt} is the receipt of a batch.", "Redeem all of its answers with redeem_batch."
    ),
    "server-not-jali": Text("{address} is no server of Jali.", "Check its address."),
    "server-silent": Text(
        "The server at {address} does not answer.",
        "If a question was paid, its receipt is open: redeem it, or ask again for nothing.",
    ),
    "server-token-missing": Text(
        "A server is opened by a token.", "Write jali.connect(address, token=...), or set JALI_TOKEN."
    ),
}
