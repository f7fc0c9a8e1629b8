"""Plan counting queries: noise, number of queries and budget."""
