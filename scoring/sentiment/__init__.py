"""A classifier of texts, fine-tuned from a language model, for tables of sentiment."""
