"""The parts of the Compare page: two graphs, what became of one in the other."""
