import asara.Asara;

/** Plays random legal actions. */
public final class Main {
  public static void main(String[] args) {
    Asara.run((decision, match) -> match.randomAction(decision));
  }
}
