//! The members of maps: found, sorted, written.

use mcp_core::json::write_string;
use rustler::{Binary, MapIterator, NewBinary, Term, TermType};

use super::error::{EncodeError, EncodeErrorKind};
use super::write::{Writer, Written, noun};
use super::{atom_text, number};
use crate::atoms;

/// A member of a map that is being written.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a [u8],
    pub(super) value: Term<'a>,
}

/// The map's members, sorted by key, as a part of [`Writer::entries`]; or what struct it is.
pub(super) enum Members<'a> {
    Plain { start: usize, end: usize },
    Struct { module: Term<'a> },
}

impl<'a> Writer<'_, 'a> {
    /// Writes collected members, with a comma before each but the `first`.
    pub(super) fn members(&mut self, start: usize, end: usize, mut first: bool) -> Written {
        for index in start..end {
            let Some(entry) = self.entries.get(index).copied() else {
                break;
            };
            if !first {
                self.out.push(b',');
            }
            first = false;
            self.key(entry.key)?;
            self.value(entry.value)
                .map_err(|error| error.under_key(entry.key))?;
        }
        Ok(())
    }

    pub(super) fn key(&mut self, key: &[u8]) -> Written {
        let text = simdutf8::basic::from_utf8(key).map_err(|_| {
            EncodeError::new(EncodeErrorKind::InvalidUtf8, "a map key that is not UTF-8")
        })?;
        write_string(self.out, text);
        self.out.push(b':');
        Ok(())
    }

    /// Puts a map's members on [`Writer::entries`], sorted by key. The caller takes them off again.
    pub(super) fn collect(&mut self, map: Term<'a>) -> Result<Members<'a>, EncodeError> {
        self.spend(map.map_size().unwrap_or(0).saturating_mul(4))?;
        let start = self.entries.len();
        let mut sorted = true;
        let members = MapIterator::new(map).into_iter().flatten();
        for (key, value) in members {
            let key = match self.key_text(key, value)? {
                Ok(key) => key,
                Err(module) => {
                    self.entries.truncate(start);
                    return Ok(Members::Struct { module });
                }
            };
            sorted = sorted
                && self
                    .entries
                    .get(start..)
                    .and_then(<[_]>::last)
                    .is_none_or(|last| last.key < key);
            self.entries.push(Entry { key, value });
        }
        if !sorted {
            self.sort(start)?;
        }
        Ok(Members::Plain {
            start,
            end: self.entries.len(),
        })
    }

    /// A key's text, or the module where the key is `:__struct__`.
    fn key_text(
        &self,
        key: Term<'a>,
        value: Term<'a>,
    ) -> Result<Result<&'a [u8], Term<'a>>, EncodeError> {
        if let Ok(binary) = Binary::from_term(key) {
            return Ok(Ok(binary.as_slice()));
        }
        match key.get_type() {
            TermType::Atom if atoms::struct_() == key && value.is_atom() => Ok(Err(value)),
            TermType::Atom => Ok(Ok(atom_text::of(key).as_bytes())),
            TermType::Integer => {
                let mut digits = Vec::new();
                number::write_integer_term(&mut digits, key)?;
                let text: Term<'a> = NewBinary::from_slice(self.env, &digits).into();
                Ok(Ok(Binary::from_term(text)
                    .map(|text| text.as_slice())
                    .unwrap_or_default()))
            }
            other => Err(EncodeError::new(
                EncodeErrorKind::InvalidKey,
                format!("a map key that is {}", noun(other)),
            )),
        }
    }

    /// Sorts the members from `start` on, and refuses two of one name.
    fn sort(&mut self, start: usize) -> Written {
        let members = self.entries.get_mut(start..).unwrap_or_default();
        members.sort_unstable_by(|a, b| a.key.cmp(b.key));
        let collision = members.windows(2).find_map(|pair| match pair {
            [a, b] if a.key == b.key => Some(a.key),
            _ => None,
        });
        collision.map_or(Ok(()), |key| {
            Err(EncodeError::new(
                EncodeErrorKind::KeyCollision,
                "two keys of a map are the same text",
            )
            .under_key(key))
        })
    }
}
