"""Shows items to people and collects their judgements."""
