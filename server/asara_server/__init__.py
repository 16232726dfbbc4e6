"""The referee of ASARA: serves matches, runs tournaments, and checks the files that they wrote."""

import os

# gRPC reads these variables when it is imported, which always happens after this package is
# imported. By default, gRPC would warn about the fork that starts a bot, although an exec follows
# immediately. Its errors on standard error would quote text from unknown clients, such as the
# server name in a TLS handshake, including control characters. To debug gRPC itself, set
# GRPC_VERBOSITY. Since 1.80, gRPC for Python has a listener that reads every socket in a separate
# thread. Without it, a decision takes a third less processor time. Releases that do not have this
# experiment ignore its name.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_listener")
