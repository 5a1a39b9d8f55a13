//! BEAM terms and JSON: read straight into terms, written straight from terms, validated as they are.
//! There is no tree in between on any of the three ways: a validator gets a list of values, whose texts
//! lie in the terms.

mod atom_text;
mod content;
mod dates;
mod decimal;
mod echo;
mod edits;
mod error;
mod foreign;
mod key_replay;
mod kinds;
mod members;
mod node;
mod node_number;
mod node_parts;
mod number;
mod order;
mod plain;
mod raw;
mod read;
mod recent_keys;
mod schemas;
mod shape;
mod tables;
mod term_kind;
mod term_node;
mod values;
mod word;
mod write;

pub(crate) use edits::edited;
pub(crate) use error::{EncodeError, EncodeErrorKind};
pub(crate) use foreign::{plan_struct, sends_field};
pub(crate) use order::write_in_order;
pub(crate) use plain::{plain, plain_values};
pub(crate) use read::{read_term, read_term_with};
pub(crate) use tables::{is_known_struct, prepare};
pub(crate) use term_node::{TermJson, TermNode};
pub(crate) use values::Values;
pub(crate) use write::{Context, Extras, write_shape, write_value};
