package asara;

import asara.v1.Action;
import asara.v1.Decision;
import asara.v1.Event;
import asara.v1.MatchEnded;
import asara.v1.Rejection;
import java.util.List;

/**
 * Plays one seat of one match; every match gets its own instance.
 *
 * <p>All methods are called from the thread that called {@link Asara#run}, one at a time: while a
 * bot decides in one match, the clocks of its other matches run.
 */
public interface Bot {
  /** Returns one of the legal actions of the decision. Called once per decision. */
  Action decide(Decision decision);

  /**
   * Returns the action for this decision, followed by actions for the next decisions of the turn;
   * by default, what {@link #decide} returns.
   *
   * <p>The actions are applied in order while each is legal. The first illegal one ends the list
   * without penalty, and the next decision is asked as usual.
   */
  default List<Action> decideSeveral(Decision decision) {
    Action action = decide(decision);
    return action == null ? null : List.of(action);
  }

  /**
   * Called when the match starts, or resumes in a new process ({@link Match#started()
   * match.started().getResumed()}).
   */
  default void started() {}

  /**
   * Called with new events, each once and in order, before the decision that follows them.
   *
   * <p>Events arrive with decisions and the result or, with {@link Settings#liveUpdates}, after
   * every turn.
   */
  default void updated(List<Event> events) {}

  /**
   * Returns another answer after the referee rejected one; only a few are forgiven per match. The
   * default is the first legal action.
   */
  default Action rejected(Decision decision, Rejection rejection) {
    return rejection.getLegalActions(0);
  }

  /** Called with the result; it has one entry per seat, in seat order. */
  default void ended(MatchEnded result) {}
}
