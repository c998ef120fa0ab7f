from __future__ import annotations

import sys
import weakref

from anabranch.files import csv
from anabranch.files.handed import handed


def test_nothing_of_pythons_is_held() -> None:
    text = b"1,2\n" * 1_000
    held = sys.getrefcount(text)
    reader = handed(text)
    assert sys.getrefcount(text) == held
    assert reader.read() == text


def test_a_function_is_let_go_of_when_its_rows_are_read() -> None:
    class Skip:
        def __call__(self, row: object) -> str:
            return "skip"

    skip = Skip()
    gone = weakref.ref(skip)
    assert csv._table(b"1,2\n3\n", ["a", "b"], skip).num_rows == 1
    del skip
    assert gone() is None
