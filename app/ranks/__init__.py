"""The Ranks page: the ranks of a job side by side, and what is said of them."""
