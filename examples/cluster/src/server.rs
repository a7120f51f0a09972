//! One server of the cluster: the assistant, and a list of the runs that this process drives.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::routing::get;
use axum::{Json, Router};
use omniassist_axum::observe::{Observe, RunInfo, RunReport};
use omniassist_axum::{Assistant, Principal};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::demo::{self, Demo};
use crate::store::Store;

/// The variable with the keys that the servers share.
pub(crate) const KEYS: &str = "OMNIASSIST_SEAL_KEYS";

/// The time that answers get to end after SIGTERM. The runs that are left go on elsewhere.
const DRAIN: Duration = Duration::from_millis(500);

/// The runs that this process drives: their chats, by their ids.
#[derive(Debug, Clone, Default)]
struct Driven(Arc<Mutex<BTreeMap<String, String>>>);

impl Observe for Driven {
    fn run_started(&self, run: &RunInfo) {
        let chat = run.chat_id.as_ref().map(ToString::to_string).unwrap_or_default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run.run_id.to_string(), chat);
    }

    fn run_ended(&self, report: &RunReport) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(report.run.run_id.as_str());
    }
}

impl Driven {
    fn chats(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// Serves until SIGTERM, or until the process that started this one has ended.
pub(crate) async fn serve(store: Store, port: u16) -> Result<(), Box<dyn Error + Send + Sync>> {
    let driven = Driven::default();
    let builder = Assistant::builder(Demo)
        .observe(driven.clone())
        .seal_keys_from_env(KEYS)
        // Everybody who reaches this server sits at this machine. An application returns the user of its login.
        .authenticate(async |_| Ok(Some(Principal::new("local"))));
    let builder = demo::tools().into_iter().fold(builder, |builder, tool| builder.tool(tool));
    let assistant = store.add_to(builder).await?.build()?;
    let app = Router::new()
        .route("/chats", get(move || async move { Json(driven.chats()) }))
        .nest_service("/assistant", omniassist_axum::router(assistant.clone()));
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let stopped = async {
        tokio::select! {
            () = serving::stopped() => {}
            () = input_closed() => {}
        }
    };
    let connections = serving::serve_axum(listener, stopped, app).await;
    assistant.drain(DRAIN).await;
    // The last events are written before the process ends.
    drop(tokio::time::timeout(DRAIN, connections.shutdown()).await);
    Ok(())
}

/// Waits until the other end of the standard input is closed: the process that started this one has ended.
pub(crate) async fn input_closed() {
    let (send, closed) = oneshot::channel();
    // A task of the runtime that reads would keep the process from ending by itself.
    std::thread::spawn(move || {
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        send.send(())
    });
    drop(closed.await);
}
