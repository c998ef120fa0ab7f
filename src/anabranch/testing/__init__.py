"""The test kit: timelines as text, an oracle, runtimes to play them on, and random ones for Hypothesis.

    >>> from anabranch.testing.on_operator import on_operator
    >>> from anabranch.testing.play import check
    >>> from anabranch.testing.timeline import timeline
    >>> case = timeline("a-b 0..5, b-c 0..5 | a@1 b@4 ! c@8 | a@1 b@4 c@8")
    >>> dict(check(case, on_operator(case)).matches)  # by the numbers of the tuples: the event that completes it
    {(0, 0, 0): 3}

``timeline`` explains the notation; ``on_operator`` plays a case on a join algorithm, ``on_session``
as SQL text; ``play.check`` judges; ``strategies`` needs the extra ``test``.
"""
