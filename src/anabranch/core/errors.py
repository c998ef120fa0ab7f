"""The user's mistakes, each told in one line.

``Refused`` says what is wrong, where, and what would be right.  It is the only
exception that the command line turns into exit status 1; everything else that
escapes is a defect of ours and keeps its traceback.
"""

from __future__ import annotations


class Refused(ValueError):
    """A query or an input that cannot be right, refused before anything is lost."""

    def __init__(self, what: str, hint: str = "", at: tuple[int, int] | None = None) -> None:
        place = f"line {at[0]}, column {at[1]}: " if at else ""
        line = place + what + (f"; {hint}" if hint else "")
        super().__init__(" ".join(line.split()))
        self.what, self.hint, self.at = what, hint, at

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str, tuple[int, int] | None]]:
        return type(self), (self.what, self.hint, self.at)
