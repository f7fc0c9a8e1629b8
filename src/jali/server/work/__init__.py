"""Work that takes a while: pools, bounded queues, and the questions that are being answered."""
