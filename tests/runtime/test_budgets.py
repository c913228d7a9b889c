"""How long may an instance go on without waiting, and what of that does another execution take over?"""

from contextlib import ExitStack

import pytest

from swf_temporal.base.errors import PayloadTooLarge, StepLimitExceeded, TooManySubflows
from swf_temporal.runtime.budgets import (
    MIN_DEPTH,
    MIN_DESCENDANTS,
    MIN_EXECUTIONS,
    MIN_STATES,
    STATES,
    Budget,
    InstanceLimits,
)


def _entered(budget: Budget, times: int) -> Budget:
    for _ in range(times):
        budget.enter("A")
    return budget


def test_states_are_limited_that_began_without_waiting() -> None:
    """As many as the limit are too many; one less is not. The message names the states of the cycle."""
    budget = _entered(Budget("w", {}), 99)
    limits = InstanceLimits(states=100)
    budget.check_states(limits)
    budget.enter("B")
    with pytest.raises(StepLimitExceeded, match=r"^100 states ran without waiting for anything, .*'A' and 'B'"):
        budget.check_states(limits)


def test_waiting_begins_the_count_anew() -> None:
    budget = _entered(Budget("w", {"executions": 3, "continued:w": 2, "states": 5}), 2)
    assert budget.carried() == {"executions": 3, "continued:w": 2, "states": 7}
    budget.waited()
    assert budget.carried() == {}
    budget.enter("A")
    assert budget.carried() == {"states": 1}


@pytest.mark.parametrize("numbers", [{"states": 1}, {"executions": 1}])
def test_waiting_counts_whichever_was_counted(numbers: dict[str, int]) -> None:
    budget = Budget("w", numbers)
    budget.waited()
    assert budget.carried() == {}


def test_limits_are_asked_for_when_an_instance_has_come_far() -> None:
    """At the least limit first, and then when it has come twice as far, but at the limit at the latest."""
    budget = _entered(Budget("w", {}), MIN_STATES - 1)
    assert not budget.asks_for_states
    assert not budget.is_suspicious
    budget.enter("A")
    assert budget.asks_for_states
    assert budget.is_suspicious
    budget.check_states(InstanceLimits())
    assert not budget.asks_for_states
    assert not _entered(budget, MIN_STATES - 1).asks_for_states
    assert _entered(budget, 1).asks_for_states
    budget.check_states(InstanceLimits(states=2 * MIN_STATES + 1))
    assert not budget.asks_for_states
    assert _entered(budget, 1).asks_for_states
    budget.waited()
    assert not budget.asks_for_states
    assert _entered(budget, MIN_STATES).asks_for_states


def test_a_state_is_limited_that_begins_with_the_same_data_without_waiting() -> None:
    """Sooner than others, since nothing can change any more; with as many states as may run, later."""
    budget = Budget("w", {})
    for _ in range(4_999):
        budget.enter("A")
        budget.enter_with("A", {"n": 1})
    budget.check_states(InstanceLimits())
    budget.enter_with("A", {"n": 1})
    assert budget.asks_for_states
    budget.check_states(InstanceLimits(states=5_001 * 2_000))
    with pytest.raises(StepLimitExceeded, match="'A' began with the same data 5,000 times without waiting"):
        budget.check_states(InstanceLimits(states=STATES))
    budget.waited()
    assert not budget.asks_for_states
    budget.check_states(InstanceLimits())


def test_other_data_is_another_round() -> None:
    budget = Budget("w", {})
    for n in range(6_000):
        budget.enter("A")
        budget.enter_with("A", {"n": n})
    budget.check_states(InstanceLimits())


def test_executions_are_limited_that_began_without_waiting() -> None:
    """One more than the limit is refused before it begins; the message names the workflows of the cycle."""
    limits = InstanceLimits(executions=3)
    second = Budget("w", Budget("v", {}).of_next())
    second.check_executions(limits)
    third = Budget("v", second.of_next())
    third.check_executions(limits)
    fourth = _entered(Budget("w", third.of_next()), 1)
    told = "^3 executions were started without waiting for anything, each by the one before: .*'v' and 'w'.*'A'"
    with pytest.raises(StepLimitExceeded, match=told):
        fourth.check_executions(limits)
    fourth.waited()
    fourth.check_executions(limits)


def test_limits_of_executions_are_asked_for_late() -> None:
    assert not Budget("w", {"executions": MIN_EXECUTIONS - 1}).asks_for_executions
    assert Budget("w", {"executions": MIN_EXECUTIONS}).asks_for_executions


def test_sub_workflows_are_limited_that_wait_for_one_another() -> None:
    limits = InstanceLimits(depth=2)
    first = Budget("v", {})
    first.check_depth(limits)
    second = Budget("w", first.of_child())
    second.check_depth(limits)
    third = Budget("v", second.of_child())
    assert third.depth == 2
    with pytest.raises(StepLimitExceeded, match=r"'v' and 'w' run each other, and no more than 2 levels are run"):
        third.check_depth(limits)


