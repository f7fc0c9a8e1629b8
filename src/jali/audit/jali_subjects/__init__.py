"""Jali itself under audit: questions, whole sessions and streams, asked through the public interface."""
