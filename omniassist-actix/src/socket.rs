//! The WebSocket of the assistant. Actix upgrades a connection by a response whose body never ends, while the payload of the
//! request goes on.

use actix_web::dev::Payload;
use actix_web::http::header::{CONNECTION, HeaderName, UPGRADE};
use actix_web::http::{ConnectionType, Method};
use actix_web::{HttpRequest, HttpResponse};
use omniassist_server::http::{AssistantService, SocketUpgrade};
use tokio::io::duplex;

use crate::carry::Carry;
use crate::request;
use crate::response::{self, ResponseBody};
use crate::upgraded::Upgraded;

/// The bytes that wait between actix's connection and the assistant, in each direction.
const BUFFER: usize = 64 * 1024;

/// Returns `true` for a request that wants a WebSocket. The payload of every other one is its body, whatever it wants to
/// upgrade to.
pub(crate) fn is_wanted(request: &HttpRequest) -> bool {
    let has_word = |name: HeaderName, word: &str| {
        let values = request.headers().get_all(name).filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(word))
    };
    request.method() == Method::GET && has_word(CONNECTION, "upgrade") && has_word(UPGRADE, "websocket")
}

/// Answers a request that wants a WebSocket.
pub(crate) async fn answer(
    service: AssistantService,
    carried: &[Carry],
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse<ResponseBody> {
    let version = request::answered_in(&request);
    // The payload is what comes after the upgrade.
    let Some(mut of) = request::below_scope(&request, Payload::None, carried) else {
        return response::bad_request();
    };
    let (ours, theirs) = duplex(BUFFER);
    of.extensions_mut().insert(SocketUpgrade::new(theirs));
    let answer = service.handle(of).await;
    if answer.status() != http::StatusCode::SWITCHING_PROTOCOLS {
        return response::of(answer, version);
    }
    let response = response::of(answer, version);
    let bridge = Upgraded::new(payload, ours);
    let mut response = response.map_body(|_, _| ResponseBody::Socket(bridge));
    response.headers_mut().remove(CONNECTION);
    response.head_mut().set_connection_type(ConnectionType::Upgrade);
    response.head_mut().no_chunking(true);
    response
}
