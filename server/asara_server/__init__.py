"""The referee of ASARA: it serves matches, runs tournaments, and checks what they wrote."""

import os

# gRPC reads both when it is imported, which every process does after this package. It would warn
# about the fork that starts a bot, although an exec follows at once. It would also write errors to
# standard error that quote strangers, such as the server name of a TLS handshake, with every
# control character. Whoever examines gRPC itself sets GRPC_VERBOSITY.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
