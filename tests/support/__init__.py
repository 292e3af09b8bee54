"""What tests of several packages share: Hypothesis strategies, interrupts at every bytecode, forks, corrupt
matrices."""
