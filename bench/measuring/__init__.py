"""Parts that benchmarks share: servers in processes of their own, Chromium, reports with goals."""
