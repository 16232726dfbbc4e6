package asara;

import asara.v1.Action;
import asara.v1.DealCommitted;
import asara.v1.Decision;
import asara.v1.Event;
import asara.v1.Hello;
import asara.v1.LastEvent;
import asara.v1.MatchEnded;
import asara.v1.MatchStarted;
import asara.v1.PlayRequest;
import asara.v1.PlayResponse;
import asara.v1.Rejection;
import asara.v1.Reply;
import asara.v1.Update;
import asara.v1.Welcome;
import com.google.protobuf.InvalidProtocolBufferException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * The bot's side of the protocol, independent of any transport: responses in, requests out.
 *
 * <p>One instance serves all streams of a process: matches continue after a reconnection.
 */
final class ProtocolClient implements AutoCloseable {
  private static final int PROTOCOL_VERSION = 1;
  private static final int NAME_BYTES = 64; // of Hello.bot_name

  private final Function<Match, ? extends Bot> newBot;
  private final Settings settings;
  private final Path transcripts;
  private final String seed;
  private final Map<String, ActiveMatch> matches = new LinkedHashMap<>();
  // Verifiers of joint deals whose match has not started.
  private final Map<String, Verifier> pending = new HashMap<>();
  private final Watchdog watchdog = new Watchdog();
  private Welcome welcome = Welcome.getDefaultInstance();
  private boolean welcomed;
  private boolean finished;
  // The decision in which the author's code runs; null between decisions.
  private Decision deciding;

  /** A running match with its bot. */
  private static final class ActiveMatch {
    final Bot bot;
    final Verifier verifier;
    // The last event passed to the bot.
    long sequence;
    // The last decision asked, and the reply to it.
    Decision decision = Decision.getDefaultInstance();
    PlayRequest request;

    ActiveMatch(Bot bot, Verifier verifier, long sequence) {
      this.bot = bot;
      this.verifier = verifier;
      this.sequence = sequence;
    }
  }

  ProtocolClient(Function<Match, ? extends Bot> newBot, Settings settings, Path transcripts) {
    this.newBot = newBot;
    this.settings = settings;
    this.transcripts = transcripts;
    this.seed = settings.seed().isEmpty() ? randomSeed() : settings.seed();
  }

  /** Returns the first request of a stream. */
  PlayRequest hello() {
    welcomed = false;
    Hello.Builder hello =
        Hello.newBuilder()
            .setProtocolVersion(PROTOCOL_VERSION)
            .setToken(settings.token())
            .setBotName(truncated(settings.botName()))
            .setLanguage("Java " + System.getProperty("java.version"))
            .setMaxMatches(settings.maxMatches())
            .setLiveUpdates(settings.liveUpdates())
            .setOmitPublicView(settings.omitPublicView());
    matches.forEach(
        (matchId, active) ->
            hello.addLastEvents(
                LastEvent.newBuilder().setMatchId(matchId).setSequence(active.sequence)));
    return PlayRequest.newBuilder().setHello(hello).build();
  }

  /** True once the referee has answered the last {@link #hello}. */
  boolean welcomed() {
    return welcomed;
  }

  /** True once the referee has sent Goodbye. */
  boolean finished() {
    return finished;
  }

  /** Returns match and decision in which the author's code threw an exception, or "". */
  String failedDecision() {
    return deciding == null ? "" : describe(deciding);
  }

  /**
   * Processes one serialized PlayResponse; returns the request that it asks for, or null.
   *
   * @throws InvalidProtocolBufferException if the message cannot be parsed
   */
  PlayRequest handle(byte[] message) throws InvalidProtocolBufferException {
    PlayResponse response = PlayResponse.parseFrom(message);
    switch (response.getResponseCase()) {
      case DECISION:
        return decide(response.getDecision(), message);
      case UPDATE:
        update(response.getUpdate(), message);
        break;
      case MATCH_STARTED:
        startMatch(response.getMatchStarted(), message);
        break;
      case MATCH_ENDED:
        endMatch(response.getMatchEnded(), message);
        break;
      case REJECTION:
        return handleRejection(response.getRejection(), message);
      case DEAL_COMMITTED:
        return sendNonce(response.getDealCommitted(), message);
      case WELCOME:
        welcome = response.getWelcome();
        welcomed = true;
        break;
      case GOODBYE:
        finished = true;
        break;
      case RESPONSE_NOT_SET: // a member that this version does not know
        break;
    }
    return null;
  }

  /** Closes the transcripts of all matches that have not ended. */
  @Override
  public void close() {
    watchdog.close();
    pending.values().forEach(Verifier::close);
    matches.values().forEach(active -> active.verifier.close());
  }

  private PlayRequest sendNonce(DealCommitted committed, byte[] message) {
    String matchId = committed.getMatchId();
    int seat = committed.getSeat();
    if (matches.containsKey(matchId)) {
      Log.line("%s: nonce requested after the match started", matchId);
      return null;
    }
    byte[] nonce = Verifier.makeNonce(settings.seed(), matchId, seat);
    return pending
        .computeIfAbsent(matchId, id -> new Verifier(id, seat, transcripts))
        .dealCommitted(committed, message, nonce);
  }

