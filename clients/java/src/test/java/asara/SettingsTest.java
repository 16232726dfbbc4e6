package asara;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
  private static final Map<String, String> ENVIRONMENT =
      Map.of("ASARA_ADDRESS", "localhost:1", "ASARA_TOKEN", "secret");

  private static Settings complete(Settings.Builder builder, String name, String value) {
    Map<String, String> environment = new HashMap<>(ENVIRONMENT);
    environment.put(name, value);
    return builder.build().complete(environment);
  }

  private static String fault(String name, String value) {
    return fault(Settings.builder(), name, value);
  }

  private static String fault(Settings.Builder builder, String name, String value) {
    return assertThrows(ConfigurationException.class, () -> complete(builder, name, value))
        .getMessage();
  }

  @Test
  void theEnvironmentCompletesTheSettings() {
    Settings settings = complete(Settings.builder(), "ASARA_SEAT", "2");
    assertEquals("localhost:1", settings.address());
    assertEquals("secret", settings.token());
    assertEquals(2, settings.seat());
    assertEquals("", settings.seed());
    assertEquals(Duration.ofSeconds(30), settings.patience());
    assertFalse(settings.toString().contains("secret"));
    assertNull(settings.certificates());
  }

  @Test
  void optionsOfTheAuthorTakePrecedence() {
    Settings.Builder options = Settings.builder().patience(Duration.ofHours(1)).seed("mine");
    Settings settings = complete(options, "ASARA_PATIENCE_S", "2.5");
    assertEquals(Duration.ofHours(1), settings.patience());
    assertEquals("mine", settings.seed());
    assertEquals(
        Duration.ofMillis(2500),
        complete(Settings.builder(), "ASARA_PATIENCE_S", "2.5").patience());
  }

  @Test
  void aBadSettingIsNamed() {
    assertEquals(
        "ASARA_ADDRESS is 'localhost': expected host:port or unix:/path",
        fault("ASARA_ADDRESS", "localhost"));
    assertEquals("ASARA_SEAT is 'two': expected a seat number", fault("ASARA_SEAT", "two"));
    assertEquals(
        "ASARA_PATIENCE_S is '-1': expected seconds, such as 30 or 0.5",
        fault("ASARA_PATIENCE_S", "-1"));
    assertEquals(
        "ASARA_TOKEN is not set: start this bot with `asara match`, or set ASARA_ADDRESS "
            + "(host:port or unix:/path) and ASARA_TOKEN",
        fault("ASARA_TOKEN", ""));
  }

  @Test
  void aBadOptionIsNamed() {
    Settings.Builder none = Settings.builder().maxMatches(0);
    Settings.Builder negative = Settings.builder().patience(Duration.ofSeconds(-1));
    assertEquals("maxMatches is 0: expected 1 or more", fault(none, "ASARA_SEAT", ""));
    assertEquals("patience is PT-1S: expected 0 or more", fault(negative, "ASARA_SEAT", ""));
  }

  @Test
  void filesAreChecked(@TempDir Path folder) throws IOException {
    Path notPem = Files.writeString(folder.resolve("ca.pem"), "no certificate");
    Settings settings = complete(Settings.builder(), "ASARA_CA", notPem.toString());
    assertEquals(
        "ASARA_CA: '%s' contains no PEM certificate".formatted(notPem),
        assertThrows(ConfigurationException.class, settings::certificates).getMessage());

    Settings blocked = complete(Settings.builder(), "ASARA_TRANSCRIPT", notPem + "/in");
    assertThrows(ConfigurationException.class, () -> blocked.transcriptFolder(Map.of()));

    Settings contained = complete(Settings.builder(), "ASARA_TRANSCRIPT", folder.toString());
    assertEquals(folder, contained.transcriptFolder(Map.of()));
    assertThrows(
        ConfigurationException.class,
        () -> contained.transcriptFolder(Map.of("ASARA_CONTAINED", "1")));
  }
}
