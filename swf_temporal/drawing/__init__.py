"""Diagrams of definitions and of runs, as SVG and as HTML pages."""
