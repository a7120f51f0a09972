use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Bench;
use omniassist_server::tool::{
    Args, CallId, ChatId, Extension, FromToolCall, Json, State, Tool, ToolContext, ToolError, ToolSnapshot,
};
use omniassist_server::{CancellationToken, Principal, RunContext};

#[derive(Deserialize, Serialize, JsonSchema)]
struct Query {
    /// The order's number.
    number: String,
    count: Option<u32>,
}

#[derive(Clone)]
struct Db(Arc<AtomicUsize>);

#[derive(Clone)]
struct User {
    name: String,
}

fn only_spec(snapshot: &ToolSnapshot) -> Value {
    snapshot.specs()[0].input_schema.clone()
}

#[tokio::test]
async fn args_extract_the_value_and_define_the_schema() {
    async fn tool(Args(query): Args<Query>) -> Result<Json<Query>, ToolError> {
        Ok(Json(query))
    }
    let bench = Bench::new();
    let output = bench.call(Tool::new("t", "d", tool), r#"{"number":"A-17","count":2}"#).await;
    assert_eq!(output.unwrap(), r#"{"number":"A-17","count":2}"#);

    let schema = only_spec(&bench.tools(Tool::new("t", "d", tool)).snapshot());
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "number": {"type": "string", "description": "The order's number."},
                "count": {"type": ["integer", "null"], "minimum": 0},
            },
            "required": ["number"],
        })
    );
}

