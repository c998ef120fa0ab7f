"""Join algorithms, one a file, and the definition that all of them equal."""
