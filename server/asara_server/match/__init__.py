"""One match as a state machine, without a clock or I/O."""
