"""People of an open study: their identities, their answers about themselves, and their erasure."""
