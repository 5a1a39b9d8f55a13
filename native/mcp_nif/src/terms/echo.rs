//! Structured content that its result also holds as text: `{:structured_content, :compact | :pretty}`
//! in the place of a text block's text. The content is written once, and its bytes are placed twice.

use mcp_core::json::write_json_text;
use rustler::{Atom, Term};

use super::error::{EncodeError, EncodeErrorKind};
use super::kinds::invalid;
use super::write::{Writer, Written, write_value};
use crate::atoms;
use crate::pretty::pretty;
use crate::resources::{buffer, keep};

/// The structured content of the result that is being written.
#[derive(Default)]
pub(super) struct Echo<'a> {
    content: Option<Term<'a>>,
    /// Its text, from when a block asked for it until its own field is written.
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
            keep(text);
        }
    }
}

impl<'a> Writer<'_, 'a> {
    /// Writes a block's text that is the structured content.
    pub(super) fn echo(&mut self, marker: Term<'a>) -> Written {
        let (name, form): (Atom, Atom) =
            marker.decode().map_err(|_| invalid("expected a string"))?;
        if name != atoms::structured_content()
            || (form != atoms::compact() && form != atoms::pretty())
        {
            return Err(invalid("expected a string"));
        }
        let text = match self.echo.text.take() {
            Some(text) => text,
            None => self.echoed()?,
        };
        self.spend(text.len())?;
        if form == atoms::pretty() {
            let spread = pretty(&text);
            write_json_text(self.out, &spread);
            keep(spread);
        } else {
            write_json_text(self.out, &text);
        }
        self.echo.text = Some(text);
        Ok(())
    }

    fn echoed(&self) -> Result<Vec<u8>, EncodeError> {
        let content = self.echo.content.ok_or_else(|| {
            EncodeError::new(
                EncodeErrorKind::MissingField,
                "there is no structured content",
            )
        })?;
        let mut text = buffer();
        match write_value(&mut text, content, &self.context.with_budget(self.left())) {
            Ok(()) => Ok(text),
            Err(error) => {
                keep(text);
                Err(error)
            }
        }
    }

    /// Writes the structured content where a block had it written before.
    pub(super) fn place_echo(&mut self) -> bool {
        let Some(text) = self.echo.text.take() else {
            return false;
        };
        self.out.extend_from_slice(&text);
        keep(text);
        true
    }
}
