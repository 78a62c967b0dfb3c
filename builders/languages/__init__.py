"""Subjects and predicates in languages other than English, by the tables and rules of a language's folder."""
