package asara;

import asara.v1.Decision;
import java.util.Locale;

/**
 * Reports the line at which the author's code hangs, once its clock has run out.
 *
 * <p>The referee ends the process of such a bot a moment later, without a warning that it could
 * notice.
 */
final class Watchdog {
  /** The referee kills a bot one second after its time has run out. */
  private static final long TICK_MILLIS = 250;

  /** A {@link Decision}, or the name of another task. */
  private record Task(Object what, long clockMicros, long startNanos) {
    boolean isLate() {
      return System.nanoTime() - startNanos > clockMicros * 1000;
    }

    String name() {
      return what instanceof Decision decision
          ? "decision " + decision.getDecisionId() + " of " + decision.getMatchId()
          : what.toString();
    }
  }

  private final Thread watched = Thread.currentThread();
  private volatile Task task;
  private Thread thread;

  /** Notes that the author's code begins a decision or a named task with this much time. */
  void begin(Object what, long clockMicros) {
    if (clockMicros <= 0) {
      return;
    }
    task = new Task(what, clockMicros, System.nanoTime());
    if (thread == null) {
      thread = new Thread(this::watch, "asara-watchdog");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Notes that the author's code has returned. */
  void end() {
    task = null;
  }

  void close() {
    if (thread != null) {
      thread.interrupt();
    }
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(TICK_MILLIS);
        Task current = task;
        if (current != null && current.isLate()) {
          report(current);
          return;
        }
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private void report(Task late) {
    StringBuilder lines = new StringBuilder();
    for (StackTraceElement frame : AuthorCode.frames(watched.getStackTrace())) {
      lines.append("\n\tat ").append(AuthorCode.text(frame));
    }
    String seconds = String.format(Locale.ROOT, "%.1f", late.clockMicros / 1e6);
    Log.line(
        "%s has taken its whole time, %s s, and is still here:%s", late.name(), seconds, lines);
  }
}
