"""The rules that turn a question into a plan, one in each module."""
