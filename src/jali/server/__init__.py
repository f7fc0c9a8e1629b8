"""The server: an HTTP API and a page in the browser, over one database. Thin: decode, call, encode."""
