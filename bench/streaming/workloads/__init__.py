"""The workloads, one a file, found by their place."""
