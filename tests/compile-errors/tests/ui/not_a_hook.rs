use omniassist_server::testing::ScriptedProvider;
use omniassist_server::{Assistant, Principal};

async fn session(token: &str) -> Option<Principal> {
    Some(Principal::new(token))
}

fn main() {
    let _ = Assistant::builder(ScriptedProvider::new()).authenticate(session);
    let _ = Assistant::builder(ScriptedProvider::new()).authenticate("secret");
}
