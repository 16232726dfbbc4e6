package asara;

import java.util.Arrays;

/** The author's code in messages. */
final class AuthorCode {
  private AuthorCode() {}

  /**
   * Returns the frames, innermost first, down to the author's method that this package called; all
   * frames if none of them is the author's.
   */
  static StackTraceElement[] frames(StackTraceElement[] trace) {
    boolean authors = false;
    for (int i = 0; i < trace.length; i++) {
      if (isOurs(trace[i]) && authors) {
        // Frames that Java makes for lambdas name no line.
        return Arrays.stream(trace, 0, i)
            .filter(frame -> frame.getLineNumber() >= 0 || frame.getFileName() != null)
            .toArray(StackTraceElement[]::new);
      }
      authors |= !isOurs(trace[i]) && trace[i].getModuleName() == null;
    }
    return trace;
  }

  /**
   * Prints an exception of the author's code as Java does, without frames of this package, and
   * below its stack the exception once more and the place: the referee shows the last lines.
   *
   * @param task name of the decision, or ""
   */
  static void print(Throwable error, String task) {
    StackTraceElement[] frames = frames(error.getStackTrace());
    error.setStackTrace(frames);
    System.err.print("Exception in thread \"" + Thread.currentThread().getName() + "\" ");
    error.printStackTrace();
    String place =
        Arrays.stream(frames)
            .filter(AuthorCode::isAuthors)
            .findFirst()
            .map(frame -> "at " + text(frame))
            .orElse("");
    System.err.println(AsaraException.line(error.toString()));
    if (!task.isEmpty() || !place.isEmpty()) {
      System.err.println((task + " " + place).strip());
    }
  }

  /** Returns a frame as in a stack trace, without module and class loader. */
  static String text(StackTraceElement frame) {
    return "%s.%s(%s:%d)"
        .formatted(
            frame.getClassName(),
            frame.getMethodName(),
            frame.getFileName(),
            frame.getLineNumber());
  }

  /** Returns {@code NAME.method: } of a bot's class; "" for a lambda, which has no name. */
  static String place(Bot bot, String method) {
    if (bot instanceof FunctionBot || bot.getClass().isHidden()) {
      return "";
    }
    return bot.getClass().getName() + "." + method + ": ";
  }

  private static boolean isAuthors(StackTraceElement frame) {
    String name = frame.getClassName();
    return frame.getModuleName() == null
        && !name.startsWith("asara.")
        && !name.startsWith("com.google.protobuf.");
  }

  private static boolean isOurs(StackTraceElement frame) {
    String name = frame.getClassName();
    return name.startsWith("asara.") && name.indexOf('.', "asara.".length()) < 0;
  }
}
