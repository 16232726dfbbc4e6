package asara;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifierTest {
  @Test
  void aSeededNonceIsTheHmacOfMatchAndSeat() throws Exception {
    for (String seed : new String[] {"1", "a seed of more than 64 bytes ".repeat(3), "Größe"}) {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(Sha256.utf8(seed), "HmacSHA256"));
      byte[] expected = mac.doFinal(Sha256.utf8("nonce/m1/3"));
      assertArrayEquals(expected, Verifier.makeNonce(seed, "m1", 3));
    }
  }

  @Test
  void withoutASeedEveryNonceDiffers() {
    byte[] nonce = Verifier.makeNonce("", "m1", 3);
    assertEquals(32, nonce.length);
    assertFalse(Arrays.equals(nonce, Verifier.makeNonce("", "m1", 3)));
  }

  @Test
  void transcriptsAreNamedAfterTheirMatch() {
    assertEquals("r1-pro+gifts-0001", Transcript.fileName("r1-pro+gifts-0001"));
    assertEquals("%2E.%2Fa%20%C3%A9", Transcript.fileName("../a é"));
    assertEquals(200, Transcript.fileName("x".repeat(300)).length());
  }

  @Test
  void anExistingTranscriptIsKept(@TempDir Path folder) throws IOException {
    for (int run = 1; run <= 2; run++) {
      Verifier verifier = new Verifier("m1", 0, folder);
      verifier.record(new byte[run]);
      verifier.complete();
    }
    assertArrayEquals(new byte[] {1, 0}, Files.readAllBytes(folder.resolve("m1-seat0.transcript")));
    assertArrayEquals(
        new byte[] {2, 0, 0}, Files.readAllBytes(folder.resolve("m1-seat0-2.transcript")));
    assertEquals(65, Files.size(folder.resolve("m1-seat0-2.digest")));
  }
}
