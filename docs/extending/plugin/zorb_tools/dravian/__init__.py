"""The folder of an invented language."""
