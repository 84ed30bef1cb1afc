"""Everything that touches CUDA: attaching to a program and recording its graphs."""
