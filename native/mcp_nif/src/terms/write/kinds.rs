//! Checks a field's value by its [`Kind`], then writes it or leaves it out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_core::json::write_string;
use mcp_core::model::Kind;
use mcp_core::revision::Revision;
use rustler::Term;

use super::schemas::is_object_schema;
use super::shape::Source;
use super::{Extras, Writer, not_whole_bytes, text_of};
use crate::atoms;
use crate::terms::atom_text;
use crate::terms::error::{EncodeError, EncodeErrorKind};
use crate::terms::raw::Raw;
use crate::terms::term_kind::TermKind;

/// Whether something was written.
pub(super) type Outcome = Result<bool, EncodeError>;

impl<'a> Writer<'_, 'a> {
    /// Writes the value of a field of an object.
    pub(super) fn of_field(
        &mut self,
        kind: Kind,
        value: Option<Raw<'a>>,
        source: &Source<'a>,
        wire: &str,
        extras: &Extras<'_>,
    ) -> Outcome {
        match (kind, value) {
            (Kind::Meta, value) => self.meta(value, extras),
            (_, None) => Ok(false),
            (_, Some(properties)) if source.has_plain_properties(wire) => {
                self.properties(properties)
            }
            (kind, Some(value)) => self.of_kind(kind, value),
        }
    }

    pub(super) fn of_kind(&mut self, kind: Kind, term: Raw<'a>) -> Outcome {
        let newest = self.context.revision >= Revision::V2026_07_28;
        match kind {
            Kind::Id if term.kind(self.env) == TermKind::Integer => self.number(term, false, ""),
            Kind::Text | Kind::Id => self.text(term),
            Kind::Boolean => self.boolean(term),
            Kind::Integer => self.number(term, false, "expected an integer"),
            Kind::Number => self.number(term, true, "expected a number"),
            Kind::Base64 => self.base64(term),
            Kind::Grant => self.grant(term),
            Kind::Enum(names) => self.name(names, term),
            Kind::Form => self.form(term),
            Kind::OutputSchema if !newest && !is_object_schema(term.term(self.env)) => Ok(false),
            Kind::Schema | Kind::OutputSchema => self.schema(term, newest),
            Kind::Structured if !newest && !term.term(self.env).is_map() => Ok(false),
            Kind::Structured if self.place_echo() => Ok(true),
            Kind::Structured if newest => self.any(term),
            Kind::Any => self.any(term),
            Kind::Object | Kind::Meta | Kind::Structured => self.verbatim_object(term),
            Kind::List(item) => self.list_of(*item, term),
            Kind::One(shape) => self
                .object_of(shape, term, &Extras::default())
                .map(|()| true),
            Kind::OneOrMany(shapes) if term.term(self.env).is_list() => self.blocks(shapes, term),
            Kind::OneOf(shapes) | Kind::OneOrMany(shapes) => self.one_of(shapes, term),
            Kind::AnyOf(shapes) => self.any_of(shapes, term),
        }
    }

    fn any(&mut self, term: Raw<'a>) -> Outcome {
        self.value(term).map(|()| true)
    }

    fn text(&mut self, term: Raw<'a>) -> Outcome {
        if let Some(text) = term.bytes(self.env) {
            self.utf8(text)?;
            return Ok(true);
        }
        match term.kind(self.env) {
            TermKind::Bitstring => return Err(not_whole_bytes()),
            TermKind::Atom if !is_literal(term.term(self.env)) => {
                write_string(self.out, atom_text::of(term.term(self.env)));
            }
            TermKind::Tuple => self.echo(term.term(self.env))?,
            _ => return Err(invalid("expected a string")),
        }
        Ok(true)
    }

    fn boolean(&mut self, term: Raw<'a>) -> Outcome {
        if term.is(atoms::true_()) {
            self.out.extend_from_slice(b"true");
        } else if term.is(atoms::false_()) {
            self.out.extend_from_slice(b"false");
        } else {
            return Err(invalid("expected true or false"));
        }
        Ok(true)
    }

    fn number(&mut self, term: Raw<'a>, float: bool, expected: &'static str) -> Outcome {
        match term.kind(self.env) {
            TermKind::Integer => self.integer(term)?,
            TermKind::Float if float => self.float(term)?,
            _ => return Err(invalid(expected)),
        }
        Ok(true)
    }

    fn base64(&mut self, term: Raw<'a>) -> Outcome {
        let bytes = term
            .bytes(self.env)
            .ok_or_else(|| invalid("expected a binary"))?;
        self.spend(bytes.len())?;
        let length = base64::encoded_len(bytes.len(), true)
            .ok_or_else(|| invalid("expected a smaller binary"))?;
        self.out.push(b'"');
        let start = self.out.len();
        self.out.resize(start.saturating_add(length), 0);
        let room = self.out.get_mut(start..).unwrap_or_default();
        STANDARD
            .encode_slice(bytes, room)
            .map_err(|_| invalid("expected a smaller binary"))?;
        self.out.push(b'"');
        Ok(true)
    }

    fn grant(&mut self, term: Raw<'a>) -> Outcome {
        if term.is(atoms::false_()) {
            return Ok(false);
        }
        if term.is(atoms::true_()) || term.term(self.env).is_map() {
            self.out.extend_from_slice(b"{}");
            return Ok(true);
        }
        Err(invalid("expected true, false or a map"))
    }

    fn name(&mut self, names: &[&str], term: Raw<'a>) -> Outcome {
        match text(term.term(self.env)) {
            Some(name) if names.contains(&name) => {
                write_string(self.out, name);
                Ok(true)
            }
            _ => Err(invalid(format!("expected one of {}", names.join(", ")))),
        }
    }

    /// A map, or a struct that is written as an object.
    pub(super) fn verbatim_object(&mut self, term: Raw<'a>) -> Outcome {
        let start = self.out.len();
        if term.term(self.env).is_map() {
            self.value(term)?;
        }
        match self.out.get(start) {
            Some(b'{') => Ok(true),
            _ => Err(invalid("expected a map")),
        }
    }

    /// `_meta`: the handler's members without the keys of the core, then the core's members.
    pub(super) fn meta(&mut self, value: Option<Raw<'a>>, extras: &Extras<'_>) -> Outcome {
        if extras.meta.is_empty() {
            return value.map_or(Ok(false), |value| self.verbatim_object(value));
        }
        let start = self.out.len();
        match value {
            None => self.out.extend_from_slice(b"{}"),
            Some(value) => {
                let mut members = value.term(self.env);
                for (name, _) in extras.meta {
                    members = members
                        .map_remove(*name)
                        .map_err(|_| invalid("expected a map"))?;
                }
                self.verbatim_object(members.into())?;
            }
        }
        self.out.pop();
        for (name, json) in extras.meta {
            if self.out.len() > start.saturating_add(1) {
                self.out.push(b',');
            }
            write_string(self.out, name);
            self.out.push(b':');
            self.out.extend_from_slice(json);
        }
        self.out.push(b'}');
        Ok(true)
    }
}

/// The text of a binary, or of an atom that stands for a string.
pub(super) fn text(term: Term<'_>) -> Option<&str> {
    if term.is_atom() {
        Some(atom_text::of(term))
    } else {
        text_of(term).ok()
    }
}

/// `nil`, `true` and `false` do not stand for strings.
fn is_literal(term: Term<'_>) -> bool {
    matches!(atom_text::of(term), "nil" | "true" | "false")
}

pub(super) fn invalid(expected: impl Into<std::borrow::Cow<'static, str>>) -> EncodeError {
    EncodeError::new(EncodeErrorKind::InvalidField, expected)
}
