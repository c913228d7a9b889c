"""Pictures of definitions and of runs, as SVG and as pages."""