  private void startMatch(MatchStarted started, byte[] message) {
    String matchId = started.getMatchId();
    ActiveMatch active = matches.get(matchId);
    if (active != null) { // resumed after a reconnection, which the bot need not notice
      active.verifier.record(message);
      active.verifier.matchStarted(started);
      return;
    }
    int seat = started.getSeat();
    Verifier verifier = pending.remove(matchId);
    if (verifier == null) {
      verifier = new Verifier(matchId, seat, transcripts);
    }
    verifier.record(message);
    verifier.matchStarted(started);
    if (settings.seat() != null && settings.seat() != seat) {
      Log.line("%s: seat %d, expected seat %d", matchId, seat, settings.seat());
    }
    watchdog.begin("started() in " + matchId, started.getClocks().getBankUs());
    Bot bot = newBot.apply(new Match(started, welcome, seed, verifier));
    if (bot == null) {
      throw new BotException("the function that creates a bot returned null for " + matchId);
    }
    matches.put(matchId, new ActiveMatch(bot, verifier, started.getSequence()));
    bot.started();
    watchdog.end();
  }

  private void update(Update update, byte[] message) {
    ActiveMatch active = matches.get(update.getMatchId());
    if (active != null) {
      active.verifier.record(message);
      deliverEvents(active, update.getEventsList(), update.getSequence());
    }
  }

  private void endMatch(MatchEnded ended, byte[] message) {
    Verifier cancelled = pending.remove(ended.getMatchId());
    if (cancelled != null) {
      cancelled.record(message);
      cancelled.complete();
    }
    ActiveMatch active = matches.remove(ended.getMatchId());
    if (active != null) {
      active.verifier.record(message);
      active.verifier.matchEnded(ended);
      deliverEvents(active, ended.getEventsList(), ended.getSequence());
      active.bot.ended(ended);
    }
  }

  private PlayRequest decide(Decision decision, byte[] message) {
    ActiveMatch active = matches.get(decision.getMatchId());
    if (active == null) {
      Log.line("%s: decision for an unknown match", decision.getMatchId());
      return null;
    }
    active.verifier.record(message);
    watchdog.begin(decision, decision.getClockUs());
    deciding = decision;
    deliverEvents(active, decision.getEventsList(), decision.getSequence());
    if (decision.getDecisionId() != active.decision.getDecisionId()) {
      active.decision = decision;
      active.request = reply(active, "decide", active.bot.decideSeveral(decision));
    }
    deciding = null;
    watchdog.end();
    return active.request; // a decision repeated after a reconnection gets the same reply
  }

  private PlayRequest handleRejection(Rejection rejection, byte[] message) {
    ActiveMatch active = matches.get(rejection.getMatchId());
    if (active == null) {
      return null;
    }
    active.verifier.record(message);
    if (active.decision.getDecisionId() != rejection.getDecisionId()) {
      return null;
    }
    String detail = rejection.getDetail();
    Log.line(
        "%sthe reply to decision %d of %s was rejected (%s); %s; return one of"
            + " decision.getLegalActionsList() as it is",
        AuthorCode.place(active.bot, "decide"),
        rejection.getDecisionId(),
        rejection.getMatchId(),
        detail.isEmpty() ? rejection.getReason() : detail,
        forgiveness(rejection.getForgiven()));
    watchdog.begin(active.decision, rejection.getClockUs());
    Action action = active.bot.rejected(active.decision, rejection);
    active.request = reply(active, "rejected", action == null ? null : List.of(action));
    watchdog.end();
    return active.request;
  }

  /** Passes on the events that are new to the bot; a reconnection may repeat some. */
  private static void deliverEvents(ActiveMatch active, List<Event> events, long sequence) {
    int count = events.size();
    long fresh = sequence - active.sequence;
    if (count == 0 || fresh <= 0) {
      return;
    }
    active.sequence = sequence;
    int known = (int) Math.max(0, count - fresh);
    active.bot.updated(known == 0 ? events : events.subList(known, count));
  }

  private static PlayRequest reply(ActiveMatch active, String method, List<Action> actions) {
    Decision decision = active.decision;
    if (actions == null || actions.isEmpty() || actions.stream().anyMatch(Objects::isNull)) {
      throw new BotException(
          "%s%s returned %s for decision %d of %s; return one of decision.getLegalActionsList()"
              .formatted(
                  AuthorCode.place(active.bot, method),
                  method,
                  actions == null ? "null" : actions.isEmpty() ? "an empty list" : "null",
                  decision.getDecisionId(),
                  decision.getMatchId()));
    }
    return PlayRequest.newBuilder()
        .setReply(
            Reply.newBuilder()
                .setMatchId(decision.getMatchId())
                .setDecisionId(decision.getDecisionId())
                .addAllActions(actions))
        .build();
  }

  /** Returns the consequence of further rejections if {@code more} are forgiven in the match. */
  private static String forgiveness(int more) {
    if (more == 0) {
      return "the next rejection forfeits the match";
    }
    return "%d more %s forgiven in this match".formatted(more, more == 1 ? "is" : "are");
  }

  private static String describe(Decision decision) {
    String kind = decision.getKind().name();
    if (kind.equals("UNRECOGNIZED")) {
      kind = String.valueOf(decision.getKindValue());
    }
    kind = kind.replace("DECISION_KIND_", "").toLowerCase(Locale.ROOT).replace('_', ' ');
    return "in %s, decision %d (%s)"
        .formatted(decision.getMatchId(), decision.getDecisionId(), kind);
  }

  private static String truncated(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    int end = Math.min(bytes.length, NAME_BYTES);
    while (end < bytes.length && end > 0 && (bytes[end] & 0xc0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }

  private static String randomSeed() {
    byte[] bytes = new byte[16];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
