use std::future::{pending, ready};
use std::time::Duration;

use monty_pool::{Checkout, OnPrint, PoolError, PrintFuture, ReplConfig, ResumeValue, TurnEvent};
use monty_types::{
    ExcType, MONTY_VERSION, MontyException, MontyObject, NameLookupResult, PrintStream, ResourceLimits,
};
use omniassist_server::ToolError;
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::value;
use crate::{Code, CodeOutcome, PythonError, Session, Stream};

/// The time that a worker has to prepare for a program.
pub(super) const READY: Duration = Duration::from_secs(5);

/// The time for which a worker collects text before it sends it.
const FLUSH: Duration = Duration::from_millis(20);

pub(super) fn config(limits: &Code) -> ReplConfig {
    let bounds = ResourceLimits::default().max_duration(limits.max_time()).max_memory(limits.max_memory());
    ReplConfig { limits: Some(bounds), print_flush_interval: Some(FLUSH), ..ReplConfig::default() }
}

/// Runs a program on a worker of its own. Dropping the future kills the worker.
pub(super) async fn run(
    mut worker: Checkout,
    code: &str,
    session: &Session,
) -> Result<CodeOutcome, PythonError> {
    let full = Notify::new();
    let mut print = |stream, text: &str| -> PrintFuture {
        let stream = match stream {
            PrintStream::Stdout => Stream::Stdout,
            PrintStream::Stderr => Stream::Stderr,
        };
        if session.write(stream, text) {
            return Box::pin(ready(()));
        }
        full.notify_one();
        Box::pin(pending())
    };
    let end = tokio::select! {
        biased;
        () = full.notified() => return Ok(session.stopped()),
        end = turns(&mut worker, code, session, &mut print) => end,
    };
    let outcome = match end {
        Ok(result) => {
            let mut left = session.limits().max_output();
            value::to_json(&result, &mut left).map_or_else(|| session.stopped(), CodeOutcome::finished)
        }
        Err(Stop::Program(error)) => return Err(error),
        Err(Stop::Worker(PoolError::Runtime(raised))) => failed(&raised),
        Err(Stop::Worker(PoolError::Timeout { .. })) => {
            let most = session.limits().max_time().as_secs_f64();
            return Ok(CodeOutcome::failed(format!("TimeoutError: the program ran longer than {most} s")));
        }
        Err(Stop::Worker(PoolError::Crashed { status, cause })) => {
            tracing::warn!(?status, ?cause, "a program ended its worker");
            // The signal tells whether a limit of the kernel has acted.
            let reason = status.map(|status| format!(" ({status})")).unwrap_or_default();
            return Ok(CodeOutcome::failed(format!(
                "SystemError: the program ended its interpreter{reason}"
            )));
        }
        Err(Stop::Worker(error)) => return Err(PythonError::worker(error)),
    };
    // A worker that does not return in time is killed, and the pool starts another.
    if let Ok(Err(error)) = timeout(READY, worker.finish()).await {
        tracing::debug!(?error, "a worker is replaced");
    }
    Ok(outcome)
}

/// The reason for which a program did not run to its end.
enum Stop {
    Worker(PoolError),
    Program(PythonError),
}

impl From<PoolError> for Stop {
    fn from(error: PoolError) -> Self {
        Self::Worker(error)
    }
}

impl From<PythonError> for Stop {
    fn from(error: PythonError) -> Self {
        Self::Program(error)
    }
}

