"""The pages: each module renders one address of the application."""
