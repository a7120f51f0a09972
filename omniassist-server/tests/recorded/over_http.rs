//! Tests of recordings over HTTP from a provider's server through a provider, the engine and the service to a client
//! that reads the AI SDK's stream.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use omniassist_server::Assistant;
use omniassist_server::core::LlmPayload;
use omniassist_server::http::AssistantService;
use omniassist_server::provider::{LlmProvider, LlmStream};
use omniassist_server::testing::{FakeProvider, Reply};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::apis::APIS;
use super::library::{Recording, recordings};
use super::report;
use super::seen::{Call, Layer, Seen, differences};
use super::stage::{Executions, assistant, sorted, wanted_executions};

/// The sizes of the pieces of a recording on the connection.
const PIECES: [usize; 4] = [usize::MAX, 23, 509, 4_099];

/// A model that receives its first answer from the provider's server and answers later calls with fixed text.
struct FirstOverHttp {
    http: Arc<dyn LlmProvider>,
    asked: std::sync::atomic::AtomicUsize,
}

impl LlmProvider for FirstOverHttp {
    fn name(&self) -> &str {
        self.http.name()
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        if self.asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            return self.http.stream(payload);
        }
        super::stage::says("Done.")
    }
}

async fn serve(assistant: Assistant) -> (SocketAddr, JoinHandle<()>) {
    let service = AssistantService::new(assistant);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let service = hyper::service::service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new();
        let _ = connection.serve_connection(TokioIo::new(socket), service).await;
    });
    (address, task)
}

/// Posts a question and returns the chunks of the answer.
async fn ask(address: SocketAddr) -> Vec<Value> {
    let body = json!({"id": "chat", "messages": [
        {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Go on."}]}
    ]})
    .to_string();
    // HTTP/1.0: the body ends with the connection and needs no decoding.
    let head = format!(
        "POST / HTTP/1.0\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    let (head, events) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("200 OK") && head.contains("text/event-stream"), "{head}");
    let events = events.strip_suffix("data: [DONE]\n\n").expect("the stream must end with `[DONE]`");
    events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// Returns the content of the first step's chunks, and the end of the run.
fn read(chunks: &[Value]) -> (Seen, Vec<&str>) {
    let mut seen = Seen::default();
    let mut terminal = Vec::new();
    let mut steps = 0;
    for chunk in chunks {
        let text = |field: &str| chunk[field].as_str().unwrap_or_default();
        let kind = text("type");
        match kind {
            "start-step" => steps += 1,
            "finish" | "error" | "abort" => {
                terminal.push(kind);
                // Steps have no finish reason in this stream. If there is only one step, the run has the same reason.
                if steps == 1 {
                    seen.finish = Some(text("finishReason").replace('-', "_"));
                    let usage = &chunk["messageMetadata"]["usage"];
                    seen.usage = Some(json!({
                        "input": usage["inputTokens"], "output": usage["outputTokens"],
                        "total": usage["totalTokens"], "cached_input": usage["cachedInputTokens"],
                        "reasoning": usage["reasoningTokens"],
                    }));
                }
            }
            _ if steps > 1 => {}
            "text-delta" => seen.text.push_str(text("delta")),
            "reasoning-delta" => seen.reasoning.push_str(text("delta")),
            "source-url" | "source-document" => seen.citations += 1,
            "tool-input-start" => seen.calls.push(Call {
                id: text("toolCallId").to_owned(),
                name: text("toolName").to_owned(),
                input: Value::Null,
                runs: false,
            }),
            "tool-input-available" if chunk["providerExecuted"] == true => seen.builtin += 1,
            "tool-input-available" | "tool-input-error" => {
                let call = seen.calls.iter_mut().find(|call| call.id == text("toolCallId")).unwrap();
                call.input = chunk["input"].clone();
                call.runs = kind == "tool-input-available";
            }
            _ => {}
        }
    }
    (seen, terminal)
}

/// The server of an API and its provider, which is reused because its client is expensive to create.
type Upstream = (FakeProvider, Arc<dyn LlmProvider>);

async fn check(recording: &Recording, piece: usize, (server, http): &Upstream) -> Vec<String> {
    let reply = Reply::sse(recording.bytes.clone());
    server.reply(if piece == usize::MAX { reply } else { reply.chunked_by(piece) });
    let executions = Executions::default();
    let model = FirstOverHttp { http: Arc::clone(http), asked: Default::default() };
    let (address, task) = serve(assistant(model, recording, &executions)).await;
    let chunks = ask(address).await;
    task.await.unwrap();

    let (seen, terminal) = read(&chunks);
    let mut wrong = differences(&seen, recording, Layer::Http);
    if terminal != ["finish"] {
        wrong.push(format!("ended with {terminal:?}"));
    }
    let (made, wanted) = (sorted(executions.take()), sorted(wanted_executions(recording)));
    if made != wanted {
        wrong.push(format!("executions: found {made:?}, expected {wanted:?}"));
    }
    wrong
}

#[tokio::test]
async fn recordings_work_over_http_whole_and_in_pieces() {
    let Some((recordings, others)) = recordings() else { return };
    let mut failures = Vec::new();
    let mut upstreams: HashMap<&str, Upstream> = HashMap::new();
    for api in APIS {
        let server = FakeProvider::start().await.unwrap();
        let provider = (api.provider)(&server);
        upstreams.insert(api.name, (server, provider));
    }
    for recording in &recordings {
        for piece in PIECES {
            let wrong = check(recording, piece, &upstreams[recording.api.name]).await;
            let path = &recording.path;
            failures.extend(wrong.into_iter().map(|wrong| format!("{path} in pieces of {piece}: {wrong}")));
        }
    }
    let (count, ways) = (recordings.len(), PIECES.len());
    report(
        &format!("HTTP: {count} recordings ({others} without a decoder), {} answers", count * ways),
        &failures,
    );
}
