"""Tools for long runs: run identities, Ray workers, asynchronous work."""
