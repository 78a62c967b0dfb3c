"""A study on Prolific: its draft, its state, and the settlement of its submissions, through Prolific's API."""
