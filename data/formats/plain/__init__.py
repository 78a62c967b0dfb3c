"""Plain columns of a table of a person's own: as files, and as rows in memory."""
