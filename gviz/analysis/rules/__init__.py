"""Advice: rules that look for one thing each, with what mending it would give back."""
