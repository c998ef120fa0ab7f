"""Which of several rows of one time comes first, where nobody can say which of them came first.

A count window asks for the order of arrival.  A DataFrame has none within a batch: a
batch that is begun anew may be cut into other tasks, or its rows come out of a shuffle
in another order.  So rows of one time are taken in the order of their values, column by
column, which is the same in every attempt; those that are equal in all that the query
reads are equal in its answer too.

Cost: a sort of the batch; texts of columns that have no order, such as lists.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from anabranch.engine.join import Arrived
from anabranch.files.json_text import json_texts


def settled(arrived: Arrived) -> Arrived:
    """The rows by time, and at equal times by their values."""
    columns = [json_texts(column) if pa.types.is_nested(column.type) else column for column in arrived.rows.columns]
    keys = pa.record_batch([pa.array(arrived.times), *columns], [str(i) for i in range(len(columns) + 1)])
    order = pc.sort_indices(keys, [(name, "ascending") for name in keys.schema.names])
    return Arrived(arrived.times[order.to_numpy()], arrived.rows.take(order))
