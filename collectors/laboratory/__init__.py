"""``gviz bench``: what graphs cost and save on this GPU, measured."""
