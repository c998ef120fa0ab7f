from dataclasses import replace

import pytest
from bench.answer import Answer
from bench.contenders import duckdb
from bench.measure import measure
from bench.result import Point, Result, Run, base_of, ratios
from bench.rounds import Effort
from bench.workload import names, workload

from bench import rounds

RIGHT, WRONG = Answer(3, "a1"), Answer(3, "b2")


def result(contender: str, *answers: Answer | None, **other: object) -> Result:
    runs = tuple(Run(rows=100, cpu=1.0, wall=1.0, imports=0, warm_up=0, answer=answer) for answer in answers)
    return Result(replace(Point("w", "", contender, ""), **other), runs)


def test_equal_answers_agree():
    assert rounds.disagreements([result("duckdb", RIGHT, RIGHT), result("anabranch", RIGHT)]) == []


def test_a_wrong_answer_is_told_with_who_gave_it():
    (line,) = rounds.disagreements([result("duckdb", RIGHT), result("anabranch", WRONG)])
    assert "3 matches, b2: w anabranch" in line


def test_one_wrong_run_of_many_is_told():
    assert rounds.disagreements([result("anabranch", RIGHT, WRONG, RIGHT)])


def test_another_size_is_another_question():
    assert rounds.disagreements([result("duckdb", RIGHT), result("pathway", WRONG, scale=0.1)]) == []


def test_an_answer_that_stands_alone_is_checked():
    lonely = [result("duckdb", RIGHT), result("polars", RIGHT), result("pathway", WRONG, scale=0.1)]
    assert rounds.unchecked(lonely, lambda point: ["plain"]) == [Point("w", "", "duckdb", "plain", 0.1)]


def test_what_gives_no_answer_is_not_checked():
    assert rounds.unchecked([result("anabranch", None)], lambda point: ["plain"]) == []


def test_contenders_take_turns_and_patience_ends(monkeypatch):
    order: list[str] = []

    def run(result: Result, effort: Effort) -> Result:
        order.append(result.point.contender)
        wall = 30.0 if result.point.contender == "slow" else 1.0
        return replace(result, runs=(*result.runs, Run(1, wall, wall, 0, 0)))

    monkeypatch.setattr(rounds, "with_one_more", run)
    points = [Point("w", "", name, "") for name in ("duckdb", "slow", "polars")]
    found = rounds.measured(points, Effort(rounds=3, patience=20), lambda line: None)
    assert order == ["duckdb", "slow", "polars", "polars", "duckdb", "polars", "duckdb"]
    assert [len(result.runs) for result in found] == [3, 1, 3]


def test_ratios_pair_the_rounds():
    fast, slow = (
        Result(Point("w", "", "x", ""), tuple(Run(100, cpu, cpu, 0, 0) for cpu in seconds))
        for seconds in ((1.0, 2.0), (3.0, 4.0, 9.0))
    )
    assert ratios(fast, slow) == [3.0, 2.0]


def test_the_base_is_the_fastest_formulation():
    runs = [replace(result("duckdb", RIGHT).runs[0], cpu=cpu) for cpu in (2.0, 1.0)]
    slow, fast = (Result(Point("w", "", "duckdb", f), (run,)) for f, run in zip(("a", "b"), runs, strict=True))
    assert base_of([slow, fast, result("polars", RIGHT)]) is fast


@pytest.mark.parametrize("name", [name for name in names("workloads") if workload(name).figures is None])
def test_all_formulations_of_a_case_agree(name):
    chosen = workload(name)
    for variant, make in chosen.cases.items():
        ways = make(rounds.TINY).duckdb
        answers = {measure(Point(name, variant, "duckdb", way, 0.05), chosen, duckdb.CONTENDER).answer for way in ways}
        assert len(answers) == 1
        (answer,) = answers
        assert answer is not None and answer.matches


def test_a_run_is_a_process_of_its_own():
    (found,) = rounds.measured([Point("band3", "", "duckdb", "cells", 0.005)], Effort(1), lambda line: None)
    assert not found.failure
    assert found.runs[0].rows == 1_500 and found.runs[0].answer and found.runs[0].answer.matches


def test_a_run_that_fails_says_why():
    (found,) = rounds.measured([Point("band3", "", "duckdb", "no such way", 0.005)], Effort(1), lambda line: None)
    assert found.failure == "failed: KeyError: 'no such way'"
