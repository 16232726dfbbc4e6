package asara;

import java.math.BigDecimal;
import java.time.Duration;

/** No referee could be reached for longer than {@link Settings#patience}. */
public final class ConnectionLostException extends AsaraException {
  private static final long serialVersionUID = 1;

  ConnectionLostException(String address, Duration patience, String detail) {
    super("no referee at %s for %s s: %s".formatted(address, seconds(patience), line(detail)));
  }

  private static String seconds(Duration duration) {
    BigDecimal millis = BigDecimal.valueOf(duration.toMillis(), 3);
    return millis.signum() == 0 ? "0" : millis.stripTrailingZeros().toPlainString();
  }
}
