"""Choices of chat models: prompts, how replies are read, and estimates of preference and position effect."""