/// Answers the questions of a program until it ends.
async fn turns(
    worker: &mut Checkout,
    code: &str,
    session: &Session,
    print: OnPrint<'_>,
) -> Result<MontyObject, Stop> {
    let mut dump = session.resumed(MONTY_VERSION)?;
    let mut event = match &dump {
        None => worker.feed(code, Vec::new(), Vec::new(), true, print).await?,
        Some(dump) => match in_time(worker.restore(dump.clone(), Vec::new(), print)).await? {
            Ok((Some(event), _)) => event,
            Ok((None, _)) => return Err(PythonError::stale().into()),
            Err(error) => return Err(PythonError::stale().with_source(error).into()),
        },
    };
    loop {
        event = match event {
            TurnEvent::Complete(value) => return Ok(value),
            TurnEvent::NameLookup { name, object_id: None } if session.has_function(&name) => {
                let function = MontyObject::Function { name, docstring: None };
                worker.resume_name_lookup(function, print).await?
            }
            TurnEvent::NameLookup { .. } => {
                worker.resume_name_lookup(NameLookupResult::Undefined, print).await?
            }
            TurnEvent::FunctionCall { function_name, args, kwargs, object_id: None, .. }
                if session.has_function(&function_name) =>
            {
                let answer =
                    match answer(worker, session, &function_name, &args, &kwargs, dump.take()).await? {
                        Ok(value) => ResumeValue::Return(value::from_json(value)),
                        Err(error) => {
                            let text = Some(error.text().to_owned());
                            ResumeValue::Error(MontyException::new(ExcType::RuntimeError, text))
                        }
                    };
                worker.resume(answer, print).await?
            }
            TurnEvent::FunctionCall { .. } => worker.resume(ResumeValue::NotFound, print).await?,
            TurnEvent::OsCall { .. } => worker.resume(ResumeValue::NotHandled, print).await?,
            TurnEvent::ResolveFutures { pending_call_ids } => {
                let raised = |id| (id, ResumeValue::NotFound);
                worker.resume_futures(pending_call_ids.into_iter().map(raised).collect(), print).await?
            }
        };
    }
}

/// Calls a function. One that the user must approve waits with the state of the program, `dump` if it has waited already.
async fn answer(
    worker: &mut Checkout,
    session: &Session,
    name: &str,
    positional: &[MontyObject],
    named: &[(MontyObject, MontyObject)],
    dump: Option<Vec<u8>>,
) -> Result<Result<Value, ToolError>, Stop> {
    let (positional, named) = match arguments(session, positional, named) {
        Ok(arguments) => arguments,
        Err(error) => return Ok(Err(error)),
    };
    let dump = match dump {
        Some(dump) => dump,
        None => match session.call(name, positional.clone(), named.clone()).await {
            Err(error) if error.is_approval_needed() => in_time(worker.dump()).await??,
            end => return Ok(end),
        },
    };
    match session.call_waiting(name, positional, named, MONTY_VERSION, &dump).await {
        Err(error) if error.is_waiting() => Err(PythonError::waiting().into()),
        end => Ok(end),
    }
}

/// Waits for the answer to a request that runs no program.
async fn in_time<T>(answer: impl Future<Output = T>) -> Result<T, PythonError> {
    timeout(READY, answer).await.map_err(PythonError::worker)
}

fn arguments(
    session: &Session,
    positional: &[MontyObject],
    named: &[(MontyObject, MontyObject)],
) -> Result<(Vec<Value>, Map<String, Value>), ToolError> {
    let mut left = session.limits().max_output();
    let too_large = || ToolError::new("The arguments are too large.");
    let mut read = |value| {
        if let Some(part) = value::part_without_json(value) {
            let text = format!(
                "An argument contains a {part}, which JSON has no form for. Convert it, for example with str()."
            );
            return Err(ToolError::new(text));
        }
        value::to_json(value, &mut left).ok_or_else(too_large)
    };
    let positional = positional.iter().map(&mut read).collect::<Result<Vec<_>, _>>()?;
    let mut arguments = Map::new();
    for (key, value) in named {
        arguments.insert(key.to_string(), read(value)?);
    }
    Ok((positional, arguments))
}

fn failed(raised: &MontyException) -> CodeOutcome {
    let kind = raised.exc_type();
    let error = match raised.message() {
        Some(message) => {
            let first = message.lines().next().unwrap_or_default();
            let first = first.get(..first.floor_char_boundary(1_000)).unwrap_or_default();
            format!("{kind}: {first}")
        }
        None => kind.to_string(),
    };
    CodeOutcome::failed(error).traceback(raised.to_string())
}
