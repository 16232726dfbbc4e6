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
        return Arrays.copyOf(trace, i);
      }
      authors |= !isOurs(trace[i]) && trace[i].getModuleName() == null;
    }
    return trace;
  }

  /** Prints an exception of the author's code as Java does, without frames of this package. */
  static void print(Throwable error) {
    error.setStackTrace(frames(error.getStackTrace()));
    System.err.print("Exception in thread \"" + Thread.currentThread().getName() + "\" ");
    error.printStackTrace();
  }

  /** Returns {@code NAME.method: } of a bot's class; "" for a lambda, which has no name. */
  static String place(Bot bot, String method) {
    if (bot instanceof FunctionBot || bot.getClass().isHidden()) {
      return "";
    }
    return bot.getClass().getName() + "." + method + ": ";
  }

  private static boolean isOurs(StackTraceElement frame) {
    String name = frame.getClassName();
    return name.startsWith("asara.") && name.indexOf('.', "asara.".length()) < 0;
  }
}
