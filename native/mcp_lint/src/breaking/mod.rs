//! Compares catalogues: finds the changes that break clients of the older one.
//!
//! [`snapshot`] writes the parts of a catalogue that clients rely on; [`compare`] finds the
//! differences of two snapshots. [`contains`](crate::relation::contains) decides whether a schema
//! still accepts the same values. If its answer is unknown, [`compare`] reports the change as
//! unknown.
//!
//! | module | compares |
//! |---|---|
//! | `tools` | tools: arguments, results, hints, required client capabilities |
//! | `schemas` | a schema with its successor |
//! | `formats` | enforced formats of strings |
//! | `arguments` | strings that are converted to dates and other types, dropped members |
//! | `headers` | arguments that headers repeat |
//! | `reasons` | the differences of two schemas, in words |
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

/// The changes between two snapshots, sorted by kind, then by name.
///
/// This compiles schemas, so it needs a thread with 64 MiB of stack.
///
/// # Errors
/// [`SnapshotError`] if one of the texts is no snapshot.
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
