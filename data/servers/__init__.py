"""Clients of OpenAI-compatible servers."""
