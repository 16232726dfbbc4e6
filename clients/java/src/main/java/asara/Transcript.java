package asara;

import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;

/**
 * The file with all messages of one match, each preceded by its length as a varint.
 *
 * <p>A failure is logged and ends the transcript, but not the match.
 */
final class Transcript {
  private static final int NAME_LENGTH = 200; // of a file name, without seat and extension
  private static final String SAFE = "._+-";

  private final String matchId;
  private Path digestPath;
  private OutputStream file; // null after the end or a failure

  /** Creates the file under a name that no earlier run has used. */
  Transcript(String matchId, int seat, Path folder) {
    this.matchId = matchId;
    String name = fileName(matchId) + "-seat" + seat;
    for (int number = 1; file == null; number++) {
      String stem = number == 1 ? name : name + "-" + number;
      try {
        file =
            Files.newOutputStream(
                folder.resolve(stem + ".transcript"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE);
        digestPath = folder.resolve(stem + ".digest");
      } catch (FileAlreadyExistsException e) {
        continue;
      } catch (IOException e) {
        stop(e);
        return;
      }
    }
  }

  /** Writes a message at once, so that a crash loses none. */
  void write(byte[] message) {
    if (file == null) {
      return;
    }
    byte[] record = new byte[CodedOutputStream.computeByteArraySizeNoTag(message)];
    try {
      var out = CodedOutputStream.newInstance(record);
      out.writeByteArrayNoTag(message);
      out.flush();
      file.write(record);
    } catch (IOException e) {
      stop(e);
    }
  }

  /** Writes the digest of the whole match beside the transcript. */
  void writeDigest(byte[] digest) {
    if (file == null) {
      return;
    }
    try {
      Files.writeString(digestPath, HexFormat.of().formatHex(digest) + "\n");
    } catch (IOException e) {
      Log.line("%s: no digest written: %s", matchId, Log.reason(e));
    }
  }

  void close() {
    if (file == null) {
      return;
    }
    try {
      file.close();
      file = null;
    } catch (IOException e) {
      stop(e);
    }
  }

  private void stop(IOException error) {
    file = null;
    Log.line("%s: transcript stopped: %s", matchId, Log.reason(error));
  }

  /** Returns a file name that stays inside its folder for any name of a match. */
  static String fileName(String matchId) {
    StringBuilder text = new StringBuilder();
    for (byte b : Sha256.utf8(matchId)) {
      char c = (char) (b & 0xff);
      boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
      if (letter || c >= '0' && c <= '9' || SAFE.indexOf(c) >= 0) {
        text.append(c);
      } else {
        text.append("%%%02X".formatted((int) c));
      }
    }
    if (text.indexOf(".") == 0) {
      text.replace(0, 1, "%2E");
    }
    return text.substring(0, Math.min(text.length(), NAME_LENGTH));
  }
}
