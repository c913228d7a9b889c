"""The stub services of a scenario, which its functions really call."""
