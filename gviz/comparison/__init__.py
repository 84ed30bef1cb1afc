"""Two recordings of one program, or of two versions of it: what is the same, what changed."""
