"""`jali token`: who may come in through a server."""
