package asara;

/** A setting is missing or invalid. */
public final class ConfigurationException extends AsaraException {
  private static final long serialVersionUID = 1;

  ConfigurationException(String message) {
    super(message);
  }

  @Override
  public int exitStatus() {
    return 2;
  }
}
