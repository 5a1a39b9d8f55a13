//! Writes JSON Schemas in fields, for revisions without full JSON Schema, and forms.

use mcp_core::model::fit_form;
use rustler::Term;

use super::kinds::{Outcome, text};
use super::members::{Entry, Members};
use super::shape::Source;
use super::tables::{self, StructKind};
use super::{Extras, Writer, Written};
use crate::atoms;
use crate::terms::error::EncodeError;
use crate::terms::raw::Raw;

impl<'a> Writer<'_, 'a> {
    pub(super) fn schema(&mut self, term: Raw<'a>, newest: bool) -> Outcome {
        if newest || !term.term(self.env).is_map() {
            return self.verbatim_object(term);
        }
        let mark = self.entries.len();
        match self.collect(term)? {
            Members::Struct { module } => match tables::of_module(module) {
                Some(StructKind::Wire(table)) => {
                    let source = Source::of_struct(term).as_plain_schema();
                    self.object(table, &source, &Extras::default())?;
                }
                _ => return self.verbatim_object(term),
            },
            Members::Plain { start, end } => self.nested(|writer| {
                writer.out.push(b'{');
                for index in start..end {
                    let Some(entry) = writer.entries.get(index).copied() else {
                        break;
                    };
                    if entry.key == b"properties" && entry.value.term(writer.env).is_map() {
                        writer.entry_key(entry, index == start)?;
                        writer
                            .properties(entry.value)
                            .map_err(|error| error.under_key(entry.key))?;
                    } else {
                        writer.members(index, index.saturating_add(1), index == start)?;
                    }
                }
                writer.out.push(b'}');
                Ok(())
            })?,
        }
        self.entries.truncate(mark);
        Ok(true)
    }

    /// The form of an elicitation, in the spelling of the client's revision.
    pub(super) fn form(&mut self, term: Raw<'a>) -> Outcome {
        let start = self.out.len();
        self.verbatim_object(term)?;
        let written = self.out.get(start..).unwrap_or_default();
        let fitted = fit_form(written, self.context.revision);
        if let Some(fitted) = fitted.map_err(|error| EncodeError::of_form(&error))? {
            self.out.truncate(start);
            self.out.extend_from_slice(&fitted);
        }
        Ok(true)
    }

    /// Before 2026-07-28 a property's schema is an object, so booleans are written as objects.
    pub(super) fn properties(&mut self, term: Raw<'a>) -> Outcome {
        let Members::Plain { start, end } = self.collect(term)? else {
            return self.verbatim_object(term);
        };
        self.nested(|writer| {
            writer.out.push(b'{');
            for index in start..end {
                let Some(entry) = writer.entries.get(index).copied() else {
                    break;
                };
                let first = index == start;
                if entry.value.is(atoms::true_()) {
                    writer.property(entry, first, b"{}")?;
                } else if entry.value.is(atoms::false_()) {
                    writer.property(entry, first, b"{\"not\":{}}")?;
                } else {
                    writer.members(index, index.saturating_add(1), first)?;
                }
            }
            writer.out.push(b'}');
            Ok(())
        })?;
        self.entries.truncate(start);
        Ok(true)
    }

    fn property(&mut self, entry: Entry<'a>, first: bool, schema: &[u8]) -> Written {
        self.entry_key(entry, first)?;
        self.out.extend_from_slice(schema);
        Ok(())
    }
}

pub(super) fn is_object_schema(term: Term<'_>) -> bool {
    let kind = term
        .map_get("type")
        .or_else(|_| term.map_get(atoms::type_()));
    kind.ok().and_then(text) == Some("object")
}
