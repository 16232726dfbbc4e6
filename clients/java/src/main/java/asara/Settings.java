package asara;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The options of a bot; those that are null or empty come from the environment. {@link #builder}
 * creates them.
 *
 * @param address ASARA_ADDRESS: address of the referee, {@code host:port} or {@code unix:/path}
 * @param token ASARA_TOKEN: secret that identifies this bot to the referee; never logged
 * @param seat ASARA_SEAT: expected seat, if this process plays a single match
 * @param seed ASARA_SEED: seed of {@link Match#random} and of nonces; without one every run differs
 * @param ca ASARA_CA: certificate (PEM) of the authority that signed the referee's; without one
 *     there is no TLS
 * @param transcript ASARA_TRANSCRIPT: folder for transcripts, one file per match with all messages
 *     received
 * @param botName name and version of the program, for the referee's logs; truncated to 64 bytes
 * @param maxMatches maximum number of matches played at once
 * @param liveUpdates true to receive events after every turn instead of with the next decision
 * @param omitPublicView true to omit the public view from decisions, for bots that follow the
 *     events
 * @param patience ASARA_PATIENCE_S: time to try to reach the referee before giving up
 */
public record Settings(
    String address,
    String token,
    Integer seat,
    String seed,
    String ca,
    String transcript,
    String botName,
    int maxMatches,
    boolean liveUpdates,
    boolean omitPublicView,
    Duration patience) {

  private static final Duration DEFAULT_PATIENCE = Duration.ofSeconds(30);
  private static final Pattern ADDRESS = Pattern.compile("unix:.*|.+:[0-9]+");

  /** Returns a builder of settings that all come from the environment. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds {@link Settings}. */
  public static final class Builder {
    private String address = "";
    private String token = "";
    private Integer seat;
    private String seed;
    private String ca = "";
    private String transcript = "";
    private String botName = "";
    private int maxMatches = 1;
    private boolean liveUpdates;
    private boolean omitPublicView;
    private Duration patience;

    private Builder() {}

    /** Sets the address of the referee, {@code host:port} or {@code unix:/path}. */
    public Builder address(String address) {
      this.address = address;
      return this;
    }

    /** Sets the secret that identifies this bot to the referee. */
    public Builder token(String token) {
      this.token = token;
      return this;
    }

    /** Sets the expected seat, if this process plays a single match. */
    public Builder seat(int seat) {
      this.seat = seat;
      return this;
    }

    /** Sets the seed of {@link Match#random} and of nonces. */
    public Builder seed(String seed) {
      this.seed = seed;
      return this;
    }

    /** Sets the certificate file (PEM) of the authority that signed the referee's; enables TLS. */
    public Builder ca(Path ca) {
      this.ca = ca.toString();
      return this;
    }

    /** Sets the folder for transcripts. */
    public Builder transcript(Path folder) {
      this.transcript = folder.toString();
      return this;
    }

    /** Sets name and version of the program, for the referee's logs. */
    public Builder botName(String botName) {
      this.botName = botName;
      return this;
    }

    /** Sets the maximum number of matches played at once; default 1. */
    public Builder maxMatches(int maxMatches) {
      this.maxMatches = maxMatches;
      return this;
    }

    /** Requests events after every turn instead of with the next decision. */
    public Builder liveUpdates(boolean liveUpdates) {
      this.liveUpdates = liveUpdates;
      return this;
    }

    /** Omits the public view from decisions, for bots that follow the events. */
    public Builder omitPublicView(boolean omitPublicView) {
      this.omitPublicView = omitPublicView;
      return this;
    }

    /** Sets the time to try to reach the referee before giving up; default 30 seconds. */
    public Builder patience(Duration patience) {
      this.patience = patience;
      return this;
    }

    /** Returns the settings. */
    public Settings build() {
      return new Settings(
          address,
          token,
          seat,
          seed,
          ca,
          transcript,
          botName,
          maxMatches,
          liveUpdates,
          omitPublicView,
          patience);
    }
  }

  /** Returns the settings without the token. */
  @Override
  public String toString() {
    return "Settings[address=%s, botName=%s]".formatted(address, botName);
  }

  /** Returns settings completed from the environment. */
  Settings complete(Map<String, String> environment) {
    Settings found =
        new Settings(
            or(address, environment.get("ASARA_ADDRESS")),
            or(token, environment.get("ASARA_TOKEN")),
            seat == null ? parseSeat(or(environment.get("ASARA_SEAT"), "")) : seat,
            seed == null ? or(environment.get("ASARA_SEED"), "") : seed,
            or(ca, environment.get("ASARA_CA")),
            or(transcript, environment.get("ASARA_TRANSCRIPT")),
            botName == null ? "" : botName,
            maxMatches,
            liveUpdates,
            omitPublicView,
            patience == null ? parsePatience(environment.get("ASARA_PATIENCE_S")) : patience);
    found.check();
    return found;
  }

  private void check() {
    List<String> missing = new ArrayList<>();
    if (address.isEmpty()) {
      missing.add("ASARA_ADDRESS");
    }
    if (token.isEmpty()) {
      missing.add("ASARA_TOKEN");
    }
    if (!missing.isEmpty()) {
      throw new ConfigurationException(
          ("%s %s not set: start this bot with `asara match`, or set ASARA_ADDRESS"
                  + " (host:port or unix:/path) and ASARA_TOKEN")
              .formatted(String.join(" and ", missing), missing.size() == 1 ? "is" : "are"));
    }
    if (!ADDRESS.matcher(address).matches()) {
      throw new ConfigurationException(
          "ASARA_ADDRESS is '%s': expected host:port or unix:/path".formatted(address));
    }
    if (maxMatches < 1) {
      throw new ConfigurationException(
          "maxMatches is %d: expected 1 or more".formatted(maxMatches));
    }
    if (patience.isNegative()) {
      throw new ConfigurationException("patience is %s: expected 0 or more".formatted(patience));
    }
  }

  /** Returns the certificates of {@code ca}, or null without TLS. */
  byte[] certificates() {
    if (ca.isEmpty()) {
      return null;
    }
    byte[] content;
    try {
      content = Files.readAllBytes(Path.of(ca));
    } catch (IOException e) {
      throw new ConfigurationException(
          ("ASARA_CA: cannot read '%s' (%s); expected the certificate of the authority that"
                  + " signed the referee's certificate")
              .formatted(ca, Log.reason(e)));
    }
    try {
      var factory = CertificateFactory.getInstance("X.509");
      if (!factory.generateCertificates(new ByteArrayInputStream(content)).isEmpty()) {
        return content;
      }
    } catch (CertificateException e) {
      // The same fault as no certificate at all.
    }
    throw new ConfigurationException("ASARA_CA: '%s' contains no PEM certificate".formatted(ca));
  }

  /** Returns the folder for transcripts, creating it if needed; null without transcripts. */
  Path transcriptFolder(Map<String, String> environment) {
    if (transcript.isEmpty()) {
      return null;
    }
    if (!or(environment.get("ASARA_CONTAINED"), "").isEmpty()) {
      throw new ConfigurationException(
          "a transcript is asked for, but the sandbox of this bot is deleted with everything in it;"
              + " play with --sandbox none, or without the transcript");
    }
    try {
      return Files.createDirectories(Path.of(transcript));
    } catch (IOException e) {
      throw new ConfigurationException(
          "ASARA_TRANSCRIPT: cannot create the folder '%s' (%s); choose a writable one"
              .formatted(transcript, Log.reason(e)));
    } catch (InvalidPathException e) {
      throw new ConfigurationException(
          "ASARA_TRANSCRIPT: cannot create the folder '%s' (%s); choose a writable one"
              .formatted(transcript, e.getReason()));
    }
  }

  private static Integer parseSeat(String text) {
    if (text.isEmpty()) {
      return null;
    }
    if (!text.matches("[0-9]{1,9}")) {
      throw new ConfigurationException(
          "ASARA_SEAT is '%s': expected a seat number".formatted(text));
    }
    return Integer.valueOf(text);
  }

  private static Duration parsePatience(String text) {
    if (text == null || text.isEmpty()) {
      return DEFAULT_PATIENCE;
    }
    if (!text.matches("[0-9]{1,9}(\\.[0-9]+)?")) {
      throw new ConfigurationException(
          "ASARA_PATIENCE_S is '%s': expected seconds, such as 30 or 0.5".formatted(text));
    }
    return Duration.ofNanos((long) (Double.parseDouble(text) * 1e9));
  }

  private static String or(String value, String otherwise) {
    if (value != null && !value.isEmpty()) {
      return value;
    }
    return otherwise == null ? "" : otherwise;
  }
}
