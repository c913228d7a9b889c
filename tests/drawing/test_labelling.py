"""Labels that were far from their arrows, or crossed, are put beside them; others stay."""

from swf_temporal.drawing.placing import settled

DOWN = ((100.0, 0.0), (100.0, 300.0), (100.0, 600.0), (100.0, 900.0))
"""An arrow straight down."""
SIZE = (60.0, 20.0)


def test_a_label_that_is_near_stays() -> None:
    assert settled(300, 900, [], [DOWN], [(SIZE, (130.0, 100.0))]) == [(130.0, 100.0)]


def test_a_label_far_down_its_arrow_comes_to_its_beginning() -> None:
    node = (80.0, -40.0, 300.0, 30.0)
    [middle] = settled(300, 900, [node], [DOWN], [(SIZE, (130.0, 800.0))])
    assert middle is not None
    assert (middle[0], 40 <= middle[1] < 60) == (130.0, True)


def test_a_label_that_is_crossed_is_moved() -> None:
    across = ((0.0, 100.0), (50.0, 100.0), (150.0, 100.0), (300.0, 100.0))
    [middle, other] = settled(300, 900, [], [DOWN, across], [(SIZE, (130.0, 100.0)), None])
    assert middle is not None
    assert abs(middle[1] - 100) >= SIZE[1] / 2 - 1
    assert other is None


def test_without_a_better_place_a_label_stays() -> None:
    everywhere = (0.0, 0.0, 300.0, 900.0)
    assert settled(300, 900, [everywhere], [DOWN], [(SIZE, (130.0, 800.0))]) == [(130.0, 800.0)]
