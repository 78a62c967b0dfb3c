"""Word-level language tools: articles, inflection, word lists, BLANKs, near-duplicates."""
