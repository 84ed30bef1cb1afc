"""Pictures of a recording as SVG, drawn without a browser."""
