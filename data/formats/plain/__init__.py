"""Users' own tables with plain columns: as files, and as rows in memory."""
