"""A measure, a format, a model, a lint rule and a language for catsofa."""
