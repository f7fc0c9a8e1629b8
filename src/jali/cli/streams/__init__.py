"""`jali stream`: durable streams from the command line."""
