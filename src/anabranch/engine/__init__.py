"""A join and its predicate over Arrow batches: what the runtimes share."""
