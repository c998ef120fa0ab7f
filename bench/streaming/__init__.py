"""Joins of live streams in steady state, against other engines: one workload a file, one contender a file.

A contender on Spark is a function from a session and a play to a DataFrame with the ids
of each match, handed to ``on_spark``; any other is a function from a play to what it found.
"""
