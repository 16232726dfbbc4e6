//! A second thread that attends to the connection while the author's code takes long.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The referee kills a bot one second after its time has run out.
const TICK: Duration = Duration::from_millis(250);

/// Answers the referee's pings while the main thread is in the author's code, and reports code whose
/// clock has run out.
///
/// The runtime stands still while the author's code runs. If that takes longer than a tick, the
/// thread of the watchdog drives it. A quick decision costs two locks, and the thread a few
/// microseconds per second.
#[derive(Default)]
pub(crate) struct Watchdog {
    state: Mutex<State>,
    closing: Condvar,
    returned: Notify,
}

#[derive(Default)]
struct State {
    task: Option<Task>,
    /// True while the thread of the watchdog drives the runtime.
    driving: bool,
    closed: bool,
    reported: bool,
}

struct Task {
    name: String,
    began: Instant,
    clock: Duration,
}

impl Watchdog {
    /// Notes that the author's code begins a task with this much time, until the result is dropped.
    pub(crate) fn begin(&self, name: impl Into<String>, clock_us: i64) -> Running<'_> {
        self.lock().task = Some(Task {
            name: name.into(),
            began: Instant::now(),
            clock: Duration::from_micros(clock_us.try_into().unwrap_or_default()),
        });
        Running(self)
    }

    /// Calls `work`, watched by a second thread that drives the runtime if necessary.
    pub(crate) fn watching<T>(&self, runtime: &Runtime, work: impl FnOnce() -> T) -> T {
        self.lock().closed = false;
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("asara-watchdog".into());
            // Without the thread, which the operating system may refuse, the bot still plays.
            let _ = thread.spawn_scoped(scope, || self.watch(runtime));
            let _closing = Closing(self);
            work()
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn watch(&self, runtime: &Runtime) {
        let mut state = self.lock();
        while !state.closed {
            let running = state.task.as_ref().map(|task| task.began.elapsed());
            match running {
                Some(elapsed) if elapsed >= TICK => {
                    state.driving = true;
                    drop(state);
                    let _ =
                        runtime.block_on(async { timeout(TICK, self.returned.notified()).await });
                    state = self.lock();
                    state.driving = false;
                }
                _ => {
                    let waited = self.closing.wait_timeout(state, TICK);
                    state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
                }
            }
            state.report();
        }
    }
}

impl State {
    fn report(&mut self) {
        let Some(task) = &self.task else { return };
        if self.reported || task.clock.is_zero() || task.began.elapsed() < task.clock {
            return;
        }
        self.reported = true;
        eprintln!(
            "asara: {} has taken its whole time, {:.1} s, and has not returned",
            task.name,
            task.clock.as_secs_f64()
        );
    }
}

/// The author's code is running.
pub(crate) struct Running<'a>(&'a Watchdog);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.task = None;
        if state.driving {
            self.0.returned.notify_one();
        }
    }
}

struct Closing<'a>(&'a Watchdog);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.closing.notify_all();
    }
}
