"""What commands do with their options.

A session loads the referee and gRPC, or numerical libraries, which takes longer than `asara COMMAND
--help`. A command therefore imports its session when it runs.
"""
