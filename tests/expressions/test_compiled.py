"""What compiled expressions yield, and how they complain, as people read it."""

from swf_temporal.expressions.compiled import NOTHING, BadExpression


def test_nothing_says_so() -> None:
    assert (repr(NOTHING), bool(NOTHING)) == ("NOTHING", False)


def test_a_complaint_reads_as_its_message() -> None:
    complaint = BadExpression("no", 3)
    moved = complaint.moved(4)
    assert [(str(one), one.message, one.offset) for one in (complaint, moved)] == [("no", "no", 3), ("no", "no", 7)]
    assert BadExpression("no").moved(4).offset is None
