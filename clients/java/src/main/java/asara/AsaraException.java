package asara;

/** Base class of all exceptions of this package; the message is a single line. */
public sealed class AsaraException extends RuntimeException
    permits ConfigurationException, BotException, RefusedException, ConnectionLostException {
  private static final long serialVersionUID = 1;

  AsaraException(String message) {
    super(message);
  }

  /** Exit status of a bot that {@link Asara#run} ends because of this exception. */
  public int exitStatus() {
    return 1;
  }

  /** Returns the text on a single line. */
  static String line(String text) {
    String line = text == null ? "" : String.join(" ", text.strip().split("\\s+"));
    return line.isEmpty() ? "no details" : line;
  }
}
