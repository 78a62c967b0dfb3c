"""Logs of other evaluation programs as recorded replies."""
