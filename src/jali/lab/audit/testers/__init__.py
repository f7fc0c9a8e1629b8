"""The stages of an audit, one in a file."""
