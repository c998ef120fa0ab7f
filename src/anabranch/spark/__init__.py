"""The Spark runtime: one stateful operator for all streams of a join, in Structured Streaming and in batch."""
