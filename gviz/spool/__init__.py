"""The spool: raw records of a watched process, and folding them into a recording."""
