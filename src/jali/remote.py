"""A database behind a server, for the same `Session`: what is asked here is answered there."""

from jali.client.remote_database import open_session

__all__ = ["open_session"]
