package asara;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Lines for the author on standard error, which the referee keeps. */
final class Log {
  private Log() {}

  static void line(String format, Object... arguments) {
    System.err.println("asara: " + format.formatted(arguments));
  }

  /** Returns why an operation on a file failed, without the file's name. */
  static String reason(IOException error) {
    if (error instanceof NoSuchFileException) {
      return "No such file or directory";
    } else if (error instanceof AccessDeniedException) {
      return "Permission denied";
    } else if (error instanceof FileAlreadyExistsException) {
      return "File exists";
    } else if (error instanceof FileSystemException e && e.getReason() != null) {
      return e.getReason();
    }
    return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
  }
}
