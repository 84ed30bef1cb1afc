"""Where the nodes of a graph stand: numpy in, numpy out, no drawing."""
