"""A text classifier, fine-tuned from a language model, for tables of sentiment."""
