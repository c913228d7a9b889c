"""The host in this process: a virtual clock, scripted functions and events. It never imitates durability."""

from swf_temporal.errors import CallFailed
from swf_temporal.simulation.simulate import Simulation, SimulationError, simulate

__all__ = ["CallFailed", "Simulation", "SimulationError", "simulate"]
