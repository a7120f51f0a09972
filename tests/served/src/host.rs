//! The parts of the example hosts, from which each framework builds a server.

use std::error::Error;
use std::time::Duration;

use axum::Router;
use omniassist_server::bridge::Bridge;
use omniassist_server::{Assistant, OpenAiProvider, Principal};
use runtime_events::Player;

pub(crate) use quickstart::LAST_WORDS;
pub(crate) use serving::stopped;

pub(crate) type AnyError = Box<dyn Error + Send + Sync>;

/// The most bytes of a request that a host's own routes read.
pub(crate) const OWN_BODY: usize = 64 * 1024;

/// One of the examples.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) mounted: Mounted,
    /// The application without the assistant. It is not under test and stays in axum.
    pub(crate) own: Router,
    pub(crate) front: Front,
    /// The port on 127.0.0.1.
    pub(crate) port: u16,
    /// Time limit for live runs after a signal.
    pub(crate) drain: Duration,
}

/// The service of an adapter.
#[derive(Debug, Clone)]
pub(crate) enum Mounted {
    Below(&'static str, Assistant),
    /// An assistant at the root of the server.
    Root(Assistant),
    /// An agent runtime with different options below several paths.
    Runtimes(Vec<(&'static str, Bridge)>),
}

/// The middleware before all routes of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    Nothing,
    /// The quickstart's guard, which admits only this machine and adds security headers.
    Guard,
    /// The ledger's login.
    Login,
}

impl Host {
    pub(crate) async fn named(name: &str) -> Result<Self, AnyError> {
        match name {
            "quickstart" => quickstart_host().await,
            "back-office" => back_office().await,
            "ledger" => ledger_host(),
            "runtime-events" => runtime_host(),
            "research-desk" => desk(),
            "shared-cart" => shop(),
            _ => Err(format!("no host is named `{name}`").into()),
        }
    }

    /// Returns the assistant, if there is one.
    pub(crate) fn assistant(&self) -> Option<Assistant> {
        match &self.mounted {
            Mounted::Below(_, assistant) | Mounted::Root(assistant) => Some(assistant.clone()),
            Mounted::Runtimes(_) => None,
        }
    }
}

impl Front {
    /// Returns `true` if a request that names this host may pass.
    pub(crate) fn admits(self, host: Option<&str>) -> bool {
        self != Self::Guard || host.is_some_and(quickstart::is_for_this_machine)
    }

    /// Returns the headers of every response.
    pub(crate) fn headers(self) -> &'static [(&'static str, &'static str)] {
        if self == Self::Guard { &quickstart::HEADERS } else { &[] }
    }

    /// Returns the principal of a request; `header` returns the value of a header.
    pub(crate) fn principal<'a>(self, header: impl FnOnce(&str) -> Option<&'a str>) -> Option<Principal> {
        if self == Self::Login { ledger::principal(header(ledger::USER)) } else { None }
    }
}

async fn quickstart_host() -> Result<Host, AnyError> {
    let settings = quickstart::Settings::from_env().await?;
    let port = settings.port();
    let office = quickstart::BackOffice::open(settings).await?;
    let mounted = Mounted::Below("/assistant", office.assistant().clone());
    let drain = quickstart::DRAIN;
    Ok(Host { mounted, own: office.own_routes(), front: Front::Guard, port, drain })
}

async fn back_office() -> Result<Host, AnyError> {
    let settings = quickstart::Settings::from_env().await?;
    let office = back_office::BackOffice::open(&settings)?;
    let mounted = Mounted::Below("/assistant", office.assistant().clone());
    let (own, port) = (office.own_routes(), settings.port());
    Ok(Host { mounted, own, front: Front::Nothing, port, drain: Duration::ZERO })
}

fn ledger_host() -> Result<Host, AnyError> {
    let book = ledger::Book::default();
    let settings = ledger::Settings::from_env().map_err(|error| error.to_string())?;
    let assistant = ledger::assistant(OpenAiProvider::from_env()?, &settings, book.clone())?;
    let mounted = Mounted::Below("/assistant", assistant);
    let (own, drain) = (ledger::journal(book), Duration::ZERO);
    Ok(Host { mounted, own, front: Front::Login, port: port()?, drain })
}

fn runtime_host() -> Result<Host, AnyError> {
    let player = Player::default();
    let mounted = Mounted::Runtimes(runtime_events::transports(&player).into());
    let (own, drain) = (runtime_events::runs(&player), Duration::ZERO);
    Ok(Host { mounted, own, front: Front::Nothing, port: port()?, drain })
}

fn shop() -> Result<Host, AnyError> {
    let mounted = Mounted::Root(shared_cart::assistant(OpenAiProvider::from_env()?)?);
    Ok(Host { mounted, own: Router::new(), front: Front::Nothing, port: port()?, drain: Duration::ZERO })
}

fn desk() -> Result<Host, AnyError> {
    let assistant = research_desk::assistant(research_desk::model()?, research_desk::chats()?)?;
    let mounted = Mounted::Below("/assistant", assistant);
    Ok(Host { mounted, own: Router::new(), front: Front::Nothing, port: port()?, drain: Duration::ZERO })
}

fn port() -> Result<u16, AnyError> {
    Ok(std::env::var("PORT").map_or(Ok(3000), |port| port.parse())?)
}
