"""SQL text to a ``Query``, or one line that says what is wrong.

The text becomes a tree (``dialect``, ``statement``), the tree a query (``reader``): FROM is
read by ``members``, conditions by ``predicate`` and ``kinds``, windows by ``windows`` and
``differences``, and what is left is the ``shell``.
"""

from anabranch.plan.sql.names import UnknownFunction, UnknownStream
from anabranch.plan.sql.reader import parse, tables

__all__ = ["UnknownFunction", "UnknownStream", "parse", "tables"]
