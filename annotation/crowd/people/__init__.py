"""The people of an open study: who they are, what they say about themselves, and how they are forgotten."""
