//! Runs the chat of `lib.rs` in this terminal. `cargo run -p terminal-chat -- --help` lists the keys.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, EventStream};
use crossterm::execute;
use futures_util::StreamExt as _;
use omniassist_server::LlmProvider;
use quickstart::Settings;
use ratatui::DefaultTerminal;
use terminal_chat::{Chat, Conversation, Demo, HELP, assistant};

/// The pause between two events of the script.
const PACE: Duration = Duration::from_millis(25);

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let is_demo = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--demo") => true,
        Some("--help" | "-h") => {
            let printed = io::stdout().write_all(HELP.as_bytes());
            return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Some(other) => return fail(&format!("unknown argument `{other}`; try --help"), 2),
    };
    match run(is_demo).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn fail(problem: &str, code: u8) -> ExitCode {
    // The exit code is enough if standard error is closed.
    let _ = writeln!(io::stderr(), "terminal-chat: {problem}");
    ExitCode::from(code)
}

async fn run(is_demo: bool) -> Result<(), Failure> {
    let model = if is_demo { script() } else { model().await? };
    let chat = Chat::new(Conversation::new(assistant(model)?));
    // The terminal is restored by a panic too: `init` sets a hook.
    let mut terminal = ratatui::try_init().map_err(|error| format!("cannot use a terminal: {error}"))?;
    let pasting = execute!(io::stdout(), EnableBracketedPaste);
    let ended = show(&mut terminal, chat).await;
    let pasted = execute!(io::stdout(), DisableBracketedPaste);
    ratatui::try_restore()?;
    pasting.and(pasted)?;
    ended
}

fn script() -> Arc<dyn LlmProvider> {
    Arc::new(Demo::new(PACE))
}

/// Returns the model that the environment names, or the script.
async fn model() -> Result<Arc<dyn LlmProvider>, Failure> {
    let model = Settings::from_env().await?.model();
    Ok(if model.name() == "demo" { script() } else { model })
}

async fn show(terminal: &mut DefaultTerminal, mut chat: Chat) -> Result<(), Failure> {
    let mut events = EventStream::new();
    while !chat.is_over() {
        terminal.draw(|frame| chat.draw(frame))?;
        tokio::select! {
            event = events.next() => match event {
                Some(event) => chat.on_event(&event?),
                None => return Ok(()),
            },
            () = chat.advance() => {}
        }
    }
    Ok(())
}
