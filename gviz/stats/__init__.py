"""Numbers over many values: statistics, sketches, intervals of confidence, merged spans."""
