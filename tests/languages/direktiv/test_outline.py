"""Is a definition described in the words of the language?"""

from datetime import UTC, datetime
from textwrap import dedent

from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.describing import Description
from swf_temporal.languages.loading import load

ORDERS = """
id: /shop/orders
start: {type: scheduled, cron: 0 9 * * 1-5, state: ask}
timeouts: {kill: PT1H}
functions:
  - {id: charge, type: knative-workflow, image: example.com/charge}
  - {id: ship, type: subflow, workflow: ./ship.yaml}
states:
  - {id: sorry, type: error, error: shop.sorry, message: Sold out}
  - id: ask
    type: eventsXor
    timeout: PT1M
    events: [{event: {type: paid}, transition: pay}, {event: {type: refused}}]
    catch: [{error: "direktiv.*", transition: sorry}]
  - id: pay
    type: action
    async: true
    action: {function: charge, retries: {max_attempts: 3, codes: [bank.*]}}
    transition: each
  - {id: each, type: foreach, array: jq(.parcels), action: {function: ship}, transition: way}
  - {id: way, type: switch, conditions: [{condition: jq(.late), transition: both}], defaultTransition: told}
  - {id: both, type: parallel, mode: or, actions: [{function: charge}, {function: ship}]}
  - {id: told, type: generateEvent, event: {type: shipped, source: shop}, transition: kept}
  - {id: kept, type: setter, variables: [{key: last, scope: workflow, value: 1}], transition: got}
  - {id: got, type: getter, variables: [{key: last, scope: workflow}], transition: fits}
  - {id: fits, type: validate, schema: {type: object}, transition: rest}
  - {id: rest, type: delay, duration: PT1S}
"""


def test_text() -> None:
    definition = load(ORDERS)
    ship = load({"id": "/shop/ship.yaml", "states": [{"id": "a", "type": "noop"}]})
    description = Description(
        definition, Catalogue([definition, ship]), datetime(2030, 5, 3, 12, tzinfo=UTC), lambda _: {}
    )
    sections = description.text().split("\n\n")

    assert sections[0].splitlines()[2:4] == ["  starts in ask", "  started at 09:00 on Monday to Friday (UTC)"]
    assert sections[1] == dedent(
        """\
        states
          ask: eventsXor
            waits for paid or refused
            timeout PT1M
            → pay, on paid
            → end, on refused
            → sorry, on error direktiv.*
          sorry: error
            fails at its end with shop.sorry: Sold out
            → end
          pay: action
            calls charge, without waiting for it, again 3 times at most on bank.*
            → each
          each: foreach
            each of jq(.parcels)
            runs workflow ./ship.yaml
            → way
          way: switch
            → both, if jq(.late)
            → told, otherwise
          both: parallel
            the first of these
            calls charge
            runs workflow ./ship.yaml
            → end
          told: generateEvent
            produces shipped
            → kept
          kept: setter
            stores last
            → got
          got: getter
            loads last
            → fits
          fits: validate
            compares the data with a schema
            → rest
          rest: delay
            waits PT1S
            → end"""
    )
    assert "sub-workflows\n  /shop/ship.yaml: found in " in description.text()
    assert sections[-1] == "timeouts\n  kill PT1H"
