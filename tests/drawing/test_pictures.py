"""Pictures of definitions and instances, and where they are shown."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import resvg_py

from swf_temporal import Definition, InvalidDefinition, UsageError, load, simulate
from swf_temporal.drawing.building import picture_of
from swf_temporal.drawing.model import Box, Picture, cut, width_of
from swf_temporal.drawing.outline import Outline, OutlinePart, Way
from swf_temporal.drawing.placing import settled
from swf_temporal.drawing.svg import page_of, png_of, svg_of
from swf_temporal.simulation.model.scenario import Scenario
from swf_temporal.simulation.reading import find_scenarios, workflows_of
from tests.drawing.overlaps import overlaps

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def orders() -> Picture:
    return load(ROOT / "examples" / "orders" / "orders.sw.yaml").picture()


def _box(picture: Picture, path: str) -> Box:
    return next(box for box in picture.scope.every_box if box.path == path)


def test_every_part_and_way_is_drawn(orders: Picture) -> None:
    definition = load(ROOT / "examples" / "orders" / "orders.sw.yaml")
    assert [box.path for box in orders.scope.every_box] == [part.path for part in definition.outline.every_part]
    inner = _box(orders, "Reserve and charge").inner
    assert inner is not None
    assert [box.name for box in inner.boxes] == ["goods", "money"]
    ways = {(arrow.on, arrow.source, arrow.target) for arrow in orders.scope.arrows}
    assert ("error", "Reserve and charge", "Tell the customer we are sorry") in ways
    assert ("condition", "Is everything there", "Tell the customer we are sorry") in ways
    assert ("start", "", "Check stock") in ways
    assert [mark.kind for mark in orders.scope.marks] == ["start", "end", "end"]


def test_svg_names_parts_as_histories_do(orders: Picture) -> None:
    """Programs find a state by its path, and screen readers have a title for it and for every arrow."""
    svg = ET.fromstring(svg_of(orders))  # noqa: S314 - our own
    parts = [one for one in svg.iter(f"{SVG}g") if "part" in one.get("class", "").split()]
    assert "Reserve and charge/money" in {one.get("data-path") for one in parts}
    assert len({one.get("id") for one in parts}) == len(parts)
    arrows = [one for one in svg.iter(f"{SVG}g") if "arrow" in one.get("class", "").split()]
    assert all((one.findtext(f"{SVG}title") or "").strip() for one in [*parts, *arrows])


def test_page_with_several(orders: Picture) -> None:
    page = page_of([orders, orders])
    assert (page.count("<svg"), page.count("<style>")) == (2, 1)
    ids = page.split(' id="')[1:]
    assert len({one.split('"')[0] for one in ids}) == len(ids)


def test_hostile_texts_stay_texts() -> None:
    bad = '<img src=x onerror="alert(1)">&\'\x1b'
    states = [
        {"name": bad, "type": "switch", "dataConditions": [{"name": bad, "condition": '${ . == "<b>" }', "end": True},
                                                           {"condition": '${ . == "<b>" }', "end": True}],
         "defaultCondition": {"transition": "B"}},
        {"name": "B", "type": "inject", "data": {bad: bad}, "end": True},
    ]  # fmt: skip
    definition = load({"id": "hostile", "name": bad, "specVersion": "0.8", "states": states})
    page = page_of([definition.picture()])
    assert "<img" not in page
    assert "<b>" not in page
    assert 'onerror="' not in page
    ET.fromstring(svg_of(definition.picture()))  # noqa: S314 - our own


def test_long_texts_are_cut_and_kept_in_titles() -> None:
    data = {"text": "long " * 100}
    definition = load({"id": "a", "specVersion": "0.8",
                       "states": [{"name": "A", "type": "inject", "data": data, "end": True}]})  # fmt: skip
    picture = definition.picture()
    line = _box(picture, "A").lines[0]
    assert line.text.endswith("…")
    assert line.full.count("long") == 100
    titles = [one.text for one in ET.fromstring(svg_of(picture)).iter(f"{SVG}title")]  # noqa: S314 - our own
    assert line.full in titles


@pytest.mark.parametrize("text", ["", "a", "wide 漢字 text", "é́", "W" * 50])
def test_what_is_cut_fits(text: str) -> None:
    assert width_of(cut(text, 80, 11), 11) <= 80


@pytest.mark.parametrize("folder", ["compensation", "direktiv", "drafts", "switch", "versions"])
def test_every_language_can_be_read(folder: str) -> None:
    """In whatever language a definition is, no label lies on anything, and no arrow runs through a state."""
    scenarios = find_scenarios([ROOT / "tests" / "scenarios" / folder])
    found = {one.digest: one for scenario in scenarios[::4] for one in _definitions(scenario)}
    assert len(found) > 2
    for one in found.values():
        picture = one.picture()
        assert overlaps(picture.scope) == [], one.source.name
        ET.fromstring(svg_of(picture))  # noqa: S314 - our own


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.sw.yaml")), ids=lambda path: path.parent.name)
def test_examples_can_be_read(path: Path) -> None:
    assert overlaps(load(path).picture().scope) == []


def test_no_line_says_the_title_again() -> None:
    states = [{"name": "A", "type": "inject", "data": {}, "end": True}]
    picture = load({"id": "plain", "specVersion": "0.8", "states": states}).picture()
    assert (picture.title, picture.subtitles) == ("plain", ())


def _definitions(scenario: Scenario) -> list[Definition]:
    try:
        return workflows_of(scenario)
    except InvalidDefinition:  # of which some are about
        return []


def test_sixty_states_can_be_read() -> None:
    names = [f"State number {number}" for number in range(60)]
    definition = load({
        "id": "sixty",
        "specVersion": "0.8",
        "functions": [{"name": "work", "type": "custom"}],
        "errors": [{"name": "declined"}],
        "states": [_state(number, names) for number in range(60)],
    })  # fmt: skip
    picture = definition.picture()
    assert len(picture.scope.boxes) == 60
    assert overlaps(picture.scope) == []


def test_what_is_too_much_is_refused() -> None:
    def parts(jumps: int) -> tuple[OutlinePart, ...]:
        return tuple(
            OutlinePart(f"s{number}", "operation", f"s{number}",
                        ways=tuple(Way("condition", f"s{(number * 7 + jump) % 400}", "if so") for jump in range(jumps)))
            for number in range(400)
        )  # fmt: skip

    with pytest.raises(UsageError, match="too many for a picture"):
        picture_of(Outline(parts(3)), "jumps", [])
    dense = tuple(
        OutlinePart(
            f"s{n}", "operation", f"s{n}", ways=tuple(Way("condition", f"s{(n * 7 + k) % 80}") for k in range(3))
        )
        for n in range(80)
    )
    assert len(picture_of(Outline(dense), "dense", []).scope.arrows) == 241
    chain = tuple(OutlinePart(f"s{n}", "inject", f"s{n}", ways=(Way("completion", f"s{n + 1}"),)) for n in range(1000))
    assert len(picture_of(Outline(chain), "chain", []).scope.boxes) == 1000


def _state(number: int, names: list[str]) -> dict[str, object]:
    onward = {"transition": names[number + 1]} if number + 1 < len(names) else {"end": True}
    if number % 7 == 2:
        jumps = [
            {"condition": f'${{ .amount > {number} and .kind == "private" }}', "transition": names[(number * 5) % 60]},
            {"name": "is urgent", "condition": "${ .urgent }", "transition": names[min(number + 6, 59)]},
        ]
        return {"name": names[number], "type": "switch", "dataConditions": jumps, "defaultCondition": onward}
    if number % 7 == 4:
        branches = [{"name": name, "actions": [{"functionRef": "work"}]} for name in ("left", "right")]
        return {"name": names[number], "type": "parallel", "branches": branches, **onward}
    handler = {"onErrors": [{"errorRef": "declined", "transition": names[-1]}]} if number % 7 == 1 else {}
    return {"name": names[number], "type": "operation", "actions": [{"functionRef": "work"}], **handler, **onward}


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


STATES = [{"name": "Nap", "type": "sleep", "duration": "PT1S", "end": True}]
DEFINITION: Definition = load({"id": "shown", "specVersion": "0.8", "states": STATES})


def test_definitions_and_simulations_are_drawn() -> None:
    """A definition is its picture; a simulation has the run on it, and a timeline. No id is there twice."""
    drawn, run = DEFINITION._repr_html_(), simulate(DEFINITION)._repr_html_()
    assert drawn is not None
    assert run is not None
    assert (drawn.count("<svg "), run.count("<svg ")) == (1, 2)
    assert 'data-path="Nap" class="part time done"' in run
    ids = [one.split('"')[0] for one in (drawn + run).split(' id="')[1:]]
    assert len(set(ids)) == len(ids)


def test_without_the_extra_there_is_a_text() -> None:
    program = (
        "import sys; sys.modules['pygraphviz'] = None\n"
        "from swf_temporal import load\n"
        f"definition = load({{'id': 'a', 'specVersion': '0.8', 'states': {STATES!r}}})\n"
        "print(definition._repr_html_())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "None\n"


def test_a_png_has_the_text(orders: Picture) -> None:
    """With whatever font there is, such as the one that Debian installs."""
    drawn = svg_of(orders)
    try:
        png = png_of(drawn)
    except UsageError as error:
        pytest.skip(f"NOT TRIED: {error}")
    assert png != png_of(re.sub(r"<text.*?</text>", "", drawn, flags=re.DOTALL))


def test_a_png_without_a_font_is_refused(orders: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have no text; what to install is told."""
    monkeypatch.setattr(resvg_py, "svg_to_bytes", partial(resvg_py.svg_to_bytes, skip_system_fonts=True))
    with pytest.raises(UsageError, match="PNG needs a font, and none is installed") as told:
        png_of(svg_of(orders))
    assert "fonts-dejavu-core" in str(told.value.hint)
