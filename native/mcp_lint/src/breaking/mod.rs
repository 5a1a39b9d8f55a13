//! What a client that knew a catalogue as it was may no longer count on.
//!
//! [`snapshot`] writes down what clients can rely on; [`compare`] says how two of them differ. Whether a
//! schema still takes what it took is asked of [`contains`](crate::relation::contains), which may not
//! know; then neither does [`compare`], and says so.
//!
//! | module | compares |
//! |---|---|
//! | `tools` | tools: arguments, results, hints, what they ask of a client |
//! | `schemas` | one schema with its successor |
//! | `formats` | formats that strings have to be of |
//! | `arguments` | strings that are read as dates and the like, members that are dropped |
//! | `headers` | arguments that headers repeat |
//! | `reasons` | where two schemas differ, in words |
//! | `others` | prompts, resources and templates |

mod arguments;
mod change;
mod formats;
mod headers;
mod others;
mod reasons;
mod schemas;
mod snapshot;
mod tools;

pub use change::{Change, Level};
pub use snapshot::{SnapshotError, snapshot};

use change::Changes;

use mcp_core::schema::SchemaLimits;

/// How a catalogue differs from what it was: by kind, then by name.
///
/// Schemas are compiled, so this wants a thread with 64 MiB of stack.
///
/// # Errors
/// [`SnapshotError`] when one of the texts is no snapshot.
///
/// # Examples
/// ```
/// use mcp_lint::breaking::{Level, compare};
/// use mcp_core::schema::SchemaLimits;
///
/// let old = br#"{"mcpSnapshot": 1, "tools": {"add": {"inputSchema": {"type": "object"}}}}"#;
/// let new = br#"{"mcpSnapshot": 1, "tools": {"add": {"inputSchema": {"type": "object", "required": ["a"]}}}}"#;
/// let changes = compare(old, new, &SchemaLimits::default())?;
/// assert_eq!(changes[0].level, Level::Breaking);
/// assert_eq!(changes[0].code, "input_narrowed");
/// assert_eq!(changes[0].reasons[0], "/inputSchema: the property \"a\" is now required");
/// # Ok::<(), mcp_lint::breaking::SnapshotError>(())
/// ```
pub fn compare(
    old: &[u8],
    new: &[u8],
    limits: &SchemaLimits,
) -> Result<Vec<Change>, SnapshotError> {
    let [old, new] = [snapshot::read(old)?, snapshot::read(new)?];
    let mut changes = Changes::default();
    tools::compare(&old, &new, limits, &mut changes);
    others::compare_prompts(&old, &new, &mut changes);
    others::compare_resources(&old, &new, &mut changes);
    others::compare_templates(&old, &new, &mut changes);
    Ok(changes.into_found())
}
