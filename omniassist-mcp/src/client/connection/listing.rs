use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use omniassist_server::tool::source::WithheldTool;
use rmcp::model::{ListToolsResult, PaginatedRequestParams, Tool};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::Fault;
use crate::client::definition::Definition;
use crate::client::{McpError, cleaned, tasks};

pub(in crate::client) const MAX_PAGES: usize = 64;
pub(in crate::client) const MAX_TOOLS: usize = 10_000;
pub(in crate::client) const MAX_BYTES: usize = 8 * 1024 * 1024;
pub(in crate::client) const MAX_TIME: Duration = Duration::from_secs(30);

/// The shortest and the longest time that a list is used, however long the server says.
const FRESH: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60 * 60));

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The tools of a server at one time.
pub(in crate::client) struct Listing {
    /// Grows with each list of the process.
    pub(in crate::client) number: u64,
    /// Sorted by name.
    pub(in crate::client) tools: Vec<Arc<Definition>>,
    /// The tools that cannot be read or called.
    pub(in crate::client) withheld: Vec<WithheldTool>,
    /// The time after which the list is read again, if the server gave one.
    pub(in crate::client) fresh_for: Option<Duration>,
}

/// A page of a list.
pub(super) struct Page {
    tools: Vec<Result<Tool, WithheldTool>>,
    next_cursor: Option<String>,
    ttl_ms: Option<u64>,
}

impl Page {
    /// Reads a page of which some tools have another form than that of the protocol.
    pub(super) fn read(mut page: Value) -> Option<Self> {
        let tools = page.get_mut("tools").and_then(Value::as_array_mut).map(std::mem::take)?;
        Some(Self {
            tools: tools.iter().map(read_tool).collect(),
            next_cursor: page.get("nextCursor").and_then(Value::as_str).map(str::to_owned),
            ttl_ms: page.get("ttlMs").and_then(Value::as_u64),
        })
    }
}

impl From<ListToolsResult> for Page {
    fn from(page: ListToolsResult) -> Self {
        let tools = page.tools.into_iter().map(Ok).collect();
        Self { tools, next_cursor: page.next_cursor, ttl_ms: page.ttl_ms }
    }
}

fn read_tool(tool: &Value) -> Result<Tool, WithheldTool> {
    Tool::deserialize(tool).map_err(|error| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let reason = format!("its definition cannot be read: {}", cleaned::description(&error.to_string()));
        WithheldTool::new(name, reason)
    })
}

impl Listing {
    /// Reads all pages of a list, within the limits.
    ///
    /// # Errors
    ///
    /// Returns an error at the first limit, and if a page is no list. A part of a list is of no use.
    pub(super) async fn read<F>(page: impl Fn(Option<PaginatedRequestParams>) -> F) -> Result<Self, McpError>
    where
        F: Future<Output = Result<Page, Fault>>,
    {
        let deadline = Instant::now() + MAX_TIME;
        let mut list = Self { number: 0, tools: Vec::new(), withheld: Vec::new(), fresh_for: None };
        let (mut cursor, mut bytes) = (None, 0);
        for _ in 0..MAX_PAGES {
            let parameters = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let page =
                timeout_at(deadline, page(parameters)).await.map_err(|_| McpError::over_limit("30 s"))?;
            let page = page.map_err(Fault::into_error)?;
            let fresh = page.ttl_ms.map(|ttl| Duration::from_millis(ttl).clamp(FRESH.0, FRESH.1));
            list.fresh_for = [list.fresh_for, fresh].into_iter().flatten().min();
            for tool in page.tools {
                list.take(tool, &mut bytes)?;
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                list.tools.sort_by(|one, other| one.name.cmp(&other.name));
                list.tools.shrink_to_fit();
                list.number = NEXT.fetch_add(1, Ordering::Relaxed);
                return Ok(list);
            }
        }
        Err(McpError::over_limit("64 pages"))
    }

    fn take(&mut self, tool: Result<Tool, WithheldTool>, bytes: &mut usize) -> Result<(), McpError> {
        if self.tools.len() + self.withheld.len() == MAX_TOOLS {
            return Err(McpError::over_limit("10,000 tools"));
        }
        let read = tool.and_then(|tool| {
            let withheld = |reason| WithheldTool::new(tool.name.as_ref(), reason);
            if tasks::are_needed(&tool) {
                return Err(withheld("it needs tasks, which this client does not have"));
            }
            let definition = Definition::new(&tool);
            let definition = definition.ok_or_else(|| withheld("its definition has too many levels"))?;
            if cleaned::schema_hides(&definition.schema) {
                return Err(withheld("a name or a value in its schema has hidden characters"));
            }
            Ok(definition)
        });
        match read {
            Ok(definition) => {
                *bytes += definition.canonical.as_str().len();
                self.tools.push(definition);
            }
            Err(withheld) => {
                *bytes += withheld.name.len();
                self.withheld.push(withheld);
            }
        }
        if *bytes > MAX_BYTES { Err(McpError::over_limit("8 MiB")) } else { Ok(()) }
    }

