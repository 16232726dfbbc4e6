// Plays random legal actions; the smallest possible bot.
import { run } from "asara";

run((decision, match) => match.randomAction(decision), {
  botName: "typescript-random",
  maxMatches: 16,
});
