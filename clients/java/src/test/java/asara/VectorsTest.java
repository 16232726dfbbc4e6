package asara;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import asara.v1.Action;
import asara.v1.PlayRequest;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples that the clients of all languages share, in tests/vectors of the checkout. */
class VectorsTest {
  private static JsonObject vectors(String name) throws IOException {
    Path path = Path.of("../../tests/vectors", name);
    return JsonParser.parseString(Files.readString(path)).getAsJsonObject();
  }

  private static Iterable<JsonObject> objects(JsonObject parent, String name) {
    List<JsonObject> found = new ArrayList<>();
    parent.getAsJsonArray(name).forEach(each -> found.add(each.getAsJsonObject()));
    assertFalse(found.isEmpty());
    return found;
  }

  private static byte[] hex(JsonObject object, String name) {
    return HexFormat.of().parseHex(object.get(name).getAsString());
  }

  @Test
  void actionsRoundTripThroughTheirText() throws IOException {
    for (JsonObject each : objects(vectors("actions.json"), "actions")) {
      String text = each.get("text").getAsString();
      Action action = Action.parseFrom(hex(each, "hex"));
      assertEquals(text, Asara.formatAction(action));
      assertEquals(action, Asara.parseAction(text));
    }
  }

  @Test
  void valuesOfLaterVersionsAreFormattedAndNotParsed() throws IOException {
    for (JsonObject each : objects(vectors("actions.json"), "unparsable")) {
      String text = each.get("text").getAsString();
      assertEquals(text, Asara.formatAction(Action.parseFrom(hex(each, "hex"))));
      assertThrows(IllegalArgumentException.class, () -> Asara.parseAction(text), text);
    }
  }

  @Test
  void otherTextsAreNoActions() throws IOException {
    for (JsonElement each : vectors("actions.json").getAsJsonArray("invalid")) {
      String text = each.getAsString();
      assertThrows(IllegalArgumentException.class, () -> Asara.parseAction(text), text);
    }
  }

  @Test
  void anErrorTellsWhichNumberIsMissing() {
    var fault =
        assertThrows(IllegalArgumentException.class, () -> Asara.parseAction("dispatch spies"));
    assertEquals("action 'dispatch spies': the number of a space is missing", fault.getMessage());
  }

  @Test
  void randomActionsFollowTheRuleOfAllStarters() throws IOException {
    for (JsonObject each : objects(vectors("random_action.json"), "choices")) {
      int index =
          Match.randomIndex(
              each.get("seed").getAsString(),
              each.get("match_id").getAsString(),
              each.get("seat").getAsInt(),
              each.get("decision_id").getAsLong(),
              each.get("count").getAsInt());
      assertEquals(each.get("index").getAsInt(), index, each.toString());
    }
  }

  @Test
  void theDigestIsOfTheBytesAsReceived(@TempDir Path folder) throws IOException {
    JsonObject vector = vectors("digest.json");
    Settings settings =
        new Settings(
            "unix:/referee",
            "token",
            null,
            vector.get("seed").getAsString(),
            "",
            "",
            "",
            1,
            false,
            false,
            null);
    List<Match> matches = new ArrayList<>();
    try (var client = new ProtocolClient(match -> listed(match, matches), settings, folder)) {
      for (JsonObject each : objects(vector, "messages")) {
        PlayRequest ignored = client.handle(hex(each, "message"));
        if (!matches.isEmpty()) {
          assertArrayEquals(hex(each, "digest"), matches.get(0).digest());
        }
      }
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
    String last = HexFormat.of().formatHex(matches.get(0).digest());
    assertEquals(last + "\n", Files.readString(folder.resolve("m1-seat1.digest")));
  }

  private static Bot listed(Match match, List<Match> matches) {
    matches.add(match);
    return decision -> decision.getLegalActions(0);
  }
}