    /// Returns `true` if the server has this tool with exactly this definition. Of two tools with its name, the later one
    /// counts.
    pub(in crate::client) fn has(&self, tool: &Definition) -> bool {
        let end = self.tools.partition_point(|other| other.name <= tool.name);
        let last = self.tools.get(..end).and_then(<[_]>::last);
        last.is_some_and(|last| last.name == tool.name && last.digest == tool.digest)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    fn page(ttl: Option<u64>) -> Page {
        let schema = Arc::new(serde_json::Map::new());
        let mut page = ListToolsResult::with_all_items(vec![Tool::new("a", "", schema)]);
        page.ttl_ms = ttl;
        page.into()
    }

    #[tokio::test(start_paused = true)]
    async fn all_pages_together_have_thirty_seconds() {
        let began = Instant::now();
        let slow = Listing::read(async |_| {
            sleep(Duration::from_secs(4)).await;
            let mut page = page(None);
            page.next_cursor = Some("next".into());
            Ok(page)
        });
        assert!(slow.await.is_err_and(|error| error.is_over_limit()));
        assert_eq!(began.elapsed(), MAX_TIME);
    }

    /// Returns a tool of a schema with too many levels.
    fn deep(name: String) -> Tool {
        let nested = (0..200).fold(serde_json::json!({}), |schema, _| serde_json::json!({"items": schema}));
        let schema = nested.as_object().cloned().unwrap_or_default();
        Tool::new(name, "", Arc::new(schema))
    }

    #[tokio::test]
    async fn a_tool_whose_schema_hides_text_is_withheld() {
        let shown = ["⚠\u{fe0f} high", "a\r\nb", "👩\u{200d}🔬"];
        let hidden = ["ad\u{202e}nim", "\u{e0061}\u{e0062}", "zero\u{200b}width"];
        let tool = |text: &str| {
            let schema = serde_json::json!({"type": "object", "properties": {
                "a": {"enum": [text], "description": "removed\u{202e}", "pattern": "\u{200b}"},
            }});
            let named = serde_json::json!({"type": "object", "properties": {text: {}}});
            let default =
                serde_json::json!({"type": "object", "properties": {"a": {"default": {"b": text}}}});
            [schema, named, default]
                .map(|schema| Tool::new("a", "", Arc::new(schema.as_object().cloned().unwrap_or_default())))
        };
        for (texts, are_withheld) in [(shown, false), (hidden, true)] {
            for tool in texts.iter().flat_map(|text| tool(text)) {
                let listing =
                    Listing::read(async |_| Ok(ListToolsResult::with_all_items(vec![tool.clone()]).into()));
                let listing = listing.await.ok().unwrap();
                assert_eq!(listing.tools.is_empty(), are_withheld, "{tool:?}");
                assert_eq!(listing.withheld.len(), usize::from(are_withheld));
            }
        }
    }

    #[tokio::test]
    async fn names_of_tools_that_cannot_be_read_count() {
        for (bytes, fits) in [(MAX_BYTES / 8, true), (MAX_BYTES / 8 + 1, false)] {
            let listing = Listing::read(async |_| {
                let tools = (0..8).map(|number| deep(format!("{number}{}", "x".repeat(bytes - 1)))).collect();
                Ok(ListToolsResult::with_all_items(tools).into())
            });
            let read = listing.await;
            assert_eq!(read.as_ref().is_ok_and(|list| list.withheld.len() == 8), fits);
            assert_eq!(read.is_err_and(|error| error.is_over_limit()), !fits);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_server_is_held_within_bounds() {
        let cases =
            [(None, None), (Some(0), Some(5)), (Some(60_000), Some(60)), (Some(u64::MAX), Some(3600))];
        for (given, expected) in cases {
            let listing = Listing::read(async |_| Ok(page(given))).await.ok().unwrap();
            assert_eq!(listing.fresh_for, expected.map(Duration::from_secs), "{given:?}");
        }
    }
}
