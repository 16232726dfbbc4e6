"""The one module between game types and protobuf, shared by the referee and by search bots."""
