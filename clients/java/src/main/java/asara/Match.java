package asara;

import asara.v1.Action;
import asara.v1.Clocks;
import asara.v1.Decision;
import asara.v1.Edition;
import asara.v1.Limits;
import asara.v1.MatchStarted;
import asara.v1.RuleSet;
import asara.v1.View;
import asara.v1.Welcome;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.Set;

/** A match, from the seat of one bot. */
public final class Match {
  private final MatchStarted started;
  private final Welcome welcome;
  private final Set<RuleSet> ruleSets;
  private final String seed;
  private final Random random;
  private final Verifier verifier;

  Match(MatchStarted started, Welcome welcome, String seed, Verifier verifier) {
    this.started = started;
    this.welcome = welcome;
    this.ruleSets = Set.copyOf(started.getRuleSetsList());
    this.seed = seed;
    this.random = new Random(hash(seed + "/" + started.getMatchId() + "/" + started.getSeat()));
    this.verifier = verifier;
  }

  /** Name of the match. */
  public String matchId() {
    return started.getMatchId();
  }

  /** This bot's seat, 0 to {@link #seats} - 1. */
  public int seat() {
    return started.getSeat();
  }

  /** Number of seats. */
  public int seats() {
    return started.getSeats();
  }

  /** Rule sets of the match, such as {@link RuleSet#RULE_SET_GIFTS}. */
  public Set<RuleSet> ruleSets() {
    return ruleSets;
  }

  /** Prices, spaces, tile counts and awards, which may differ between editions. */
  public Edition edition() {
    return started.getEdition();
  }

  /** Time limits in microseconds. */
  public Clocks clocks() {
    return started.getClocks();
  }

  /** View of the seat when the match started; each decision carries a newer one. */
  public View view() {
    return started.getView();
  }

  /** Name of this bot's entry in the match or tournament. */
  public String entry() {
    return welcome.getEntry();
  }

  /** Limits that the referee enforces. */
  public Limits limits() {
    return welcome.getLimits();
  }

  /** Random numbers that depend on {@code ASARA_SEED}, the match and the seat alone. */
  public Random random() {
    return random;
  }

  /**
   * Returns one of the legal actions, chosen by the rule that bots in every language share.
   *
   * <p>The choice depends on {@code ASARA_SEED}, the match, the seat and the decision alone, so a
   * repeated call returns the same action.
   */
  public Action randomAction(Decision decision) {
    int count = decision.getLegalActionsCount();
    return decision.getLegalActions(
        randomIndex(seed, matchId(), seat(), decision.getDecisionId(), count));
  }

  /** The message MatchStarted, which also has the commitment to the deal, and {@code resumed}. */
  public MatchStarted started() {
    return started;
  }

  /**
   * SHA-256 digest of the messages of the match received so far, 32 bytes.
   *
   * <p>At the end it equals the digest of this seat in the replay, unless messages were lost when
   * the stream broke.
   */
  public byte[] digest() {
    return verifier.digest();
  }

  /** Returns the index, below {@code count}, that the rule of random starters chooses. */
  static int randomIndex(String seed, String matchId, int seat, long decisionId, int count) {
    long number = hash(seed + "/" + matchId + "/" + seat + "/" + decisionId);
    return (int) Long.remainderUnsigned(number, count);
  }

  /** Returns the first 8 bytes of the SHA-256 of a text. */
  private static long hash(String text) {
    return ByteBuffer.wrap(Sha256.of(Sha256.utf8(text))).getLong();
  }
}
