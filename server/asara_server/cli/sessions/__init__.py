"""The work that commands do after parsing their options.

A session loads the referee and gRPC, or numerical libraries, which takes longer than printing
`asara COMMAND --help`. So a command imports its session only when it runs.
"""
