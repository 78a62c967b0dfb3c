"""Studies with crowds: seats for people who come by themselves, and pages for platforms that show them."""
