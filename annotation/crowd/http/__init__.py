"""The web server of an open study: guards, the pages before the work, the work, and the process."""
