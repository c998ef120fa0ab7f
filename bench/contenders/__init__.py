"""The contenders, one a file, found by their place."""