#[tokio::test]
async fn arguments_that_only_the_type_refuses_are_an_error() {
    async fn tool(Args(query): Args<Query>) -> Result<String, ToolError> {
        Ok(query.number)
    }
    let error =
        Bench::new().call(Tool::new("t", "d", tool), r#"{"number":"x","number":"y"}"#).await.unwrap_err();
    assert!(error.text().starts_with("The arguments do not fit: duplicate field `number`"), "{error}");
}

#[tokio::test]
async fn a_tool_without_parameters_takes_an_empty_object() {
    let tool = || Tool::new("t", "d", async || Ok::<_, ToolError>(7));
    assert_eq!(Bench::new().call(tool(), "{}").await.unwrap(), "7");
    let schema = only_spec(&Bench::new().tools(tool()).snapshot());
    assert_eq!(schema, json!({"type": "object", "properties": {}}));
}

#[tokio::test]
async fn state_is_a_clone_of_the_hosts_value() {
    async fn tool(State(db): State<Db>) -> Result<usize, ToolError> {
        Ok(db.0.fetch_add(1, Ordering::SeqCst))
    }
    let counter = Arc::new(AtomicUsize::new(41));
    let bench = Bench::new().state(Db(Arc::clone(&counter)));
    assert_eq!(bench.call(Tool::new("t", "d", tool), "{}").await.unwrap(), "41");
    assert_eq!(counter.load(Ordering::SeqCst), 42);
}

#[tokio::test]
async fn an_extension_is_read_from_the_request() {
    async fn tool(Extension(user): Extension<User>) -> Result<String, ToolError> {
        Ok(user.name)
    }
    let bench = Bench::new().extension(User { name: "Ada".into() });
    assert_eq!(bench.call(Tool::new("t", "d", tool), "{}").await.unwrap(), "\"Ada\"");

    let error = Bench::new().call(Tool::new("t", "d", tool), "{}").await.unwrap_err();
    assert_eq!(error.text(), "The tool failed.", "the name of a type must appear in the log only");
    assert!(error.source().unwrap().to_string().contains("extract::User`"), "{error:?}");
}

#[tokio::test]
async fn an_optional_extension_can_be_absent() {
    async fn tool(user: Option<Extension<User>>) -> Result<Option<String>, ToolError> {
        Ok(user.map(|Extension(user)| user.name))
    }
    let bench = Bench::new().extension(User { name: "Ada".into() });
    assert_eq!(bench.call(Tool::new("t", "d", tool), "{}").await.unwrap(), "\"Ada\"");
    assert_eq!(Bench::new().call(Tool::new("t", "d", tool), "{}").await.unwrap(), "null");
}

#[tokio::test]
async fn the_principal_is_that_of_the_request_or_anonymous() {
    async fn tool(user: Principal) -> Result<String, ToolError> {
        Ok(user.to_string())
    }
    assert_eq!(Bench::new().principal("u7").call(Tool::new("t", "d", tool), "{}").await.unwrap(), "\"u7\"");
    assert_eq!(Bench::new().call(Tool::new("t", "d", tool), "{}").await.unwrap(), "\"anonymous\"");
}

#[tokio::test]
async fn the_tool_context_describes_the_call() {
    async fn tool(call: ToolContext) -> Result<Value, ToolError> {
        Ok(json!([
            call.call_id(),
            call.tool_name(),
            call.arguments(),
            call.run().run_id().starts_with("run_"),
            call.state::<u8>(),
            call.is_cancelled()
        ]))
    }
    let output = Bench::new().state(9_u8).call(Tool::new("t", "d", tool), "{\"a\": 1}").await;
    assert_eq!(output.unwrap(), r#"["call-1","t",{"a":1},true,9,false]"#);
}

#[tokio::test]
async fn run_context_token_and_ids() {
    async fn tool(
        run: RunContext,
        token: CancellationToken,
        CallId(call): CallId,
        ChatId(chat): ChatId,
    ) -> Result<Value, ToolError> {
        // The token belongs to the tool. Cancelling it does not end the call.
        token.cancel();
        tokio::task::yield_now().await;
        Ok(json!([run.run_id().starts_with("run_"), token.is_cancelled(), call, chat]))
    }
    let mut bench = Bench::new();
    bench.chat_id = Some("chat-1");
    let output = bench.call(Tool::new("t", "d", tool), "{}").await;
    assert_eq!(output.unwrap(), r#"[true,true,"call-1","chat-1"]"#);

    let error = Bench::new().call(Tool::new("t", "d", tool), "{}").await.unwrap_err();
    assert_eq!(error.text(), "The request names no chat, which this tool needs.");
}

#[tokio::test]
async fn the_chat_id_can_be_optional() {
    async fn tool(chat: Option<ChatId>) -> Result<bool, ToolError> {
        Ok(chat.is_some())
    }
    assert_eq!(Bench::new().call(Tool::new("t", "d", tool), "{}").await.unwrap(), "false");
}

#[tokio::test]
async fn twelve_parameters() {
    #[expect(clippy::too_many_arguments, reason = "the test needs twelve parameters")]
    async fn tool(
        Args(query): Args<Query>,
        State(db): State<Db>,
        State(factor): State<usize>,
        Extension(user): Extension<User>,
        maybe: Option<Extension<u8>>,
        principal: Principal,
        call: ToolContext,
        run: RunContext,
        token: CancellationToken,
        CallId(id): CallId,
        ChatId(chat): ChatId,
        again: Option<ChatId>,
    ) -> Result<Value, ToolError> {
        Ok(json!([
            query.number,
            db.0.load(Ordering::SeqCst) * factor,
            user.name,
            maybe.is_none(),
            principal.id(),
            call.tool_name(),
            run.run_id().starts_with("run_"),
            token.is_cancelled(),
            id,
            chat,
            again.map(|ChatId(id)| id),
        ]))
    }
    let mut bench = Bench::new()
        .state(Db(Arc::new(AtomicUsize::new(3))))
        .state(2_usize)
        .extension(User { name: "Ada".into() })
        .principal("u7");
    bench.chat_id = Some("c");
    let output = bench.call(Tool::new("t", "d", tool), r#"{"number":"A"}"#).await.unwrap();
    assert_eq!(output, r#"["A",6,"Ada",true,"u7","t",true,false,"call-1","c","c"]"#);
}

#[tokio::test]
async fn a_custom_extractor() {
    struct Admin;
    impl FromToolCall for Admin {
        fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
            let admin = call.run().principal().id() == "root";
            if admin { Ok(Self) } else { Err(ToolError::new("Only for administrators.")) }
        }
    }
    async fn tool(_: Admin) -> Result<&'static str, ToolError> {
        Ok("done")
    }
    assert_eq!(
        Bench::new().principal("root").call(Tool::new("t", "d", tool), "{}").await.unwrap(),
        "\"done\""
    );
    let error = Bench::new().principal("u7").call(Tool::new("t", "d", tool), "{}").await.unwrap_err();
    assert_eq!(error.text(), "Only for administrators.");
}

#[tokio::test]
async fn plain_and_async_closures() {
    let factor = 3;
    let plain = Tool::new("t", "d", move |Args(query): Args<Query>| async move {
        Ok::<_, ToolError>(query.count.unwrap_or(1) * factor)
    });
    assert_eq!(Bench::new().call(plain, r#"{"number":"A","count":2}"#).await.unwrap(), "6");

    let asynchronous = Tool::new("t", "d", async |CallId(id): CallId| Ok::<_, ToolError>(id));
    assert_eq!(Bench::new().call(asynchronous, "{}").await.unwrap(), "\"call-1\"");
}

#[tokio::test]
async fn a_dynamic_tool_receives_a_json_value() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = Tool::from_fn_with_schema("t", "d", schema, |arguments, call| async move {
        Ok::<_, ToolError>(json!([arguments["n"], call.state::<u8>()]))
    });
    assert_eq!(Bench::new().state(1_u8).call(tool, r#"{"n":5}"#).await.unwrap(), "[5,1]");
}

#[tokio::test]
async fn tool_errors_reach_the_model_and_other_errors_do_not() {
    async fn told() -> Result<(), ToolError> {
        Err(ToolError::new("There is no order A-17."))
    }
    async fn hidden() -> Result<(), std::io::Error> {
        Err(std::io::Error::other("password=hunter2"))
    }
    async fn boxed() -> Result<(), ToolError> {
        Err(ToolError::internal("password=hunter2"))
    }
    let bench = Bench::new();
    let error = bench.call(Tool::new("t", "d", told), "{}").await.unwrap_err();
    assert_eq!(error.text(), "There is no order A-17.");
    let error = bench.call(Tool::new("t", "d", hidden), "{}").await.unwrap_err();
    assert_eq!((error.text(), error.to_string().as_str()), ("The tool failed.", "The tool failed."));
    assert_eq!(error.source().unwrap().to_string(), "password=hunter2");
    assert_eq!(bench.call(Tool::new("t", "d", boxed), "{}").await.unwrap_err().text(), "The tool failed.");
}
