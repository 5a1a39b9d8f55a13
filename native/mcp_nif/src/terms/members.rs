//! The members of maps: found, sorted, written.

use mcp_core::json::write_string;
use rustler::{Binary, MapIterator, NewBinary, Term, TermType};

use super::error::{EncodeError, EncodeErrorKind};
use super::write::{Writer, Written, noun};
use super::{atom_text, number, word};
use crate::atoms;

/// A member of a map that is being written.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a [u8],
    /// The key term's word.
    pub(super) word: usize,
    pub(super) value: Term<'a>,
}

/// The map's members, sorted by key, as a part of [`Writer::entries`]; or what struct it is.
pub(super) enum Members<'a> {
    Plain { start: usize, end: usize },
    Struct { module: Term<'a> },
}

/// What is copied at once of a key that was written before.
const BLOCK: usize = 32;

/// Up to this size the VM keeps a map's members in term order.
const ORDERED_SIZE: usize = 32;

impl<'a> Writer<'_, 'a> {
    pub(super) fn map(&mut self, term: Term<'a>) -> Written {
        let size = term.map_size().unwrap_or_default();
        self.spend(size.saturating_mul(4))?;
        if size <= ORDERED_SIZE && self.nested(|writer| writer.ordered(term))? {
            return Ok(());
        }
        match term.map_get(atoms::struct_()) {
            Ok(module) if module.is_atom() => self.structure(term, module),
            _ => self.sorted(term),
        }
    }

    /// Writes members as they come; `false` when a key is no binary.
    ///
    /// Binaries are the last in term order, and the order of binaries is the one wanted: if the first
    /// key of a small map is a binary, all of them are, no two are the same, and they are sorted.
    fn ordered(&mut self, map: Term<'a>) -> Result<bool, EncodeError> {
        self.out.push(b'{');
        let start = self.out.len();
        let all = each_member(map, &mut |key, value| {
            if self.out.len() > start {
                self.out.push(b',');
            } else if !key.is_binary() {
                return Ok(false);
            }
            let word = word::of(key);
            if !self.replay(word) {
                self.key(word, bytes_of(key)?)?;
            }
            self.value(value)
                .map_err(|error| error.under_key(bytes_of(key).unwrap_or_default()))?;
            Ok(true)
        })?;
        if all {
            self.out.push(b'}');
        } else {
            // Nothing but the brace was written: no remembered key stands there.
            self.out.pop();
        }
        Ok(all)
    }

    /// Writes a map whose keys must be sorted, or looked at closely, first.
    fn sorted(&mut self, term: Term<'a>) -> Written {
        match self.collect(term)? {
            Members::Struct { module } => self.structure(term, module),
            Members::Plain { start, end } => {
                self.nested(|writer| {
                    writer.out.push(b'{');
                    writer.members(start, end, true)?;
                    writer.out.push(b'}');
                    Ok(())
                })?;
                self.entries.truncate(start);
                Ok(())
            }
        }
    }

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
            self.entry_key(entry)?;
            self.value(entry.value)
                .map_err(|error| error.under_key(entry.key))?;
        }
        Ok(())
    }

    pub(super) fn entry_key(&mut self, entry: Entry<'a>) -> Written {
        if self.replay(entry.word) {
            return Ok(());
        }
        self.key(entry.word, entry.key)
    }

    /// Copies a key that was written before.
    #[inline]
    fn replay(&mut self, word: usize) -> bool {
        let Some(place) = self.keys.find(word) else {
            return false;
        };
        // Most keys are short, and a block of fixed size is copied without a call.
        let block = self
            .out
            .get(place.start..)
            .and_then(<[u8]>::first_chunk::<BLOCK>)
            .copied();
        match block {
            Some(block) if place.len() <= BLOCK => {
                let end = self.out.len().saturating_add(place.len());
                self.out.extend_from_slice(&block);
                self.out.truncate(end);
                true
            }
            _ if place.end <= self.out.len() => {
                self.out.extend_from_within(place);
                true
            }
            _ => false,
        }
    }

    fn key(&mut self, word: usize, key: &[u8]) -> Written {
        let text = simdutf8::basic::from_utf8(key).map_err(|_| {
            EncodeError::new(EncodeErrorKind::InvalidUtf8, "a map key that is not UTF-8")
        })?;
        let start = self.out.len();
        write_string(self.out, text);
        self.out.push(b':');
        self.keys.remember(word, start..self.out.len());
        Ok(())
    }

    /// Takes back what was written behind `length`.
    pub(super) fn take_back(&mut self, length: usize) {
        if self.out.len() > length {
            self.out.truncate(length);
            self.keys.cut(length);
        }
    }

    /// Puts a map's members on [`Writer::entries`], sorted by key. The caller takes them off again.
    pub(super) fn collect(&mut self, map: Term<'a>) -> Result<Members<'a>, EncodeError> {
        self.spend(map.map_size().unwrap_or(0).saturating_mul(4))?;
        let start = self.entries.len();
        let mut sorted = true;
        let mut module = None;
        each_member(map, &mut |key, value| {
            let word = word::of(key);
            let key = match self.key_text(key, value)? {
                Ok(key) => key,
                Err(name) => {
                    module = Some(name);
                    return Ok(false);
                }
            };
            let last = self.entries.get(start..).and_then(<[_]>::last);
            sorted = sorted && last.is_none_or(|last| last.key < key);
            self.entries.push(Entry { key, word, value });
            Ok(true)
        })?;
        if let Some(module) = module {
            self.entries.truncate(start);
            return Ok(Members::Struct { module });
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

/// The one place where maps are gone through, so that the compiler makes one loop of rustler's
/// iterator and this: called out of line, it hands every member over through memory, twice. Stops
/// when `visit` says `false`, and says so.
fn each_member<'a>(
    map: Term<'a>,
    visit: &mut dyn FnMut(Term<'a>, Term<'a>) -> Result<bool, EncodeError>,
) -> Result<bool, EncodeError> {
    let Some(members) = MapIterator::new(map) else {
        return Ok(true);
    };
    for (key, value) in members {
        if !visit(key, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn bytes_of(key: Term<'_>) -> Result<&[u8], EncodeError> {
    Binary::from_term(key)
        .map(|binary| binary.as_slice())
        .map_err(|_| EncodeError::new(EncodeErrorKind::InvalidKey, "a map key that is a bitstring"))
}
