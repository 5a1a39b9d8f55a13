//! Structured content that its result also holds as text. In a text block the marker
//! `{:structured_content, :compact | :pretty}` replaces the text; its optional third element is an
//! order of keys. The content is encoded once, and its bytes are written twice.

use mcp_core::json::write_json_text;
use rustler::Term;
use rustler::types::tuple::get_tuple;

use super::kinds::invalid;
use super::order::write_in_order;
use super::{Writer, Written};
use crate::atoms;
use crate::pretty::write_pretty_text;
use crate::resources::{buffer, recycle};
use crate::terms::error::{EncodeError, EncodeErrorKind};

/// The structured content of the result that is being written.
#[derive(Default)]
pub(super) struct Echo<'a> {
    content: Option<Term<'a>>,
    /// Its text, from the block that needs it until its field is written.
    text: Option<Vec<u8>>,
}

impl<'a> Echo<'a> {
    pub(super) fn of(content: Option<Term<'a>>) -> Self {
        Self {
            content,
            text: None,
        }
    }
}

impl Drop for Echo<'_> {
    fn drop(&mut self) {
        if let Some(text) = self.text.take() {
            recycle(text);
        }
    }
}

/// The parts of a marker.
struct Marker<'a> {
    is_pretty: bool,
    /// The order of keys (`order`), for the block and for the content's field.
    order: Term<'a>,
}

impl<'a> Marker<'a> {
    fn of(term: Term<'a>) -> Result<Self, EncodeError> {
        let parts = get_tuple(term).unwrap_or_default();
        let (name, form, order) = match parts.as_slice() {
            [name, form] => (*name, *form, Term::list_new_empty(term.get_env())),
            [name, form, order] => (*name, *form, *order),
            _ => return Err(invalid("expected a string")),
        };
        let is_pretty = atoms::pretty() == form;
        if atoms::structured_content() != name || !(is_pretty || atoms::compact() == form) {
            return Err(invalid("expected a string"));
        }
        Ok(Self { is_pretty, order })
    }
}

impl<'a> Writer<'_, 'a> {
    /// Writes the structured content as a block's text.
    pub(super) fn echo(&mut self, marker: Term<'a>) -> Written {
        let marker = Marker::of(marker)?;
        let text = match self.echo.text.take() {
            Some(text) => text,
            None => self.echoed(marker.order)?,
        };
        self.spend(text.len())?;
        if marker.is_pretty {
            write_pretty_text(self.out, &text);
        } else {
            write_json_text(self.out, &text);
        }
        self.echo.text = Some(text);
        Ok(())
    }

    fn echoed(&self, order: Term<'a>) -> Result<Vec<u8>, EncodeError> {
        let content = self.echo.content.ok_or_else(|| {
            EncodeError::new(
                EncodeErrorKind::MissingField,
                "there is no structured content",
            )
        })?;
        let mut text = buffer(self.context.budget);
        match write_in_order(
            &mut text,
            content,
            order,
            &self.context.with_budget(self.left()),
        ) {
            Ok(()) => Ok(text),
            Err(error) => {
                recycle(text);
                Err(error.rooted(b"structuredContent"))
            }
        }
    }

    /// Writes the structured content again, if a block encoded it before.
    pub(super) fn place_echo(&mut self) -> bool {
        let Some(text) = self.echo.text.take() else {
            return false;
        };
        self.out.extend_from_slice(&text);
        recycle(text);
        true
    }
}
