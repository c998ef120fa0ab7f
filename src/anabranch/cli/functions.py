"""The user's Python functions: the public ones that a file defines, by name."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from anabranch.cli.usage import named
from anabranch.core.errors import Refused


def add_functions_option(parser: argparse.ArgumentParser) -> None:
    """``--functions FILE.py``."""
    parser.add_argument("--functions", metavar="FILE.py", type=named, help="Python functions that the query may call")


def functions_of(path: str | None) -> dict[str, Callable[..., Any]]:
    """The functions in the file at *path*; none without one."""
    if path is None:
        return {}
    spec = importlib.util.spec_from_file_location("anabranch_functions", path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise Refused(f"the functions file '{path}' is no Python file", "name a .py file")
    module = importlib.util.module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # nothing of ours beside the user's file
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the user's file raises is the user's mistake)
        raise Refused(f"the functions file '{path}' raised {type(error).__name__}: {error}") from None
    finally:
        sys.dont_write_bytecode = before
    return {
        name: value for name, value in vars(module).items() if not name.startswith("_") and _defined_in(module, value)
    }


def _defined_in(module: ModuleType, value: object) -> bool:
    """Whether a value is a function of this file, compiled by numba or not, and not one that it imports."""
    function = getattr(value, "py_func", value)
    return inspect.isfunction(function) and function.__module__ == module.__name__
