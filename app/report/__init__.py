"""What analyses say of a graph, as parts of a page."""
