"""What a recording means: pure functions from rows and arrays to answers. No GPU, no web."""
