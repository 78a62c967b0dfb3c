"""Records, and the file formats that they are read from and written to."""
