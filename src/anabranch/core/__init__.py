"""The theory as code: windows, frontiers, buffers and the operator contract; knows neither SQL nor a runtime."""
