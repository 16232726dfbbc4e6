"""The referee of ASARA: serves matches, runs tournaments, and checks the files that they wrote."""

import os

# gRPC reads these when it is imported, which every process does after this package. It would warn
# about the fork that starts a bot, although an exec follows at once. It would also write errors to
# standard error that quote strangers, such as the server name of a TLS handshake, with every
# control character. Whoever examines gRPC itself sets GRPC_VERBOSITY. A listener of its event
# engine, which Python has had since 1.80, reads every socket in a thread of its own; without it, a
# decision takes a third less processor time. A release without that experiment ignores its name.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_listener")