def test_limits_of_depth_are_asked_for_late() -> None:
    assert not Budget("w", {"depth": MIN_DEPTH - 1}).asks_for_depth
    assert Budget("w", {"depth": MIN_DEPTH}).asks_for_depth


def _asking(depth: int, limit: int) -> list[int]:
    """Return at which depths limits are asked for until one more level is refused."""
    asked, budget = [], Budget("w", {})
    while budget.depth < depth:
        if budget.asks_for_depth:
            asked.append(budget.depth)
            try:
                budget.check_depth(InstanceLimits(depth=limit))
            except StepLimitExceeded:
                return asked
            assert not budget.asks_for_depth
        budget = Budget("w", Budget("w", budget.of_child()).carried())
    return asked


def test_limits_of_depth_are_asked_for_where_it_has_doubled() -> None:
    assert _asking(1000, 500) == [20, 40, 80, 160, 320, 500]
    assert _asking(1000, 25) == [20, 25]
    assert _asking(1000, 20) == [20]


def _waiting(budget: Budget, children: int, of: str) -> int:
    """Return how many instances there are, by estimate, where *budget* waits for so many."""
    with ExitStack() as stack:
        for _ in range(children):
            stack.enter_context(budget.waiting_for_child())
        return budget.spread(of)


def test_descendants_are_the_product_of_all_levels() -> None:
    outer = Budget("outer", {})
    assert _waiting(outer, 100, "inner") == 100
    inner = Budget("inner", Budget("inner", outer.of_child(100)).carried())
    assert [_waiting(inner, n, "leaf") for n in (1, 1, 20)] == [100, 100, 2_000]
    assert (_waiting(inner, 3, "inner"), _waiting(inner, 3, "outer")) == (900, 900)
    assert (_waiting(inner, 1, "inner"), _waiting(outer, 1, "outer")) == (400, 1)
    assert "spread" not in inner.of_detached()
    assert "spread" not in outer.of_child(1)


def test_descendants_are_limited() -> None:
    """Asked for late, where they have doubled, and at the limit; it names who runs them."""
    budget, limits = Budget("b", {"within:a": 1, "depth": 1}), InstanceLimits(descendants=5_000)
    assert not budget.asks_for_descendants(MIN_DESCENDANTS - 1)
    asked = []
    for spread in range(MIN_DESCENDANTS, 5_001):
        if budget.asks_for_descendants(spread):
            asked.append(spread)
            budget.check_descendants("c", spread, limits)
    assert asked == [1_000, 2_000, 4_000]
    assert budget.asks_for_descendants(5_001)
    for child, told in (("c", "'a' and 'b' run them"), ("a", "'a' and 'b' run each other")):
        with pytest.raises(TooManySubflows, match=f"{told}, and no more than 5,000 are run"):
            budget.check_descendants(child, 5_001, limits)


def test_what_is_detached_asks_anew() -> None:
    budget = Budget("w", {"depth": 40})
    budget.check_depth(InstanceLimits())
    assert budget.of_child()["asksAtDepth"] == 80
    assert "asksAtDepth" not in budget.of_detached()
    assert budget.over({"asksAtDepth": 7, "depth": 7, "a/b": 1}, {"depth": 2}) == {"a/b": 1, "depth": 2}


def test_a_child_takes_over_how_deep_it_is_alone() -> None:
    parent = _entered(Budget("a:b/c", {"executions": 2, "continued:x": 2, "depth": 4, "within:y": 4}), 3)
    assert parent.of_child() == {"within:y": 4, "within:a%3Ab%2Fc": 5, "depth": 5}
    assert Budget("z", parent.of_child()).carried() == parent.of_child()


def test_the_next_execution_takes_over_all_and_one_more() -> None:
    this = _entered(Budget("w", {"executions": 2, "continued:x": 2, "depth": 1, "within:y": 1}), 3)
    of_next = {"executions": 3, "continued:x": 2, "continued:w": 3, "depth": 1, "within:y": 1, "states": 3}
    assert this.of_next() == of_next
    assert this.of_detached() == {"executions": 3, "continued:x": 2, "continued:w": 3, "states": 3}


def test_numbers_of_others_are_left_alone() -> None:
    """A run that goes on carries its own numbers in place of those that it began with, and all others as they are."""
    numbers = {"f/1": 7, "depth": 1, "states": 5, "executions": 2, "within:y": 1, "continued:x": 2}
    assert Budget("w", {}).over(numbers, {"states": 9, "within:z": 1}) == {"f/1": 7, "states": 9, "within:z": 1}


def test_limits_survive_as_json() -> None:
    limits = InstanceLimits(1, 2, 3, 4, 5)
    assert limits.to_json() == {"states": 1, "executions": 2, "depth": 3, "heldBytes": 4, "descendants": 5}
    assert InstanceLimits.from_json(limits.to_json()) == limits
    assert InstanceLimits.from_json({}) == InstanceLimits()


def test_what_is_held_is_limited() -> None:
    InstanceLimits(held_bytes=2_000).check_held(2_000)
    with pytest.raises(PayloadTooLarge, match=r"holds 2,001 bytes .*may hold 2,000"):
        InstanceLimits(held_bytes=2_000).check_held(2_001)
