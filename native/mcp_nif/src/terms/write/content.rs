//! Writes lists, and fields that hold an object of one of several shapes.

use std::ptr;

use mcp_core::model::{Kind, Shape};
use mcp_core::revision::Revision;

use super::kinds::{Outcome, invalid, text};
use super::members::Members;
use super::shape::{Source, table_of};
use super::tables::{self, StructKind};
use super::{Extras, Writer};
use crate::atoms;
use crate::terms::error::EncodeError;
use crate::terms::raw::Raw;

impl<'a> Writer<'_, 'a> {
    pub(super) fn list_of(&mut self, item: Kind, term: Raw<'a>) -> Outcome {
        if !term.term(self.env).is_list() {
            return Err(invalid("expected a list"));
        }
        self.list(term, |writer, element| match item {
            Kind::One(shape) if writer.context.revision < Revision::V2025_11_25 => {
                writer.one_block_each(shape, element)
            }
            item => writer.of_kind(item, element),
        })?;
        Ok(true)
    }

    /// Before 2025-11-25 a message has one block: several blocks become several messages.
    fn one_block_each(&mut self, shape: &'static Shape, term: Raw<'a>) -> Outcome {
        let table = table_of(shape)?;
        let many = table
            .rows
            .iter()
            .find(|row| matches!(row.field.kind, Kind::OneOrMany(_)));
        let Some(many) = many else {
            return self
                .object_of(shape, term, &Extras::default())
                .map(|()| true);
        };
        let mark = self.entries.len();
        let source = self.source(table, term)?;
        let mut blocks = match self.named(table, &source, many.field.wire)? {
            Some(blocks) if blocks.term(self.env).is_list() => blocks,
            _ => {
                self.object(table, &source, &Extras::default())?;
                self.entries.truncate(mark);
                return Ok(true);
            }
        };
        let mut written = false;
        while let Some((block, rest)) = blocks.cell(self.env) {
            if written {
                self.out.push(b',');
            }
            self.object(
                table,
                &source.replacing(many.field.wire, block),
                &Extras::default(),
            )?;
            written = true;
            blocks = rest;
        }
        self.entries.truncate(mark);
        Ok(written)
    }

    pub(super) fn blocks(&mut self, shapes: &'static [&'static Shape], term: Raw<'a>) -> Outcome {
        self.list(term, |writer, block| writer.one_of(shapes, block))?;
        Ok(true)
    }

    /// Writes content: a struct by its module, a map or a `MessageContent` by its `type`.
    pub(super) fn one_of(&mut self, shapes: &'static [&'static Shape], term: Raw<'a>) -> Outcome {
        if !term.term(self.env).is_map() {
            return Err(unknown_kind(shapes));
        }
        let mark = self.entries.len();
        let (shape, source) = match self.collect(term)? {
            Members::Plain { start, end } => {
                let kind = self
                    .between(start, end)
                    .iter()
                    .find(|entry| entry.key == b"type");
                let kind = kind.and_then(|entry| text(entry.value.term(self.env)));
                (
                    kind.and_then(|kind| tagged(shapes, kind)),
                    Source::of_map(start, end),
                )
            }
            Members::Struct { module } => {
                let shape = match tables::of_module(module) {
                    Some(StructKind::Wire(table)) => shapes
                        .iter()
                        .find(|shape| ptr::eq(**shape, table.shape))
                        .copied(),
                    Some(StructKind::Message(_)) => {
                        let kind = term.get(self.env, atoms::type_());
                        let kind = kind.and_then(|kind| text(kind.term(self.env)));
                        kind.and_then(|kind| tagged(shapes, kind))
                    }
                    _ => None,
                };
                (shape, Source::of_struct(term))
            }
        };
        let shape = shape.ok_or_else(|| unknown_kind(shapes))?;
        self.object(table_of(shape)?, &source, &Extras::default())?;
        self.entries.truncate(mark);
        Ok(true)
    }

    pub(super) fn any_of(&mut self, shapes: &'static [&'static Shape], term: Raw<'a>) -> Outcome {
        if !term.term(self.env).is_map() {
            return Err(invalid("expected a map"));
        }
        let mark = self.entries.len();
        let shape = match self.collect(term)? {
            Members::Plain { start, end } => {
                let mut fitting = None;
                for shape in shapes {
                    let table = table_of(shape)?;
                    if self
                        .between(start, end)
                        .iter()
                        .any(|entry| table.knows(entry.key))
                    {
                        fitting = Some(*shape);
                        break;
                    }
                }
                fitting
            }
            Members::Struct { module } => match tables::of_module(module) {
                Some(StructKind::Wire(table)) => shapes
                    .iter()
                    .find(|shape| ptr::eq(**shape, table.shape))
                    .copied(),
                _ => None,
            },
        };
        self.entries.truncate(mark);
        let shape = shape
            .or_else(|| shapes.last().copied())
            .ok_or_else(|| invalid("expected a map"))?;
        self.object_of(shape, term, &Extras::default())?;
        Ok(true)
    }
}

fn tagged(shapes: &[&'static Shape], kind: &str) -> Option<&'static Shape> {
    shapes
        .iter()
        .copied()
        .find(|shape| shape.tag.is_some_and(|(_, text)| text == kind))
}

fn unknown_kind(shapes: &[&'static Shape]) -> EncodeError {
    let kinds: Vec<&str> = shapes
        .iter()
        .filter_map(|shape| shape.tag)
        .map(|(_, text)| text)
        .collect();
    invalid(format!(
        "expected content: a struct, or a map whose type is one of {}",
        kinds.join(", ")
    ))
}
