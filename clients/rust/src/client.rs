//! `run` and `play`: connect to the referee, and reconnect whenever the stream breaks.

use std::panic::{self, catch_unwind, AssertUnwindSafe};
use std::process;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tonic::transport::Endpoint;

use crate::bot::Bot;
use crate::error::Error;
use crate::protocol_client::{MakeBot, ProtocolClient};
use crate::settings::Settings;
use crate::transport::{break_reason, endpoint, open, transport_fault};
use crate::verifier::random_bytes;
use crate::watchdog::Watchdog;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Plays until the referee sends Goodbye; the last line of a bot's program.
///
/// `make_bot` returns the bot of a new match: a value with the trait [`Bot`], or a function. All
/// settings come from the environment (see [`Settings`]).
///
/// An [`Error`] ends the process with one line on standard error: exit status 2 for a missing or
/// invalid setting, otherwise 1. A panic in the author's code ends it with exit status 1, too.
///
/// ```no_run
/// use asara::{Action, Decision, Match};
///
/// fn decide(decision: &Decision, match_: &Match) -> Action {
///     match_.random_action(decision)
/// }
///
/// asara::run(|| decide);
/// ```
pub fn run<B: Bot>(make_bot: impl FnMut() -> B) {
    run_with(Settings::new(), make_bot);
}

/// Like [`run`], with options of the author, which take precedence over the environment.
pub fn run_with<B: Bot>(settings: Settings, make_bot: impl FnMut() -> B) {
    let print_panic = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        print_panic(info);
        eprintln!("{}", info.to_string().replace('\n', " ")); // below the notes and the backtrace
    }));
    match catch_unwind(AssertUnwindSafe(|| play(settings, make_bot))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            eprintln!("asara: {error}");
            process::exit(error.exit_status());
        }
        Err(_) => process::exit(1), // the panic has printed its message
    }
}

/// Like [`run_with`], for programs that continue afterwards: returns the error and never exits.
///
/// # Errors
///
/// See [`Error`].
pub fn play<B: Bot>(settings: Settings, mut make_bot: impl FnMut() -> B) -> Result<(), Error> {
    play_matches(settings, &mut || Box::new(make_bot()))
}

fn play_matches(settings: Settings, make_bot: &mut MakeBot<'_>) -> Result<(), Error> {
    let settings = settings.complete(|name| std::env::var(name).ok())?;
    let endpoint = endpoint(&settings)?;
    let transcripts = settings.transcript_folder()?;
    let watchdog = Watchdog::default();
    let mut protocol = ProtocolClient::new(make_bot, &settings, transcripts, &watchdog);

    let mut pause = FIRST_PAUSE;
    let mut last_contact = Instant::now();
    let (mut warned, mut met) = (false, false);
    let address = &settings.address;
    loop {
        let began = Instant::now();
        protocol.welcomed = false;
        let detail = play_stream(&mut protocol, address, &endpoint, &watchdog)?;
        if protocol.finished {
            return Ok(());
        }
        if protocol.welcomed {
            (last_contact, warned, met) = (Instant::now(), false, true);
        } else if let Some(fault) = transport_fault(address, settings.ca.is_some()).filter(|_| !met)
        {
            return Err(Error::Configuration(fault));
        } else if last_contact.elapsed().as_secs_f64() > settings.patience() {
            return Err(Error::ConnectionLost {
                address: address.clone(),
                patience_s: settings.patience(),
                detail,
            });
        }
        if !warned {
            warned = true;
            eprintln!("asara: no connection to {address} ({detail}); retrying");
        }
        if began.elapsed() > LONGEST_PAUSE {
            pause = FIRST_PAUSE;
        }
        std::thread::sleep(jittered(pause));
        pause = LONGEST_PAUSE.min(2 * pause);
    }
}

/// Plays on one stream; returns why it broke, or "" after Goodbye.
///
/// Each stream has a runtime of its own, which ends with it: then its connection is closed.
fn play_stream(
    protocol: &mut ProtocolClient<'_, '_>,
    address: &str,
    endpoint: &Endpoint,
    watchdog: &Watchdog,
) -> Result<String, Error> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Configuration(format!("cannot wait for the network: {error}")))?;
    let ended = watchdog.watching(&runtime, || {
        answer_responses(protocol, address, endpoint, &runtime)
    });
    runtime.shutdown_background(); // without waiting for a name to be resolved
    ended
}

/// Answers responses until the stream ends. The author's code is called outside of the runtime.
fn answer_responses(
    protocol: &mut ProtocolClient<'_, '_>,
    address: &str,
    endpoint: &Endpoint,
    runtime: &Runtime,
) -> Result<String, Error> {
    let mut stream = match runtime.block_on(open(endpoint, protocol.hello())) {
        Ok(stream) => stream,
        Err(status) => return break_reason(address, &status),
    };
    while !protocol.finished {
        match runtime.block_on(stream.responses.message()) {
            Ok(Some(message)) => {
                if let Some(request) = protocol.handle(&message)? {
                    // If the stream has broken, the referee repeats the decision on the next one.
                    let _ = stream.requests.send(request);
                }
            }
            Ok(None) => return Ok("closed without a goodbye".into()),
            Err(status) => return break_reason(address, &status),
        }
    }
    Ok(String::new())
}

/// Prevents bots that lost the same referee from reconnecting at the same moments.
fn jittered(pause: Duration) -> Duration {
    let random = f64::from(u32::from_ne_bytes(random_bytes())) / f64::from(u32::MAX);
    pause.mul_f64(0.5 + random / 2.0)
}
