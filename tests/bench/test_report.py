from bench.answer import Answer
from bench.report import Measured, report, summary
from bench.result import Point, Result, Run, speed_to_duckdb
from bench.workload import Claim, Workload

CLAIM = Claim("Anabranch is twice as fast", speed_to_duckdb("anabranch"), at_least=2.0)
JOIN = Workload("A join", "Said plainly.", {}, claims=(CLAIM,))
HAND = Workload("By hand", "Row by row.", {}, figures=lambda by, case: ({}, None), units={"latency": "µs"})


def result(contender: str, *cpu: float, formulation: str = "") -> Result:
    runs = tuple(Run(1_000_000, c, c, 0.1, 0.2, Answer(12, "ab")) for c in cpu)
    return Result(Point("join", "", contender, formulation), runs)


def measured(*results: Result) -> Measured:
    return Measured("join", JOIN, results, {"DuckDB, plain": "SELECT 1"})


def test_a_row_says_who_how_fast_and_how_much_faster():
    text = report(
        [measured(result("duckdb", 2.0, 3.0), result("anabranch", 1.0, 1.0))], {"cores": "2"}, "python -m bench"
    )
    assert "| cores | 2 |" in text
    assert "| command | `python -m bench` |" in text
    assert "| DuckDB, 2 runs | 1,000,000 | 12 | 2.500 (2.000-3.000) | 2.50 | 416,667 | 1 (1-1) | 0.10 | 0.20 |" in text
    assert "| Anabranch, 2 runs | 1,000,000 | 12 | 1.000 (1.000-1.000) | 1.00 | 1,000,000 | 2.5 (2-3) |" in text
    assert "```sql\nSELECT 1\n```" in text


def test_tables_are_as_wide_as_their_heads():
    failed = Result(Point("join", "", "polars", "cells", 0.1), failure="not finished after 600 s")
    lines = report([measured(result("duckdb", 2.0), failed)], {}, "").splitlines()
    table = [
        line for line in lines if (line.startswith("|") and "DuckDB" in line) or "Polars" in line or "---|--:" in line
    ]
    assert len({line.count("|") for line in table}) == 1


def test_a_claim_is_met_or_not():
    assert summary(measured(result("duckdb", 2.0), result("anabranch", 1.0))) == [
        "met: Anabranch is twice as fast (measured: 2)"
    ]
    assert summary(measured(result("duckdb", 2.0), result("anabranch", 4.0)))[0].startswith("NOT MET")


def test_a_claim_without_its_results_is_left_out():
    assert summary(measured(result("duckdb", 2.0))) == []


def test_a_claim_holds_against_the_fastest_formulation():
    slow, fast = result("duckdb", 8.0, formulation="plain"), result("duckdb", 2.0, formulation="cells")
    found = [slow, fast, result("anabranch", 1.0)]
    assert speed_to_duckdb("anabranch")(found) == 2.0
    assert speed_to_duckdb("anabranch", "plain")(found) == 8.0


def test_figures_have_their_units():
    run = Run(10, 1, 1, 0, 0, None, {"latency": 12.345, "rows": 20_000})
    text = report([Measured("hand", HAND, [Result(Point("hand", "", "anabranch", ""), (run,))], {})], {}, "")
    assert "| contender | latency, µs | rows |" in text
    assert "| Anabranch, 1 run | 12.3 | 20,000 |" in text


def test_a_run_that_failed_says_so_first():
    text = report([measured(result("duckdb", 2.0))], {}, "", ["join: two answers"])
    assert text.startswith("# Measurements\n\n**This run failed:**\n\n- join: two answers\n")
