//! The tools with which a model operates the page that the user sees.

use schemars::JsonSchema;

use super::tool::Tool;

/// Declarations of tools that a page runs: they find, show and operate what the user sees.
///
/// They are [front-end tools](Tool::front_end): the model calls them, and the page runs them and posts the output. Add those
/// that your page implements, with the names that it uses ([`Tool::rename`]). A page that does not know a tool leaves its
/// call open.
///
/// The page decides what they may touch. The model reads the content of pages, and what it reads can influence it, so let the
/// page ask the user before it sends a form.
///
/// ```
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::tool::BrowserTools;
/// use omniassist_server::Assistant;
///
/// let assistant = Assistant::builder(ScriptedProvider::new())
///     .tool(BrowserTools::discover_dom())
///     .tool(BrowserTools::fill_input().rename("fillInput"))
///     .build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct BrowserTools;

/// A kind of elements of a page.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "only the schema counts")]
enum ElementKind {
    Any,
    Button,
    Field,
    Heading,
    Link,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema counts")]
struct DiscoverDom {
    /// Words of the label or the text of the elements. Without them, all visible elements.
    text: Option<String>,
    /// The kind of the elements.
    kind: ElementKind,
    /// The most elements to return.
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

/// A movement of the cursor.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "only the schema counts")]
enum CursorAction {
    Show,
    Move,
    Click,
    Hide,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema counts")]
struct ControlCursor {
    action: CursorAction,
    /// The id of an element, as `discover_dom` returned it. Needed to move and to click.
    element: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema counts")]
struct FillInput {
    /// The id of a field, as `discover_dom` returned it.
    element: String,
    /// The new content. For a checkbox `true` or `false`, for a selection the label of the option.
    value: String,
}

/// An action on a page.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "only the schema counts")]
enum WebAction {
    Open,
    Back,
    Reload,
    ScrollTo,
    Read,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema counts")]
struct WebControl {
    action: WebAction,
    /// The path of a page of this application, such as `/orders`. Needed to open a page.
    path: Option<String>,
    /// The id of an element, as `discover_dom` returned it. Needed to scroll; without it, the whole page is read.
    element: Option<String>,
}

impl BrowserTools {
    /// Returns `web_control`: opens, reloads, scrolls and reads pages.
    pub fn web_control() -> Tool {
        let description = "Opens a page of the application, goes back, reloads, scrolls to an element, or reads the text \
            that is shown.";
        Tool::front_end::<WebControl>("web_control", description).title("Operate the page")
    }

    /// Returns `control_cursor`: shows a cursor that points at elements and clicks them.
    pub fn control_cursor() -> Tool {
        let description = "Shows a cursor on the page, moves it to an element, clicks there, or hides it.";
        Tool::front_end::<ControlCursor>("control_cursor", description).title("Move the cursor")
    }

    /// Returns `discover_dom`: finds the elements that are visible, with their ids.
    pub fn discover_dom() -> Tool {
        let description = "Finds elements of the page that the user sees. Returns the id, the kind and the label of each. \
            Call it before you point at, click or fill an element.";
        Tool::front_end::<DiscoverDom>("discover_dom", description).title("Look at the page")
    }

    /// Returns `fill_input`: writes into a field. It does not send the form.
    pub fn fill_input() -> Tool {
        let description = "Writes into a field of the page that the user sees. It sends nothing.";
        Tool::front_end::<FillInput>("fill_input", description).title("Fill in a field")
    }

    /// Returns `requestInput`: [`Tool::request_input`] under the name that some pages expect.
    pub fn request_input() -> Tool {
        Tool::request_input().rename("requestInput")
    }

    /// Returns all of these tools.
    pub fn all() -> [Tool; 5] {
        [
            Self::web_control(),
            Self::control_cursor(),
            Self::discover_dom(),
            Self::fill_input(),
            Self::request_input(),
        ]
    }
}
