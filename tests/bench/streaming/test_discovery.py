import pytest
from bench.streaming.workload import HERE, Contender, Workload, contender, names, workload


@pytest.mark.parametrize("room", ["contenders", "workloads"])
def test_every_file_of_a_room_is_found(room):
    files = [path.stem for path in (HERE / room).iterdir() if path.suffix == ".py" and path.stem != "__init__"]
    assert names(room) == sorted(files)


@pytest.mark.parametrize("name", names("contenders"))
def test_a_contender_file_binds_its_contender_without_its_engine(name):
    assert isinstance(contender(name), Contender)


@pytest.mark.parametrize("name", names("workloads"))
def test_the_others_are_set_against_contenders_that_exist(name):
    chosen = workload(name)
    assert isinstance(chosen, Workload)
    assert set(chosen.bases) <= set(names("contenders"))
    assert {claim.to for claim in chosen.claims if claim.to} <= set(chosen.bases)
