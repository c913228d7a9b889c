"""What a notebook shows of a definition and of a simulation."""

import subprocess
import sys

from swf_temporal import Definition, load, simulate

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
