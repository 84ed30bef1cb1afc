"""A graph page as one HTML file that opens without a server."""
