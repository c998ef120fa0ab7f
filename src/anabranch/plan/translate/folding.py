"""The characters that Spark and DuckDB map to another case differently, as classes of a regular expression.

Found by mapping every code point with Spark 4.3 and DuckDB 2.0.  Most have no one character in
the other case; some are newer than DuckDB's tables; capital sigma depends on what follows it.
"""


def _class(spans: str) -> str:
    points = ("-".join(f"\\x{{{end}}}" for end in span.split("-")) for span in spans.split())
    return "[" + "".join(points) + "]"


UPPER = _class("""
    DF 149 19B 1F0 264 390 3B0 587 1C8A 1E96-1E9A 1F50 1F52 1F54 1F56 1F80-1FAF 1FB2-1FB4 1FB6-1FB7 1FBC 1FC2-1FC4
    1FC6-1FC7 1FCC 1FD2-1FD3 1FD6-1FD7 1FE2-1FE4 1FE6-1FE7 1FF2-1FF4 1FF6-1FF7 1FFC A7CD A7CF A7D3 A7D5 A7DB
    FB00-FB06 FB13-FB17 10D70-10D85 16EBB-16ED3
""")

LOWER = _class("""
    130 3A3 1C89 A7CB-A7CC A7CE A7D2 A7D4 A7DA A7DC 10D50-10D65 16EA0-16EB8
""")
