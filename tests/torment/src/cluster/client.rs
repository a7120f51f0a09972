//! A client: it posts a question, answers what the run asks, and reads to the end, whatever is lost on the way.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::fleet::Fleet;
use super::http::{Ask, Events};
use crate::child::question;
use crate::shape::Shape;

/// The pause after a server that does not answer.
const PAUSE: Duration = Duration::from_millis(150);

/// The time after which a run is stuck.
const PATIENCE: Duration = Duration::from_secs(180);

/// A client and its chat.
pub(crate) struct Client {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) shape: Shape,
    /// The name of the chat, and of its user.
    pub(crate) name: String,
    pub(crate) run: Option<String>,
    cursor: Option<String>,
    /// The cursors after which the client has asked for events, with the number of events that it had.
    pub(crate) asked: Vec<(usize, Option<String>)>,
    /// The events in the order in which the client has accepted them.
    pub(crate) accepted: Vec<Value>,
    /// The times of the first events of later epochs.
    pub(crate) handed_over: Vec<Instant>,
    /// The number of connections that were lost.
    pub(crate) lost: usize,
    pub(crate) state: String,
    /// The last problem.
    problem: Option<io::Error>,
    /// Answers that a client of the real world would show as a failure.
    pub(crate) refused: Vec<String>,
}

impl Client {
    pub(crate) fn new(fleet: &Arc<Fleet>, shape: Shape, name: String) -> Self {
        Self {
            fleet: Arc::clone(fleet),
            shape,
            name,
            run: None,
            cursor: None,
            asked: Vec::new(),
            accepted: Vec::new(),
            handed_over: Vec::new(),
            lost: 0,
            state: String::new(),
            problem: None,
            refused: Vec::new(),
        }
    }

    /// Posts the question, and reads until the run has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not end.
    pub(crate) async fn lead(&mut self) -> Result<(), String> {
        let since = Instant::now();
        loop {
            if since.elapsed() > PATIENCE {
                let Self { run, cursor, state, problem, refused, .. } = self;
                let last = self.accepted.last();
                return Err(format!(
                    "run {run:?} is stuck as {state}, at {cursor:?} after {last:?}: {problem:?}, {refused:?}"
                ));
            }
            let before = self.accepted.len();
            let has_ended = match self.read().await {
                Ok(()) => self.look().await,
                Err(error) => {
                    self.lost += 1;
                    Err(error)
                }
            };
            match has_ended {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => {
                    self.problem = Some(error);
                    // A stream that was cut is asked for again at once, as clients do.
                    if self.accepted.len() == before {
                        sleep(PAUSE).await;
                    }
                }
            }
        }
    }

    /// Posts the question, and reads to the end of the first leg.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream is lost.
    pub(crate) async fn step(&mut self) -> io::Result<()> {
        self.read().await
    }

    /// Reads what follows the last event, to the end of its leg.
    async fn read(&mut self) -> io::Result<()> {
        let asked = (self.accepted.len(), self.cursor.clone());
        if self.asked.last() != Some(&asked) {
            self.asked.push(asked);
        }
        let ask = match (&self.run, &self.cursor) {
            (None, _) => self.post(),
            (Some(run), cursor) => {
                let after = cursor.as_ref().map(|cursor| format!("&after={cursor}")).unwrap_or_default();
                Ask::get(&self.name, format!("/runs/{run}/events?ai-sdk=7{after}"))
            }
        };
        let response = ask.open(self.fleet.next()).await?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NO_CONTENT => return Ok(()),
            status => {
                if status.is_client_error() {
                    self.refused.push(format!("{} {}: {status}", ask.method, ask.path));
                }
                return Err(io::Error::other(status.to_string()));
            }
        }
        if let Some(run) = response.headers().get("x-omniassist-run") {
            self.run = Some(run.to_str().unwrap().to_owned());
        }
        let mut events = Events::of(response);
        while let Some(event) = events.next().await? {
            let epoch = |cursor: &str| cursor.split_once('.').map(|(epoch, _)| epoch.to_owned());
            let is_new = self.cursor.as_ref().is_some_and(|last| epoch(last) != epoch(&event.cursor));
            // After an answer, a new epoch is no hand-over.
            if is_new && event.data["type"] != "start" {
                self.handed_over.push(Instant::now());
            }
            self.cursor = Some(event.cursor);
            self.accepted.push(event.data);
        }
        Ok(())
    }

    fn post(&self) -> Ask<'_> {
        let body = question(&self.name, "m1", &self.shape.question(1));
        let mut ask = Ask::post(&self.name, "/?ai-sdk=7".to_owned(), body);
        ask.key = Some("m1");
        ask
    }

    /// Looks at the run, and answers its questions. Returns `true` if it has ended.
    async fn look(&mut self) -> io::Result<bool> {
        let run = self.run.clone().ok_or(io::ErrorKind::NotFound)?;
        let (status, head) = Ask::get(&self.name, format!("/runs/{run}")).json(self.fleet.next()).await?;
        if !status.is_success() {
            return Err(io::Error::other(status.to_string()));
        }
        head["state"].as_str().unwrap_or_default().clone_into(&mut self.state);
        match &*self.state {
            "waiting" => {
                for asked in head["obligations"].as_array().into_iter().flatten() {
                    if asked["isAnswered"] == false {
                        self.approve(&run, asked["callId"].as_str().unwrap_or_default()).await;
                    }
                }
                Ok(false)
            }
            "running" | "queued" => Ok(false),
            // The end may have come after the last event that was read.
            _ => {
                let cursor = self.cursor.clone();
                self.read().await?;
                Ok(cursor == self.cursor)
            }
        }
    }

    /// Sends an approval to two servers at the same time. Answers that are lost are repeated after the next look.
    async fn approve(&mut self, run: &str, call: &str) {
        let path = format!("/runs/{run}/obligations/{call}");
        let ask = Ask::post(&self.name, path, json!({ "approved": true }));
        let (one, two) = tokio::join!(ask.json(self.fleet.next()), ask.json(self.fleet.next()));
        for (status, body) in [one, two].into_iter().flatten() {
            if status.is_client_error() && status != StatusCode::CONFLICT {
                self.refused.push(format!("an approval: {status} {body}"));
            }
        }
    }

    /// Returns the log of the run, as a client that has nothing reads it from a server that lives.
    pub(crate) async fn log(&self) -> io::Result<Vec<Value>> {
        let run = self.run.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let (mut log, mut after) = (Vec::new(), String::new());
        loop {
            let ask = Ask::get(&self.name, format!("/runs/{run}/events?ai-sdk=7{after}"));
            let response = ask.open(self.fleet.next()).await?;
            if response.status() == StatusCode::NO_CONTENT {
                return Ok(log);
            }
            if response.status() != StatusCode::OK {
                return Err(io::Error::other(response.status().to_string()));
            }
            let mut events = Events::of(response);
            while let Some(event) = events.next().await? {
                after = format!("&after={}", event.cursor);
                log.push(event.data);
            }
        }
    }
}
