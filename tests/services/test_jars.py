import os

import pytest
from tests.services import jars


def test_what_is_not_to_be_had_is_said_in_one_line(tmp_path, monkeypatch):
    unknown = '<ivy-module version="2.0"><info organisation="a" module="b"/><dependencies>'
    unknown += '<dependency org="anabranch" name="no-such-jar" rev="${spark.version}"/></dependencies></ivy-module>'
    (tmp_path / "jars.xml").write_text(unknown)
    monkeypatch.setattr(jars, "NEEDS", tmp_path / "jars.xml")
    monkeypatch.setattr(jars, "FOUND", tmp_path / "found")
    try:
        jars._of_pyspark(), jars.java()
    except jars.Missing as missing:
        pytest.skip(str(missing))
    with pytest.raises(jars.Missing, match=r"^jars of the default cannot be had: .*anabranch"):
        jars.resolve.__wrapped__("default")
    assert not os.listdir(tmp_path / "found")


def test_no_java_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(jars.Missing, match=r"^no java"):
        jars.java()


def test_the_connector_is_that_of_the_installed_spark(connector):
    if connector.instead:
        pytest.skip(f"{connector.version} is used instead: {connector.instead}")
    assert connector.version == jars._of_pyspark()[1]
