"""The ground: records, and every format they come in and leave by."""
