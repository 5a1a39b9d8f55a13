//! BEAM terms and JSON: parses text into terms, writes text from terms, and validates terms.
//! None of the three builds a tree: a validator gets a list of values, whose texts stay
//! in the terms.

mod atom_text;
mod check;
mod edits;
mod error;
mod number;
mod raw;
mod read;
mod term_kind;
mod word;
mod write;

pub(crate) use check::normal_form::{normal_values, normalize};
pub(crate) use check::term_node::{TermJson, TermNode};
pub(crate) use check::values::Values;
pub(crate) use edits::edited;
pub(crate) use error::{EncodeError, EncodeErrorKind, finished};
pub(crate) use read::{read_term, read_term_with};
pub(crate) use write::foreign::{plan_struct, sends_field};
pub(crate) use write::order::write_in_order;
pub(crate) use write::tables::{is_known_struct, prepare};
pub(crate) use write::{Context, Extras, write_shape, write_value};
