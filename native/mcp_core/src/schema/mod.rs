//! Compiles JSON Schema under limits and reports problems that a model can fix.
//!
//! [`compile`] turns a schema's text into a [`Validator`] for values of any representation that
//! implements [`jsonschema::json::Json`]. A value is checked in place and never copied.
//! [`Validator::check`] accepts a value or returns at most 20 [`Problem`]s. A problem has the
//! place, the keyword and the expectation, but never the received value.
//!
//! All work is bounded. [`SchemaLimits`] counts a schema before any function recurses over it.
//! `survey` refuses references that multiply. Each check has a budget of steps and of stack.

mod branches;
mod compile;
mod content;
mod counted;
mod describe;
mod dialect;
mod error;
mod exact;
mod explain;
mod formats;
mod keywords;
mod limits;
mod magnitude;
mod meter;
mod nearest;
mod numbers;
mod options;
mod patterns;
mod problem;
mod repair;
mod sentences;
mod sources;
mod survey;
mod validator;
mod words;

pub use compile::{compile, compile_with};
pub use dialect::dialect;
pub use error::SchemaError;
pub use formats::Formats;
pub use keywords::{Subschema, is_annotation, rewritten, subschemas};
pub use limits::SchemaLimits;
pub use meter::{Meter, without_panic};
pub(crate) use nearest::nearest;
pub use options::SchemaOptions;
pub use problem::Problem;
pub use repair::{Change, Edit, Repaired, Step};
pub use validator::Validator;

/// The representation of values as [`serde_json::Value`].
pub type SerdeJson = jsonschema::json::SerdeJson;
