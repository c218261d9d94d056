"""Recorded changes scored again, and recorded views rebuilt, in sandboxes."""
