//! Reads and writes JSON text under limits.
//!
//! One machine reads JSON without recursion, enforces every limit of [`Limits`], and accepts only
//! strict RFC 8259 and strict UTF-8. Two readers use it:
//!
//! * [`read`] passes every value to a [`Sink`], which builds BEAM terms, a count or anything else;
//! * [`Document::scan`] checks a message and indexes its shallow members, so that a message can be
//!   classified, or refused, before anything is built for it.
//!
//! Numbers: an integer is exact up to [`Limits::max_digits`] digits and never rounded to a float.
//! `-0` is the integer 0 and `-0.0` a float. A float too large for 64 bits is refused, and one too
//! small becomes 0.0.
//!
//! ```
//! use mcp_core::json::{Document, Limits};
//!
//! let document = Document::scan(br#"{"method":"ping","id":7}"#, &Limits::default())?;
//! let id = document.root().get("id").and_then(|id| id.integer());
//! assert_eq!(id, Some(7));
//! # Ok::<(), mcp_core::json::JsonError>(())
//! ```

mod document;
mod error;
mod exact;
mod index;
mod keys;
mod level;
mod limits;
mod machine;
mod nesting;
mod number;
mod plain;
pub mod pointer;
mod reader;
mod string;
mod text;
mod view;
mod write;

pub use document::{Document, check};
pub use error::{JsonError, JsonErrorKind};
pub use exact::big_integer;
pub use keys::has_duplicate;
pub use level::{elements, member, values};
pub use limits::{Limits, UNLIMITED};
pub use reader::{Duplicate, Sink, read};
pub use text::Text;
pub use view::{Elements, Kind, Members, View};
pub use write::{
    NotFinite, NotUtf8, append_short, write_escaped, write_float, write_integer, write_json_text,
    write_plain, write_string, write_unsigned, write_utf8,
};
