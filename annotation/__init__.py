"""Put items in front of people and bring their judgements home."""
