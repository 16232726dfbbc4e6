package asara;

/** The referee ended the stream for a reason that a new connection would not change. */
public final class RefusedException extends AsaraException {
  private static final long serialVersionUID = 1;

  private static final String CLIENT_LIBRARY = "use the client library that comes with the referee";

  private final String code;
  private final String reason;

  RefusedException(String address, String code, String reason, String detail) {
    super(
        "the referee at %s refused this bot (%s): %s%s"
            .formatted(address, reason.isEmpty() ? code : reason, line(detail), advice(code)));
    this.code = code;
    this.reason = reason;
  }

  /** Name of the gRPC status, such as {@code UNAUTHENTICATED}. */
  public String code() {
    return code;
  }

  /** The referee's {@code asara-reason}, such as {@code unknown-token}; empty if it sent none. */
  public String reason() {
    return reason;
  }

  private static String advice(String code) {
    return switch (code) {
      case "UNAUTHENTICATED" ->
          "; set ASARA_TOKEN to what `asara match` printed last, or what the organiser gave you";
      case "FAILED_PRECONDITION", "INVALID_ARGUMENT" -> "; " + CLIENT_LIBRARY;
      case "ABORTED" -> "; each process needs its own token";
      case "RESOURCE_EXHAUSTED" -> "; see the limits in proto/README.md";
      case "UNIMPLEMENTED" -> "; no ASARA referee listens there; check ASARA_ADDRESS";
      default -> "";
    };
  }
}
