"""Every sentence that we list stands in the texts of the specification, and is not softer or harder in our words."""

from typing import Final

import pytest

from tests.conformance.generate import DIREKTIV, DSL, Sentence, sentences
from tests.conformance.texts import TEXTS, departures, found, places

pytestmark = [
    pytest.mark.spec,
    pytest.mark.skipif(not TEXTS.is_dir(), reason=f"the texts of the specification are not at {TEXTS}"),
]

LISTED = (*sentences(), *sentences(DIREKTIV), *sentences(DSL))
PLACED = [one for one in LISTED if any(places().get(one.id, {}).values())]
WEIGHED: Final = {
    "parallel-state/num-completed-expression": "what is demanded is the number, and not that it is a text",
    "event/correlate-several-rules": "the text has two rules and says of the second what must be",
    "auth/oauth2": "what is demanded is the grant: auth/oauth2-grants",
    "auth/oauth2-client": "what may be there is the secret, in the row beside it",
    "correlation/attribute-value": "what must be is the value, where one is said",
    "action/non-retryable-errors": "what is limited is when the list is used: action/non-retryable-errors-alone",
    "action/retryable-errors": "what is limited is when the list is used: action/retryable-errors-alone",
    "schedule/duration-only": "the word only is of the interval",
    "end/switch": "the second half is from the table of states",
    "retry-definition/examples": "the other numbers stand beside the other examples",
    "workflow-timeouts/durations": "8601 is the number of the norm",
    "workflow-compensation/sequential": "one after the other is what an order means",
    "workflow-compensation/never-active": "never is of the states, in our words as in the text",
}
"""Sentences whose words differ in strength from those by which they are found, and why they mean the same."""


def test_every_sentence_has_a_place() -> None:
    """The words by which sentences are found belong to sentences, and each has some."""
    assert {one.id for one in LISTED} == places().keys()


@pytest.mark.parametrize("sentence", PLACED, ids=lambda one: one.id)
def test_a_sentence_reads_as_the_text(sentence: Sentence) -> None:
    """What a sentence says stands in every text that it is said to be of, and as strongly there as in our words."""
    words = places()[sentence.id]
    reads = {text: found(sentence, text) for text in sentence.texts if words.get(text)}
    assert [text for text, there in reads.items() if there is None] == [], f"not in the text: {words}"
    together = " ".join(there for there in reads.values() if there)
    if sentence.id in WEIGHED:
        assert departures(sentence.says, together), "nothing is left to weigh"
    else:
        assert not departures(sentence.says, together), f"{sentence.says}\n{together}"


def test_most_sentences_have_a_place_of_their_own() -> None:
    """Nine of ten sentences are compared with the place where they stand."""
    assert len(PLACED) > 0.9 * len(LISTED)


def test_what_is_softer_or_harder_is_told() -> None:
    """A sentence that permits what the text demands is found, and the other way round, and so is another number."""
    assert departures("A call may have a selection set.", "selectionSet | a valid selection set | string | yes")
    assert departures("The name must be given.", "name | the name of it | string | no")
    assert departures("There are 3 attempts.", "There are 4 attempts.")
    assert not departures("A call must have a selection set.", "selectionSet | a valid selection set | string | yes")
