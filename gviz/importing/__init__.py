"""What other profilers wrote, read into recordings."""
