"""Is the diagram one that Mermaid reads, and does it show the workflow?"""

import re

from swf_temporal.drawing.outline import Outline, OutlinePart
from swf_temporal.languages.describing import Description, diagram_of

ARROW = re.compile(r"^ +(\[\*\]|\w+) --> (\[\*\]|\w+)(?: : (.*))?$")
DECLARED = re.compile(r'^ +state "([^"]*)" as (\w+)$')
OTHER = re.compile(r"^ +(state \w+ \{|\}|--|note right of \w+|end note)$")


def test_order_example(orders: Description) -> None:
    """The order example is drawn with its conditions, its branches and the way that it takes on an error."""
    assert orders.mermaid().splitlines() == [
        "stateDiagram-v2", '    state "Check stock (foreach)" as s1', "    note right of s1",
        "        each of $#123; .items #125; as line, parallel", "        calls checkStock", "    end note",
        '    state "Is everything there (switch)" as s2', '    state "Wait for confirmation (event)" as s3',
        "    note right of s3", "        waits for orderConfirmed", "        eventTimeout P1D", "    end note",
        '    state "Reserve and charge (parallel)" as s4', "    state s4 {", '        state "goods" as s4b1',
        "        state s4b1 {", '            state "reserve#58; calls reserveItem" as s4b1a1',
        "            [*] --> s4b1a1", "            s4b1a1 --> [*]", "        }", "        --",
        '        state "money" as s4b2', "        state s4b2 {",
        '            state "charge#58; calls chargeCard, tried again by patiently" as s4b2a1',
        "            [*] --> s4b2a1", "            s4b2a1 --> [*]", "        }", "    }", "    note right of s4",
        "        until all of these are complete", "    end note", '    state "Let the parcel be packed (sleep)" as s5',
        "    note right of s5", "        waits PT1S", "    end note", '    state "Ship (operation)" as s6',
        "    note right of s6", "        calls createShipment", "        calls notifyCustomer", "    end note",
        '    state "Tell the customer we are sorry (operation)" as s7', "    note right of s7",
        "        calls notifyCustomer", "    end note", "    [*] --> s1", "    s1 --> s2",
        "    s2 --> s7 : something is missing", "    s2 --> s3 : otherwise", "    s3 --> s4", "    s4 --> s5",
        "    s4 --> s7 : ┄ on error payment declined ┄", "    s5 --> s6", "    s6 --> [*] : produces orderShipped",
        "    s7 --> [*]",
    ]  # fmt: skip


def test_every_state_type(every: Description) -> None:
    """A diagram has every state, and every arrow in it leads from one that is declared to another."""
    lines = every.mermaid().splitlines()
    declared = {match[2]: match[1] for line in lines if (match := DECLARED.match(line))}
    assert [declared[f"s{number}"] for number, _ in enumerate(every.facts["parts"], start=1)] == [
        f"{state['name']} ({state['kind']})" for state in every.facts["parts"]
    ]
    ends = {end for line in lines if (match := ARROW.match(line)) for end in match.groups()[:2]}
    assert ends == {*declared, "[*]"} - {"s6b1", "s6b2"}
    assert "    s2 --> s10 : ┄ undone by ┄" in lines
    assert "    s2 --> [*] : ┄ on error *, the end of all paths ┄" in lines


def test_every_line_is_of_the_grammar(every: Description) -> None:
    """Lines are declarations, arrows, brackets, and notes between their two marks; no text can end one early."""
    in_note = False
    for line in every.mermaid().splitlines()[1:]:
        in_note = (in_note or line.strip().startswith("note right of")) and line.strip() != "end note"
        assert in_note or ARROW.match(line) or DECLARED.match(line) or OTHER.match(line), line
        label = (match := ARROW.match(line)) and match[3]
        assert not re.search(r"[:\"{}<>]|(?<!#\d\d)(?<!#\d\d\d);", label or "")


def test_texts_are_escaped_and_cut() -> None:
    """What means something to Mermaid is written as a code, and a long text is cut before that."""
    name = "end note; %% " + "x" * 90
    assert f'state "end#32;note#59; #37;#37; {"x" * 46}…" as s1' in diagram_of(
        Outline((OutlinePart(name, "inject", name),))
    )
