//! Encodes MCP objects by the shapes of `mcp_core`, which have the rules. This module finds and
//! checks the struct's fields or the map's keys.

use std::ptr;

use mcp_core::json::write_string;
use mcp_core::model::{CALL_RESULT, Part, Presence, Shape, TASK_RESULT};
use mcp_core::revision::Revision;

use super::echo::Echo;
use super::members::{Entry, Members};
use super::tables::{self, Row, StructKind, Table};
use super::{Extras, Writer, Written};
use crate::atoms;
use crate::terms::error::{EncodeError, EncodeErrorKind};
use crate::terms::raw::Raw;

/// The source of an object's fields.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    origin: Origin<'a>,
    /// A field (by JSON key) and the value that replaces its value.
    replaced: Option<(&'static str, Raw<'a>)>,
    /// Whether it is the root of a schema for a revision without boolean schemas.
    plain_schema: bool,
}

#[derive(Clone, Copy)]
enum Origin<'a> {
    Struct(Raw<'a>),
    /// These members of [`Writer::entries`].
    Map {
        start: usize,
        end: usize,
    },
}

impl<'a> Source<'a> {
    pub(super) fn of_struct(term: Raw<'a>) -> Self {
        Self {
            origin: Origin::Struct(term),
            replaced: None,
            plain_schema: false,
        }
    }

    pub(super) fn of_map(start: usize, end: usize) -> Self {
        Self {
            origin: Origin::Map { start, end },
            replaced: None,
            plain_schema: false,
        }
    }

    pub(super) fn replacing(self, wire: &'static str, value: Raw<'a>) -> Self {
        Self {
            replaced: Some((wire, value)),
            ..self
        }
    }

    pub(super) fn as_plain_schema(self) -> Self {
        Self {
            plain_schema: true,
            ..self
        }
    }

    /// Whether the field with this JSON key holds the properties of such a schema.
    pub(super) fn has_plain_properties(&self, wire: &str) -> bool {
        self.plain_schema && wire == "properties"
    }
}

