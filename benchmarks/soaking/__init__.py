"""The parts of `benchmarks.soak`: what is captured, who captures and asks, what is watched meanwhile."""
