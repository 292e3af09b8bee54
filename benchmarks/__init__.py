"""novikoff side by side with its peers: every figure is a ratio measured in one run. `python -m benchmarks --help`."""
