"""Signed heads: what a curator publishes, so that others can tell later whether a ledger was cut or changed.

A signed head names the last entry of the chain and what was spent by then, with an Ed25519 signature (RFC 8032).
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.errors import CatalogError
from jali.ledger.anchors import AnchoredHead
from jali.ledger.chain import canonical
from jali.ledger.operations import now

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


@dataclass(frozen=True)
class SignedHead:
    """A head with a signature.

    Attributes:
        ledger: The name of the ledger, which is random and its own for ever.
        anchored: The head, and what was spent.
        at: When it was signed.
        public_key: Whose signature it is, in base64; empty where nobody signed.
        signature: The signature, in base64; empty where nobody signed.
    """

    ledger: str
    anchored: AnchoredHead
    at: str
    public_key: str = ""
    signature: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as a document that people can read."""
        return self._document() | {"public_key": self.public_key, "signature": self.signature}

    def _document(self) -> dict[str, Any]:
        _, _, text = self.anchored.to_text().partition(" ")
        return {"ledger": self.ledger, "at": self.at, **json.loads(text)}

    def message(self) -> bytes:
        """Return what is signed."""
        return b"jali head 1\n" + canonical(self._document()).encode()

    def is_signed_by(self, key: Ed25519PublicKey) -> bool:
        """Say whether the signature is that of a key."""
        from cryptography.exceptions import InvalidSignature

        try:
            key.verify(base64.b64decode(self.signature), self.message())
        except (InvalidSignature, ValueError):
            return False
        return True


def sign_head(ledger: str, anchored: AnchoredHead, key: Path | None) -> SignedHead:
    """Return a head, signed where a key is given."""
    unsigned = SignedHead(ledger, anchored, now())
    if key is None:
        return unsigned
    private = _private_key(key)
    public = base64.b64encode(private.public_key().public_bytes_raw()).decode()
    signature = base64.b64encode(private.sign(unsigned.message())).decode()
    return SignedHead(ledger, anchored, unsigned.at, public, signature)


def read_head(path: Path) -> SignedHead:
    """Read a head that was written as JSON."""
    try:
        body = json.loads(path.read_text())
        names = ("epoch", "seq", "head", "accounts")
        anchored = AnchoredHead.of_json({name: body[name] for name in names})
        return SignedHead(body["ledger"], anchored, body["at"], body["public_key"], body["signature"])
    except OSError:
        problem = "head-unreadable"
    except (ValueError, LookupError, TypeError, AttributeError):
        problem = "head-foreign"
    raise CatalogError(problem, path=str(path))


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key: a PEM file, or base64 as a signed head has it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        text = path.read_bytes()
        found = (
            load_pem_public_key(text)
            if text.startswith(b"-----")
            else Ed25519PublicKey.from_public_bytes(base64.b64decode(text))
        )
    except (OSError, ValueError):
        found = None
    if not isinstance(found, Ed25519PublicKey):
        raise CatalogError("public-key-missing", path=path)
    return found


def _private_key(path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise CatalogError("private-key-missing", path=path)
    return found
