"""The Dash application: reads recordings, never touches CUDA."""
