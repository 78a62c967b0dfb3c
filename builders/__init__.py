"""Make benchmark items, and say what was refused and why."""
