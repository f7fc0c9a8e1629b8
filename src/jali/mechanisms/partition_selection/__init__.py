"""Partition selection: mechanisms that release the group keys that enough people have."""
