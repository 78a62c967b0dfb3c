"""Words of languages: articles, inflection, word lists, BLANKs, near-duplicates."""
