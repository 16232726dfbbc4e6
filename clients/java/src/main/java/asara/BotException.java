package asara;

/** The author's program misuses this package; for example, {@code decide} returned null. */
public final class BotException extends AsaraException {
  private static final long serialVersionUID = 1;

  BotException(String message) {
    super(message);
  }
}
