"""Jali itself under audit: its mechanisms, questions, sessions and streams."""
