import pytest
from bench.workload import HERE, Contender, Workload, contender, names, workload

from bench import rounds


@pytest.mark.parametrize("room", ["contenders", "workloads"])
def test_every_file_of_a_room_is_found(room):
    files = [path.stem for path in (HERE / room).iterdir() if path.suffix == ".py" and path.stem != "__init__"]
    assert names(room) == sorted(files)


@pytest.mark.parametrize("name", names("contenders"))
def test_a_contender_file_binds_its_contender(name):
    assert isinstance(contender(name), Contender)


@pytest.mark.parametrize("name", names("workloads"))
def test_a_workload_makes_the_same_case_again(name):
    chosen = workload(name)
    assert isinstance(chosen, Workload)
    for make in chosen.cases.values():
        one, other = make(rounds.TINY), make(rounds.TINY)
        assert one.streams == other.streams
        assert all(table.column("ts").type == "int64" for table in one.streams.values())
        assert {(a, b) for a in one.streams for b in one.streams if a != b} == {
            (b.earlier, b.later) for b in one.bounds
        }


def test_the_base_of_the_ratios_comes_first():
    assert rounds.contenders()[0] == "duckdb"


def test_a_workload_may_name_who_takes_part():
    found = rounds.points("growth", workload("growth"), rounds.contenders(), 1.0)
    assert {(point.variant, point.contender) for point in found} == {("1x", "anabranch"), ("10x", "anabranch")}
