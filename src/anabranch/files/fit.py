"""Rows of text held to the types of their columns; a row that does not fit goes apart with its reason.

Cost: a pass a column; only bad rows are looked at one by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anabranch.core.times import Mask
from anabranch.files import utf8
from anabranch.files.batches import BadRow
from anabranch.files.json_text import json_texts, objects
from anabranch.files.typed_text import OF_TYPE


def fit(raw: pa.RecordBatch, schema: pa.Schema) -> tuple[pa.RecordBatch, list[BadRow]]:
    """*raw* in the types of *schema*; columns that are not text have their type already."""
    texts: list[pa.Array] = []
    values: list[pa.Array] = []
    misfits: list[Mask | None] = []
    for field, column in zip(schema, raw.columns, strict=True):
        text, misfit = utf8.decoded(column) if pa.types.is_binary(column.type) else (column, None)
        value = text
        if text.type != field.type:
            value, misfit = OF_TYPE[field.type].convert(text)
        texts.append(text)
        values.append(value)
        misfits.append(misfit)
    batch = pa.RecordBatch.from_arrays(values, schema=schema)
    found = [misfit for misfit in misfits if misfit is not None]
    if not found:
        return batch, []
    bad = np.logical_or.reduce(found)
    return batch.filter(pa.array(~bad)), _bad_rows(batch, texts, misfits, np.flatnonzero(bad))


def _bad_rows(
    batch: pa.RecordBatch, texts: list[pa.Array], misfits: list[Mask | None], rows: npt.NDArray[np.intp]
) -> list[BadRow]:
    """The rows with what was written where a value does not fit; the first such column is the reason."""
    reasons = np.full(len(rows), None, object)
    cells = []
    take = pa.array(rows)
    for field, value, text, misfit in zip(batch.schema, batch.columns, texts, misfits, strict=True):
        cell = json_texts(value.take(take))
        if misfit is not None:
            here = misfit[rows]
            written = text.take(take)
            cell = pc.if_else(pa.array(here), json_texts(written), cell)
            for i in np.flatnonzero(here & (reasons == None)):  # noqa: E711 (elementwise)
                reasons[i] = f"column {field.name}: {_refusal(field.type, written[i].as_py())}"
        cells.append(cell)
    rows_text = objects(batch.schema.names, cells, len(rows)).to_pylist()
    return [BadRow(str(reason), row) for reason, row in zip(reasons, rows_text, strict=True)]


def _refusal(kind: pa.DataType, written: str) -> str:
    return OF_TYPE[kind].refusal(written) if kind in OF_TYPE else utf8.REASON
