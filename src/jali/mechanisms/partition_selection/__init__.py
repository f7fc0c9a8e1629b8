"""Partition selection: release the group keys that enough people have, without revealing anyone's presence."""
