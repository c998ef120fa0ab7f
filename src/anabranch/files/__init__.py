"""Finite streams in files, and files for the rows that come out: Parquet, CSV and JSON lines."""

from anabranch.files.batches import BadRow, Batch
from anabranch.files.json_text import row_json, rows_json
from anabranch.files.sink import Sink, open_sink, output_argument
from anabranch.files.source import ARRIVAL, FileSource, Source, open_source, stream_argument

__all__ = [
    "ARRIVAL",
    "BadRow",
    "Batch",
    "FileSource",
    "Sink",
    "Source",
    "open_sink",
    "open_source",
    "output_argument",
    "row_json",
    "rows_json",
    "stream_argument",
]
