"""Measurements against other engines: one workload a file, one contender a file, every answer checked."""
