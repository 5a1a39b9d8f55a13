//! The MCP objects: their wire shapes and their serde structs.
//!
//! Each object is declared once, in the file of its subject. The declaration defines the Rust
//! struct, its JSON (keys in table order, absent fields omitted) and its [`Shape`]. The shape is
//! the table for the term writer of the native extension.
//!
//! | file | objects |
//! |---|---|
//! | `shape` | [`Shape`], [`Field`], [`Kind`], [`Presence`]: the table's own types |
//! | `declare`, `member` | the declaring macros; the wire form of each Rust type |
//! | `revise` | an object as an older revision knows it |
//! | `tool`, `content`, `prompt`, `resource`, `completion`, `schema`, `app`, `json_rpc` | the objects |
//! | `task` | tasks: calls that outlive their request |
//! | `envelope` | an answer in the form `response-v2` |
//! | `notification`, `input` | notifications and requests from the server |
//! | `form` | the forms of elicitations: their rules, and their older spelling |
//! | `common` | objects shared by several others |
//!
//! # Examples
//! ```
//! use mcp_core::model::{encode_for, CallResult, CALL_RESULT};
//! use mcp_core::revision::Revision;
//!
//! let result: CallResult = serde_json::from_str(
//!     r#"{"content":[{"type":"audio","data":"AAEC","mimeType":"audio/wav"}]}"#,
//! )?;
//! assert_eq!(
//!     result.encode_at(Revision::V2024_11_05),
//!     br#"{"content":[{"type":"text","text":"[audio/wav audio]"}],"isError":false}"#,
//! );
//! # Ok::<(), serde_json::Error>(())
//! ```

#[macro_use]
mod declare;
mod app;
mod common;
mod completion;
mod content;
mod envelope;
mod form;
mod input;
mod json_rpc;
mod member;
mod notification;
mod prompt;
mod resource;
mod revise;
mod schema;
mod shape;
mod task;
mod tool;

use serde::Serialize;
use serde_json::Value;

pub use app::*;
pub use common::*;
pub use completion::*;
pub use content::*;
pub use envelope::*;
pub use form::{FormError, FormStep, fit_form};
pub use input::*;
pub use json_rpc::*;
pub use member::Base64;
pub use notification::*;
pub use prompt::*;
pub use resource::*;
pub use schema::*;
pub use shape::{Field, Kind, Part, Presence, Shape};
pub use task::*;
pub use tool::*;

use crate::revision::Revision;
use revise::bears_tag;

/// Every shape, grouped by subject.
pub const SHAPES: &[&Shape] = &[
    &TOOL,
    &TOOL_ANNOTATIONS,
    &TOOL_EXECUTION,
    &SCHEMA,
    &CALL_RESULT,
    &TEXT_CONTENT,
    &IMAGE_CONTENT,
    &AUDIO_CONTENT,
    &EMBEDDED_RESOURCE,
    &RESOURCE_LINK,
    &TOOL_USE_CONTENT,
    &TOOL_RESULT_CONTENT,
    &ENVELOPE,
    &ANNOTATIONS,
    &ICON,
    &IMPLEMENTATION,
    &PROMPT,
    &PROMPT_ARGUMENT,
    &PROMPT_MESSAGE,
    &MESSAGE_CONTENT,
    &GET_RESULT,
    &COMPLETION,
    &RESOURCE,
    &RESOURCE_TEMPLATE,
    &READ_RESULT,
    &RESOURCE_CONTENT,
    &APP_META,
    &TOOL_UI,
    &UI_RESOURCE_META,
    &CSP,
    &PERMISSIONS,
    &RPC_REQUEST,
    &RPC_RESPONSE,
    &RPC_ERROR,
    &PROGRESS,
    &LOG_MESSAGE,
    &RESOURCE_UPDATED,
    &CANCELLED,
    &LIST_CHANGED,
    &ELICITATION_COMPLETE,
    &SUBSCRIPTIONS_ACKNOWLEDGED,
    &ELICIT,
    &SAMPLING,
    &SAMPLING_MESSAGE,
    &MODEL_PREFERENCES,
    &MODEL_HINT,
    &TOOL_CHOICE,
    &ROOTS,
    &TASK,
    &TASK_RESULT,
    &CREATE_TASK_RESULT,
    &TASK_LIST,
];

/// The shape with that name.
///
/// # Examples
/// ```
/// use mcp_core::model::{Presence, shape};
/// let is_error = shape("Tool.CallResult").and_then(|shape| shape.field("isError"));
/// assert_eq!(is_error.map(|field| (field.name, field.presence)), Some(("is_error", Presence::Always("false"))));
/// ```
#[must_use]
pub fn shape(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().copied().find(|shape| shape.name == name)
}

/// Writes an object, given in the spelling of the newest revision, for `revision`.
///
/// - Fields that the revision does not know are omitted. Keys without a table entry stay only at
///   the newest revision. `null` counts as absent.
/// - A content kind that the revision does not know becomes text: audio `[audio/wav audio]`, a link
///   `name: uri`.
/// - Before 2026-07-28 an output schema of another type than `object` is omitted, and so is
///   structured content that is not an object. A property's schema `true` or `false` becomes an
///   object.
/// - Before 2025-11-25 a sampling message with several blocks becomes several messages.
/// - A form is written as by [`fit_form`]. A form that [`fit_form`] refuses is unchanged.
///
/// A missing required field is no error here: reading the object into its struct reports it.
///
/// # Examples
/// ```
/// use mcp_core::model::{TOOL, encode_for};
/// use mcp_core::revision::Revision;
/// let tool = serde_json::json!({"name": "add", "inputSchema": {"type": "object"}, "title": "Add"});
/// assert_eq!(
///     encode_for(&TOOL, &tool, Revision::V2025_03_26),
///     br#"{"name":"add","inputSchema":{"type":"object"}}"#,
/// );
/// ```
#[must_use]
pub fn encode_for(shape: &Shape, value: &Value, revision: Revision) -> Vec<u8> {
    revise::object(shape, value, revision)
        .to_string()
        .into_bytes()
}

fn encode<T: Serialize>(object: &T) -> Vec<u8> {
    to_value(object).to_string().into_bytes()
}

fn encode_at<T: Serialize>(shape: &Shape, object: &T, revision: Revision) -> Vec<u8> {
    encode_for(shape, &to_value(object), revision)
}

/// The objects hold only strings, numbers and JSON values, so `serde_json` cannot fail.
fn to_value<T: Serialize>(object: &T) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}
