package asara;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, and HMAC with it. */
final class Sha256 {
  static final int BYTES = 32;

  private static final int BLOCK_BYTES = 64;

  private Sha256() {}

  static MessageDigest create() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  static byte[] of(byte[]... parts) {
    MessageDigest digest = create();
    for (byte[] part : parts) {
      digest.update(part);
    }
    return digest.digest();
  }

  /**
   * Returns the HMAC (RFC 2104). {@code javax.crypto.Mac} would first verify its providers, which
   * takes longer than everything else before the first reply.
   */
  static byte[] hmac(byte[] key, byte[] message) {
    byte[] shortKey = key.length > BLOCK_BYTES ? of(key) : key;
    byte[] inner = new byte[BLOCK_BYTES];
    byte[] outer = new byte[BLOCK_BYTES];
    for (int i = 0; i < BLOCK_BYTES; i++) {
      byte b = i < shortKey.length ? shortKey[i] : 0;
      inner[i] = (byte) (b ^ 0x36);
      outer[i] = (byte) (b ^ 0x5c);
    }
    return of(outer, of(inner, message));
  }

  static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }
}
