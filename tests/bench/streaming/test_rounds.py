from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench.answer import Answer
from bench.streaming.checksum import answer
from bench.streaming.feed import Feed
from bench.streaming.measure import Order, found, written
from bench.streaming.report import Measured, report, summary
from bench.streaming.rounds import Result, Site, by_clock, by_processor, checked, turns, wrong
from bench.streaming.truth import Truth
from bench.streaming.workload import Claim, Found, Play, Workload

from bench.streaming import rounds

FEED = Feed(streams="ab", rows=1_000, keys=10, ticks=5, batches=2, warm_up=1)
MATCHES = pa.table({"a": [1, 1, 2], "b": [5, 6, 5], "newest": [3, 7, 9]})
TRUTH = Truth("ab", MATCHES)


def run(rows: pa.Table = MATCHES, seconds: float = 1.0, worked: float = 2.0, final: int | None = None) -> Found:
    return Found(1_000, seconds, worked, answer(rows, "ab"), final)


def result(*runs: Found, contender: str = "spark_rocksdb") -> Result:
    return Result(contender, FEED, runs)


@pytest.fixture
def look(monkeypatch, tmp_path):
    """A look at runs, of which one more writes the rows that it is told."""

    def looked(before: Result, rows: pa.Table) -> Result:
        def again(result: Result, site: Site, work: Path, matches: Path | None) -> Found:
            assert matches is not None
            matches.mkdir()
            pq.write_table(rows, matches / "1.parquet")
            return run(rows, final=before.runs[0].final)

        monkeypatch.setattr(rounds, "_run", again)
        return checked(before, Site(tmp_path, {}, 1), TRUTH)

    return looked


def test_a_right_answer_needs_no_other_look(look):
    after = look(result(run()), MATCHES)
    assert after.checked is None and wrong(after, TRUTH, False) == []


def test_an_answer_may_end_where_it_is_final(look):
    after = look(result(run(MATCHES.slice(0, 2), final=7)), MATCHES)
    assert after.checked is None and wrong(after, TRUTH, False) == []


def test_missing_matches_are_a_failure(look):
    after = look(result(run(MATCHES.slice(1))), MATCHES.slice(1))
    assert "spark_rocksdb: 1 of 3 matches are missing, 0 are too many" in wrong(after, TRUTH, False)


def test_missing_matches_of_a_contender_that_is_known_for_it_are_told(look):
    after = look(result(run(MATCHES.slice(1))), MATCHES.slice(1))
    assert wrong(after, TRUTH, True) == []
    assert after.checked is not None and after.checked.missing == 1


def test_matches_that_should_not_be_there_are_always_a_failure(look):
    twice = MATCHES.take([0, 1, 2, 2])
    assert wrong(look(result(run(twice)), twice), TRUTH, True)


def test_one_wrong_run_of_many_is_told(look):
    after = look(result(run(), run(MATCHES.slice(2)), run()), MATCHES)
    assert any("is not the right answer" in line for line in wrong(after, TRUTH, False))


def test_contenders_take_turns_and_one_that_failed_is_left():
    order: list[str] = []

    def play(result: Result) -> Result:
        order.append(result.contender)
        return Result(result.contender, FEED, failure="no") if result.contender == "b" else result

    turns([result(contender=name) for name in "abc"], 3, play)
    assert order == ["a", "b", "c", "c", "a", "c", "a"]


def test_ratios_pair_the_rounds():
    fast, slow = (
        result(run(seconds=1, worked=1), run(seconds=2, worked=4)),
        result(run(seconds=3, worked=2), run(seconds=4, worked=4)),
    )
    assert by_clock(fast, slow) == [3, 2]
    assert by_processor(fast, slow) == [2, 1]


def test_orders_and_answers_come_through_to_another_process(tmp_path):
    for matches in (None, tmp_path / "matches"):
        order = Order("flink", Play(FEED, {"a": tmp_path / "a", "b": tmp_path / "b"}, tmp_path, matches))
        assert Order.of(order.text()) == order
    told = Found(10, 1.0, 2.0, Answer(3, "ab"), final=7, figures={"state rows": 12.0})
    assert found(written(told)) == told


def test_a_process_that_fails_says_why(tmp_path):
    site = Site(tmp_path, {"no_such": None}, limit=60)
    assert rounds.once(result(contender="no_such"), site).failure.startswith("failed: ModuleNotFoundError")


WORKLOAD = Workload(
    "Two streams",
    "Said plainly.",
    FEED,
    bases=("spark_rocksdb",),
    claims=(Claim("Flink is twice as fast", "flink", 2, "spark_rocksdb"), Claim("Anabranch is fast", "anabranch", 10)),
)


def test_the_report_says_how_fast_and_how_much_faster():
    found = [result(run(seconds=4)), result(run(seconds=1, worked=1), contender="flink")]
    measured = Measured("two", WORKLOAD, found, [], {"spark_heap": "it is not installed"})
    text = report([measured], {"cores": "2"}, "python -m bench.streaming")
    assert (
        "| Flink SQL, 1 run | 1,000 | 1.0 (1.0-1.0) | 1.0 (1.0-1.0) | 1,000 (1,000-1,000) | 3 | 0 | 0 | 4 (4-4) / 2 |"
        in text
    )
    assert "- Spark, state in the heap is not there: it is not installed" in text
    assert summary(measured) == ["met: Flink is twice as fast (measured: 4)"]


def test_tables_are_as_wide_as_their_heads():
    found = [result(run()), Result("flink", FEED, failure="not finished after 600 s")]
    lines = report([Measured("two", WORKLOAD, found, [], {})], {}, "").splitlines()
    table = [line for line in lines if line.startswith(("| contender", "|---|--:", "| Spark", "| Flink"))]
    assert len(table) == 4 and len({line.count("|") for line in table}) == 1


def test_a_run_that_failed_says_so_first():
    text = report([Measured("two", WORKLOAD, [], ["flink: 1 of 3 matches are missing"], {})], {}, "")
    assert text.startswith("# Measurements of streams\n\n**This run failed:**\n\n- two: flink: 1 of 3")
