package asara;

import asara.v1.Action;
import asara.v1.Decision;

/** The bot of a {@link DecideFunction}. */
record FunctionBot(DecideFunction function, Match match) implements Bot {
  @Override
  public Action decide(Decision decision) {
    return function.decide(decision, match);
  }
}
