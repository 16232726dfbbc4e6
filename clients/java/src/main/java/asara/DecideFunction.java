package asara;

import asara.v1.Action;
import asara.v1.Decision;

/** A bot without memory: a function that returns one of the legal actions of a decision. */
@FunctionalInterface
public interface DecideFunction {
  /** Returns one of the legal actions of the decision. Called once per decision. */
  Action decide(Decision decision, Match match);
}
