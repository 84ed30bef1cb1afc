"""A recording as Chrome trace events, the JSON that ui.perfetto.dev opens."""
