"""Every example in a docstring of the package is executed."""

import doctest
import importlib
import pkgutil

import pytest

import anabranch

FOUND = (module.name for module in pkgutil.walk_packages(anabranch.__path__, "anabranch."))
MODULES = ["anabranch", *(name for name in FOUND if not name.endswith(".__main__"))]  # these run when imported


@pytest.mark.parametrize("name", MODULES)
def test_every_example_in_a_docstring_does_what_it_says(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
