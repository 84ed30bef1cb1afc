"""What graphs cost on a GPU: shapes of work, figures, fitted lines. No GPU is used here."""
