package asara;

import asara.v1.Action;
import asara.v1.PlayRequest;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/**
 * Runs a bot: connects to the referee, and reconnects whenever the stream breaks.
 *
 * <pre>{@code
 * public static void main(String[] args) {
 *   Asara.run((decision, match) -> match.randomAction(decision));
 * }
 * }</pre>
 */
public final class Asara {
  // After any other status a new stream would only end in the same way.
  private static final Set<Status.Code> RETRYABLE =
      EnumSet.of(
          Status.Code.CANCELLED,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.INTERNAL,
          Status.Code.UNAVAILABLE,
          Status.Code.UNKNOWN);
  // A reason of other statuses after which a new stream may be accepted a little later.
  private static final String TOO_MANY_STREAMS = "too-many-streams";
  private static final Metadata.Key<String> REASON =
      Metadata.Key.of("asara-reason", Metadata.ASCII_STRING_MARSHALLER);

  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 2000;

  private final ProtocolClient protocol;
  private final Settings settings;
  private final byte[] certificates;

  private Asara(ProtocolClient protocol, Settings settings, byte[] certificates) {
    this.protocol = protocol;
    this.settings = settings;
    this.certificates = certificates;
  }

  /** {@link #run(Function, Settings)} with the settings of the environment. */
  public static void run(Function<Match, ? extends Bot> newBot) {
    run(newBot, Settings.builder().build());
  }

  /** {@link #run(Function, Settings)} for a bot without memory. */
  public static void run(DecideFunction decide) {
    run(decide, Settings.builder().build());
  }

  /** {@link #run(Function, Settings)} for a bot without memory. */
  public static void run(DecideFunction decide, Settings settings) {
    run(match -> new FunctionBot(decide, match), settings);
  }

  /**
   * Plays until the referee sends Goodbye; the last line of a bot's program.
   *
   * <p>An {@link AsaraException} ends the process with one line on standard error: exit status 2
   * for a missing or invalid setting, otherwise 1. An exception in the author's code ends it with
   * its stack trace and exit status 1.
   *
   * @param newBot creates the bot of a match, as in {@code Asara.run(MyBot::new)}
   * @param settings options that take precedence over the environment
   */
  public static void run(Function<Match, ? extends Bot> newBot, Settings settings) {
    String[] failedDecision = {""};
    try {
      play(newBot, settings, failedDecision);
    } catch (AsaraException e) {
      Log.line("%s", e.getMessage());
      System.exit(e.exitStatus());
    } catch (RuntimeException | Error e) {
      AuthorCode.print(e, failedDecision[0]);
      System.exit(1);
    }
  }

  /**
   * Like {@link #run}, for programs that continue afterwards: throws {@link AsaraException} and
   * never exits.
   */
  public static void play(Function<Match, ? extends Bot> newBot, Settings settings) {
    play(newBot, settings, new String[1]);
  }

  /** Returns the text of an action, such as {@code take red trunk gold}. */
  public static String formatAction(Action action) {
    return ActionFormat.format(action);
  }

  /**
   * Returns the action of a text form, the inverse of {@link #formatAction}.
   *
   * @throws IllegalArgumentException for any other text; its message names the wrong word
   */
  public static Action parseAction(String text) {
    return ActionParser.parse(text);
  }

  private static void play(
      Function<Match, ? extends Bot> newBot, Settings options, String[] failedDecision) {
    Map<String, String> environment = System.getenv();
    Settings settings = options.complete(environment);
    byte[] certificates = settings.certificates();
    Path transcripts = settings.transcriptFolder(environment);
    try (ProtocolClient protocol = new ProtocolClient(newBot, settings, transcripts)) {
      try {
        new Asara(protocol, settings, certificates).playUntilGoodbye();
      } finally {
        failedDecision[0] = protocol.failedDecision();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Plays on one stream after another until the referee sends Goodbye. */
  private void playUntilGoodbye() throws InterruptedException {
    String address = settings.address();
    Duration patience = settings.patience();
    long pause = FIRST_PAUSE_MILLIS;
    long lastContact = System.nanoTime();
    boolean warned = false;
    boolean met = false;
    while (true) {
      long began = System.nanoTime();
      String detail = playStream();
      if (protocol.finished()) {
        return;
      }
      long now = System.nanoTime();
      if (protocol.welcomed()) {
        lastContact = now;
        warned = false;
        met = true;
      } else {
        String fault = met ? "" : TransportFault.find(address, certificates != null);
        if (!fault.isEmpty()) {
          throw new ConfigurationException(fault);
        } else if (now - lastContact > patience.toNanos()) {
          throw new ConnectionLostException(address, patience, detail);
        }
      }
      if (!warned) {
        warned = true;
        Log.line("no connection to %s (%s); retrying", address, detail);
      }
      if (now - began > Duration.ofMillis(LONGEST_PAUSE_MILLIS).toNanos()) {
        pause = FIRST_PAUSE_MILLIS;
      }
      Thread.sleep((long) (pause * ThreadLocalRandom.current().nextDouble(0.5, 1.0)));
      pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    }
  }

  /** Plays on one stream; returns why it broke, or "" after Goodbye. */
  private String playStream() throws InterruptedException {
    try (Connection connection = new Connection(settings.address(), certificates)) {
      connection.send(protocol.hello());
      while (!protocol.finished()) {
        Connection.Received received = connection.receive();
        if (received.message() == null) {
          return breakReason(received.status(), received.trailers());
        }
        PlayRequest request = protocol.handle(received.message());
        if (request != null) {
          connection.send(request);
        }
      }
    } catch (InvalidProtocolBufferException e) {
      return "unreadable response: " + e.getMessage();
    }
    return "";
  }

  /** Returns why the stream broke; throws RefusedException if a new one would not help. */
  private String breakReason(Status status, Metadata trailers) {
    if (status.isOk()) {
      return "closed without a goodbye";
    }
    Status.Code code = status.getCode();
    String found = trailers.get(REASON);
    String reason = found == null ? "" : found;
    if (!RETRYABLE.contains(code) && !reason.equals(TOO_MANY_STREAMS)) {
      String description = status.getDescription();
      throw new RefusedException(
          settings.address(), code.name(), reason, description == null ? "" : description);
    }
    return detail(status);
  }

  /** Returns the text of a status with its innermost cause, which says what gRPC met. */
  private static String detail(Status status) {
    String text =
        status.getDescription() == null ? status.getCode().name() : status.getDescription();
    Throwable cause = status.getCause();
    while (cause != null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause != null && cause.getMessage() != null && !text.contains(cause.getMessage())) {
      text += ": " + cause.getMessage();
    }
    return AsaraException.line(text);
  }
}
