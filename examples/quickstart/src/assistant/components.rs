//! The components that the model can show. The widget draws them.

use omniassist_axum::Tool;
use omniassist_axum::ui::builtin;
use serde_json::{Value, json};

/// Returns a table whose rows the user can tick, a chart, and a form that waits for the user.
pub(crate) fn all() -> [Tool; 3] {
    [
        builtin::table().into_tool().title("Table"),
        builtin::chart().into_tool().title("Chart"),
        builtin::form().into_tool().title("Form").example("Book a delivery", delivery()),
    ]
}

/// Returns the props of a form as a model writes them.
pub(crate) fn delivery() -> Value {
    json!({
        "title": "Book a delivery",
        "fields": [
            {"name": "day", "label": "Day", "kind": "date", "required": true},
            {"name": "time", "label": "Time", "kind": "select", "options": ["morning", "afternoon"], "required": true},
            {"name": "floor", "label": "Floor", "kind": "number"},
            {"name": "lift", "label": "There is a lift", "kind": "checkbox"}
        ],
        "submit": "Book"
    })
}
