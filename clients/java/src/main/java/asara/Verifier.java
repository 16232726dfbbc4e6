package asara;

import asara.v1.DealCommitted;
import asara.v1.MatchEnded;
import asara.v1.MatchStarted;
import asara.v1.Nonce;
import asara.v1.PlayRequest;
import com.google.protobuf.ByteString;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Verifies one match, from its first message to its last, across reconnections.
 *
 * <p>Violations are logged; they do not stop the match.
 */
final class Verifier {
  private final String matchId;
  private final MessageDigest sha256 = Sha256.create();
  private final Transcript transcript; // null without one
  private byte[] digest = new byte[Sha256.BYTES];
  private ByteString commitment = ByteString.EMPTY;
  private byte[] commitmentMessage;
  private ByteString nonce = ByteString.EMPTY;
  private boolean sharedDeal;

  Verifier(String matchId, int seat, Path folder) {
    this.matchId = matchId;
    this.transcript = folder == null ? null : new Transcript(matchId, seat, folder);
  }

  /** Returns 32 random bytes, or bytes derived from seed, match and seat if there is a seed. */
  static byte[] makeNonce(String seed, String matchId, int seat) {
    if (seed.isEmpty()) {
      byte[] nonce = new byte[Sha256.BYTES];
      new SecureRandom().nextBytes(nonce);
      return nonce;
    }
    return Sha256.hmac(Sha256.utf8(seed), Sha256.utf8("nonce/" + matchId + "/" + seat));
  }

  /** SHA-256 of the previous digest and the last message; initially 32 zero bytes. */
  byte[] digest() {
    return digest.clone();
  }

  /** Adds a message of the match, exactly as received, to the digest and the transcript. */
  void record(byte[] message) {
    sha256.update(digest);
    sha256.update(message);
    digest = sha256.digest();
    if (transcript != null) {
      transcript.write(message);
    }
  }

  /**
   * Records the commitment and returns the nonce to send.
   *
   * <p>A commitment that is repeated after a reconnection is recorded once, and gets the first
   * nonce again.
   */
  PlayRequest dealCommitted(DealCommitted committed, byte[] message, byte[] newNonce) {
    if (!Arrays.equals(message, commitmentMessage)) {
      if (commitmentMessage == null) {
        commitment = committed.getDealCommitment();
        nonce = ByteString.copyFrom(newNonce);
      } else {
        checkCommitment(committed.getDealCommitment());
      }
      commitmentMessage = message;
      record(message);
    }
    return PlayRequest.newBuilder()
        .setNonce(Nonce.newBuilder().setMatchId(matchId).setNonce(nonce))
        .build();
  }

  /** Checks the commitment and this bot's nonce; also called when the match resumes. */
  void matchStarted(MatchStarted started) {
    if (commitment.isEmpty()) {
      commitment = started.getDealCommitment();
    }
    checkCommitment(started.getDealCommitment());
    sharedDeal = started.getSharedDeal();
    int seat = started.getSeat();
    boolean listed = seat >= 0 && seat < started.getNoncesCount();
    ByteString used = listed ? started.getNonces(seat) : ByteString.EMPTY;
    if (!nonce.isEmpty() && !used.equals(nonce)) {
      reportViolation("the deal was made without the nonce of this bot");
    }
  }

  /**
   * Checks that the secret opens the commitment, and completes the transcript.
   *
   * <p>A match with a shared deal may withhold its secret; its replay has it.
   */
  void matchEnded(MatchEnded ended) {
    ByteString secret = ended.getDealSecret();
    boolean withheld = ended.getVoid() || (sharedDeal && secret.isEmpty());
    if (!withheld && !ByteString.copyFrom(Sha256.of(secret.toByteArray())).equals(commitment)) {
      reportViolation(
          "the secret %s does not open the commitment %s".formatted(hex(secret), hex(commitment)));
    }
    complete();
  }

  /** Writes the digest beside the transcript, and closes it. */
  void complete() {
    if (transcript != null) {
      transcript.writeDigest(digest);
    }
    close();
  }

  /** Closes the transcript of a match that has not ended. */
  void close() {
    if (transcript != null) {
      transcript.close();
    }
  }

  private void checkCommitment(ByteString other) {
    if (!other.equals(commitment)) {
      reportViolation("the commitment %s was changed to %s".formatted(hex(commitment), hex(other)));
    }
  }

  private void reportViolation(String violation) {
    Log.line(
        "%s: THE DEAL CANNOT BE TRUSTED: %s; keep the transcript and the replay, and inform the"
            + " organiser",
        matchId, violation);
  }

  private static String hex(ByteString data) {
    return data.isEmpty() ? "(none)" : HexFormat.of().formatHex(data.toByteArray());
  }
}
