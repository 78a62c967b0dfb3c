"""Builders of benchmark items; each rejected record becomes a refusal with a reason."""
