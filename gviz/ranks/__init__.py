"""The ranks of a distributed job beside each other: their clocks, and who is late or slow."""
