"""Checks of stores for `catsofa verify`."""
