"""A session over HTTP, and the JSON documents that the command line, the server and its client share.

The documents are imported when the command line starts: this package imports nothing itself.
"""
