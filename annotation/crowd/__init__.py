"""Crowd studies: tasks for people who come to this server, and pages for platforms that show tasks themselves."""