impl<'a> Writer<'_, 'a> {
    pub(super) fn object_of(
        &mut self,
        shape: &'static Shape,
        term: Raw<'a>,
        extras: &Extras<'_>,
    ) -> Written {
        if let Some(table) = self.table_of_struct(term)
            && ptr::eq(table.shape, shape)
        {
            return self.wire_struct(table, term, extras);
        }
        let table = table_of(shape)?;
        let mark = self.entries.len();
        let source = self.source(table, term)?;
        self.object(table, &source, extras)?;
        self.entries.truncate(mark);
        Ok(())
    }

    pub(super) fn wire_struct(
        &mut self,
        table: &'static Table,
        term: Raw<'a>,
        extras: &Extras<'_>,
    ) -> Written {
        self.object(table, &Source::of_struct(term), extras)
    }

    /// The table of a struct of the library.
    fn table_of_struct(&self, term: Raw<'a>) -> Option<&'static Table> {
        match tables::of_module(self.module(term)?)? {
            StructKind::Wire(table) | StructKind::Message(table) => Some(table),
            _ => None,
        }
    }

    /// The struct, or the members of a plain map, which the caller removes.
    pub(super) fn source(
        &mut self,
        table: &Table,
        term: Raw<'a>,
    ) -> Result<Source<'a>, EncodeError> {
        if let Some(other) = self.table_of_struct(term) {
            if ptr::eq(table.shape, other.shape) {
                return Ok(Source::of_struct(term));
            }
        } else if term.term(self.env).is_map()
            && let Members::Plain { start, end } = self.collect(term)?
        {
            return Ok(Source::of_map(start, end));
        }
        let expected = format!("expected a %McpServer.{}{{}} or a map", table.shape.name);
        Err(EncodeError::new(EncodeErrorKind::InvalidField, expected))
    }

    pub(super) fn object(
        &mut self,
        table: &'static Table,
        source: &Source<'a>,
        extras: &Extras<'_>,
    ) -> Written {
        let (shape, revision) = (table.shape, self.context.revision);
        if let (false, Some(parts)) = (shape.known_at(revision), shape.fallback) {
            return self.fallback(table, source, parts);
        }
        if ptr::eq(shape, &raw const CALL_RESULT) || ptr::eq(shape, &raw const TASK_RESULT) {
            let content = self.named(table, source, "structuredContent")?;
            self.echo = Echo::of(content.map(|content| content.term(self.env)));
        }
        self.nested(|writer| {
            writer.out.push(b'{');
            let start = writer.out.len();
            writer.out.extend_from_slice(table.tag.as_bytes());
            if !extras.fields.is_empty() {
                writer.comma(start);
                writer.out.extend_from_slice(extras.fields);
            }
            let mut chosen = 0_usize;
            let context = writer.context;
            for row in table.rows.iter().filter(|row| context.knows(row.field)) {
                let value = writer.field(source, row)?;
                // This is the case for most fields of most structs.
                if value.is_none() && row.may_be_absent(extras) {
                    continue;
                }
                let written = writer.row(table, row, value, source, extras, start)?;
                if written && row.in_one_of {
                    chosen = chosen.saturating_add(1);
                }
            }
            if !shape.one_of.is_empty() && chosen != 1 {
                let expected = format!("expected exactly one of {}", shape.one_of.join(", "));
                return Err(EncodeError::new(EncodeErrorKind::InvalidField, expected));
            }
            writer.unknown_members(table, source, start)?;
            writer.out.push(b'}');
            Ok(())
        })
    }

    /// A comma, unless the object that began at `start` is still empty.
    #[inline]
    fn comma(&mut self, start: usize) {
        if self.out.len() > start {
            self.out.push(b',');
        }
    }

    /// Writes one field that has a value, or that needs handling without one; returns whether it
    /// was written.
    fn row(
        &mut self,
        table: &Table,
        row: &Row,
        value: Option<Raw<'a>>,
        source: &Source<'a>,
        extras: &Extras<'_>,
        start: usize,
    ) -> Result<bool, EncodeError> {
        let presence = row.field.presence;
        let before = self.out.len();
        row.append_key(before == start, self.out);
        let at = self.out.len();
        let written = self
            .of_field(row.field.kind, value, source, row.field.wire, extras)
            .map_err(|error| error.under_key(row.field.wire.as_bytes()))?;
        let empty = presence == Presence::Filled && self.out.get(at..) == Some(b"{}".as_slice());
        if written && !empty {
            return Ok(true);
        }
        self.out.truncate(at);
        match presence {
            Presence::Required if value.is_none() => {
                let missing =
                    EncodeError::new(EncodeErrorKind::MissingField, "a required field is nil");
                return Err(missing.under_key(row.field.wire.as_bytes()));
            }
            Presence::Always(text) => self.out.extend_from_slice(text.as_bytes()),
            Presence::NullBefore(since) if self.context.revision < since => {
                self.out.extend_from_slice(b"null");
            }
            Presence::Unless(other, text) if self.named(table, source, other)?.is_none() => {
                self.out.extend_from_slice(text.as_bytes());
            }
            _ => {
                self.out.truncate(before);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The value of the field with this JSON key.
    pub(super) fn named(
        &self,
        table: &Table,
        source: &Source<'a>,
        wire: &str,
    ) -> Result<Option<Raw<'a>>, EncodeError> {
        table
            .row(wire)
            .map_or(Ok(None), |row| self.field(source, row))
    }

    /// A field's value; `nil` counts as absent.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "measured: out of line the term goes through memory"
    )]
    fn field(&self, source: &Source<'a>, row: &Row) -> Result<Option<Raw<'a>>, EncodeError> {
        if let Some((wire, value)) = source.replaced
            && wire == row.field.wire
        {
            return Ok(Some(value));
        }
        let value = match source.origin {
            Origin::Struct(term) => term.get(self.env, row.atom),
            Origin::Map { start, end } => {
                let mut given = self
                    .between(start, end)
                    .iter()
                    .filter(|entry| row.is_spelt(entry.key));
                let value = given.next().map(|entry| entry.value);
                if given.next().is_some() {
                    let twice = EncodeError::new(
                        EncodeErrorKind::KeyCollision,
                        "a field is given in two spellings",
                    );
                    return Err(twice.under_key(row.field.wire.as_bytes()));
                }
                value
            }
        };
        Ok(value.filter(|value| !value.is(atoms::nil())))
    }

    pub(super) fn between(&self, start: usize, end: usize) -> &[Entry<'a>] {
        self.entries.get(start..end).unwrap_or_default()
    }

    /// Writes the keys of a plain map that no table contains. They are the user's keys; older
    /// clients never get them.
    fn unknown_members(&mut self, table: &Table, source: &Source<'a>, object: usize) -> Written {
        let Origin::Map { start, end } = source.origin else {
            return Ok(());
        };
        if self.context.revision != Revision::NEWEST {
            return Ok(());
        }
        for index in start..end {
            let Some(entry) = self.entries.get(index).copied() else {
                break;
            };
            if !table.knows(entry.key) {
                let first = self.out.len() == object;
                self.members(index, index.saturating_add(1), first)?;
            }
        }
        Ok(())
    }

    /// Text for a peer whose revision does not have the object.
    fn fallback(&mut self, table: &'static Table, source: &Source<'a>, parts: &[Part]) -> Written {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Member(wire) => {
                    let value = self.named(table, source, wire)?;
                    let value = value.map(|value| value.term(self.env));
                    text.push_str(value.and_then(super::kinds::text).unwrap_or_default());
                }
            }
        }
        self.nested(|writer| {
            writer.out.push(b'{');
            let start = writer.out.len();
            writer.out.extend_from_slice(b"\"type\":\"text\",\"text\":");
            write_string(writer.out, &text);
            if let Some(row) = table.row("annotations")
                && let Some(value) = writer.field(source, row)?
            {
                writer.row(table, row, Some(value), source, &Extras::default(), start)?;
            }
            writer.out.push(b'}');
            Ok(())
        })
    }
}

pub(super) fn table_of(shape: &'static Shape) -> Result<&'static Table, EncodeError> {
    tables::of_shape(shape)
        .ok_or_else(|| EncodeError::new(EncodeErrorKind::Unsupported, "an object of unknown shape"))
}
