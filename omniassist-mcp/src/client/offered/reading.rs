use std::future::Future;

use omniassist_server::Principal;
use rmcp::model::{
    ClientRequest, ErrorCode, GetPromptRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
    Request, RequestOptionalParam, ResourceContents, ServerResult,
};
use tokio::time::{Instant, timeout_at};

use super::content::McpMessage;
use super::listed::{McpPrompt, McpResource};
use crate::client::McpError;
use crate::client::config::Config;
use crate::client::connection::{Fault, MAX_BYTES, MAX_PAGES, MAX_TIME, MAX_TOOLS};
use crate::client::pool::Pool;

/// Sends a request that changes nothing, and once more over another connection if the first one was lost.
async fn request(
    pool: &Pool,
    who: &Principal,
    request: ClientRequest,
    deadline: Instant,
) -> Result<ServerResult, McpError> {
    let mut is_repeated = false;
    loop {
        let link = pool.link(who)?;
        let ready = timeout_at(deadline, link.ready()).await.map_err(|_| McpError::timed_out())?;
        let ready = ready.map_err(McpError::not_connected)?;
        match ready.connection.request(request.clone(), deadline).await {
            Ok(result) => return Ok(result),
            Err(fault) => {
                let is_lost = matches!(fault, Fault::NotRun(_) | Fault::Expired(_) | Fault::Gone(_));
                if is_lost {
                    ready.connection.abandon();
                }
                if !is_lost || is_repeated {
                    return Err(fault.into_error());
                }
                is_repeated = true;
            }
        }
    }
}

/// Reads all pages of a list, within the limits of a list of tools.
async fn pages<T, F>(
    page: impl Fn(PaginatedRequestParams, Instant) -> F,
    size: impl Fn(&T) -> usize,
) -> Result<Vec<T>, McpError>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), McpError>>,
{
    let deadline = Instant::now() + MAX_TIME;
    let (mut all, mut cursor, mut bytes) = (Vec::new(), None, 0);
    for _ in 0..MAX_PAGES {
        let (items, next) = page(PaginatedRequestParams::default().with_cursor(cursor), deadline).await?;
        bytes += items.iter().map(&size).sum::<usize>();
        all.extend(items);
        if all.len() > MAX_TOOLS {
            return Err(McpError::over_limit("10,000 items"));
        }
        if bytes > MAX_BYTES {
            return Err(McpError::over_limit("8 MiB"));
        }
        cursor = next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
    Err(McpError::over_limit("64 pages"))
}

fn optional(parameters: PaginatedRequestParams) -> Option<PaginatedRequestParams> {
    Some(parameters).filter(|parameters| parameters.cursor.is_some())
}

/// Reads the list of resources, and then that of templates.
pub(in crate::client) async fn list_resources(
    pool: &Pool,
    who: &Principal,
) -> Result<Vec<McpResource>, McpError> {
    let size = |resource: &McpResource| {
        let texts = [&resource.title, &resource.description];
        resource.uri.len() + resource.name.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    };
    let resources = async |parameters, deadline| {
        let list = RequestOptionalParam { params: optional(parameters), ..RequestOptionalParam::default() };
        match request(pool, who, ClientRequest::ListResourcesRequest(list), deadline).await? {
            ServerResult::ListResourcesResult(page) => {
                Ok((page.resources.into_iter().map(McpResource::from).collect(), page.next_cursor))
            }
            _ => Err(McpError::answer("not a list of resources")),
        }
    };
    let templates = async |parameters, deadline| {
        let list = RequestOptionalParam { params: optional(parameters), ..RequestOptionalParam::default() };
        match request(pool, who, ClientRequest::ListResourceTemplatesRequest(list), deadline).await? {
            ServerResult::ListResourceTemplatesResult(page) => {
                Ok((page.resource_templates.into_iter().map(McpResource::from).collect(), page.next_cursor))
            }
            _ => Err(McpError::answer("not a list of templates")),
        }
    };
    let mut all = pages(resources, size).await?;
    match pages(templates, size).await {
        // The server has resources, and no templates.
        Err(error) if error.refusal().is_some_and(|error| error.code == ErrorCode::METHOD_NOT_FOUND) => {}
        templates => all.extend(templates?),
    }
    Ok(all)
}

/// Reads a resource.
pub(in crate::client) async fn read_resource(
    pool: &Pool,
    config: &Config,
    who: &Principal,
    uri: &str,
) -> Result<Vec<ResourceContents>, McpError> {
    let read = ClientRequest::ReadResourceRequest(Request::new(ReadResourceRequestParams::new(uri)));
    match request(pool, who, read, Instant::now() + config.call_timeout).await? {
        ServerResult::ReadResourceResult(read) => Ok(read.contents),
        _ => Err(McpError::answer("not the content of a resource")),
    }
}

/// Reads the list of prompts.
pub(in crate::client) async fn list_prompts(
    pool: &Pool,
    who: &Principal,
) -> Result<Vec<McpPrompt>, McpError> {
    let size = |prompt: &McpPrompt| {
        let arguments = prompt.arguments.iter();
        let texts = arguments
            .map(|argument| argument.name.len() + argument.description.as_ref().map_or(0, String::len));
        prompt.name.len() + prompt.description.as_ref().map_or(0, String::len) + texts.sum::<usize>()
    };
    let prompts = async |parameters, deadline| {
        let list = RequestOptionalParam { params: optional(parameters), ..RequestOptionalParam::default() };
        match request(pool, who, ClientRequest::ListPromptsRequest(list), deadline).await? {
            ServerResult::ListPromptsResult(page) => {
                Ok((page.prompts.into_iter().map(McpPrompt::from).collect(), page.next_cursor))
            }
            _ => Err(McpError::answer("not a list of prompts")),
        }
    };
    pages(prompts, size).await
}

/// Reads a prompt.
pub(in crate::client) async fn get_prompt(
    pool: &Pool,
    config: &Config,
    who: &Principal,
    name: &str,
    arguments: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<McpMessage>, McpError> {
    let arguments = arguments.into_iter().map(|(name, value)| (name, value.into())).collect();
    let parameters = GetPromptRequestParams::new(name).with_arguments(arguments);
    let get = ClientRequest::GetPromptRequest(Request::new(parameters));
    match request(pool, who, get, Instant::now() + config.call_timeout).await? {
        ServerResult::GetPromptResult(prompt) => {
            let messages = prompt.messages.into_iter();
            Ok(messages.map(|message| McpMessage::read(message, config.max_output_bytes)).collect())
        }
        ServerResult::InputRequiredResult(_) => Err(McpError::answer("the prompt needs an input")),
        _ => Err(McpError::answer("not a prompt")),
    }
}
