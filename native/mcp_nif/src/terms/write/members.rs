//! Collects, sorts and writes the members of maps.

use mcp_core::json::{write_integer, write_utf8};
use rustler::{NewBinary, Term};

use super::{Writer, Written};
use super::{atom_text, number};
use crate::atoms;
use crate::terms::error::{EncodeError, EncodeErrorKind};
use crate::terms::raw::{Raw, RawMembers};
use crate::terms::term_kind::TermKind;

/// A member of a map that is being written.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a [u8],
    /// The key term's word.
    pub(super) word: usize,
    pub(super) value: Raw<'a>,
}

/// The map's members, sorted by key, as a range of [`Writer::entries`]; or the module of a struct.
pub(super) enum Members<'a> {
    Plain { start: usize, end: usize },
    Struct { module: Term<'a> },
}

/// Up to this size the VM keeps a map's members in term order.
const ORDERED_SIZE: usize = 32;

impl<'a> Writer<'_, 'a> {
    pub(super) fn map(&mut self, map: Raw<'a>) -> Written {
        let size = map.size(self.env).unwrap_or_default();
        self.spend(size.saturating_mul(4))?;
        if size <= ORDERED_SIZE && self.nested(|writer| writer.ordered(map))? {
            return Ok(());
        }
        match self.module(map) {
            Some(module) => self.structure(map, module),
            None => self.sorted(map),
        }
    }

    /// The module of a struct.
    pub(super) fn module(&self, map: Raw<'a>) -> Option<Term<'a>> {
        let module = map.get(self.env, atoms::struct_())?.term(self.env);
        module.is_atom().then_some(module)
    }

    /// Writes members in the VM's order; `false` if a key is no binary.
    ///
    /// Binaries are last in term order, and their order is the required order. So if the first
    /// key of a small map is a binary, all keys are distinct, sorted binaries.
    fn ordered(&mut self, map: Raw<'a>) -> Result<bool, EncodeError> {
        self.out.push(b'{');
        let mut first = true;
        for (key, value) in RawMembers::of(map, self.env) {
            if first && !key.is_binary(self.env) {
                self.out.pop();
                return Ok(false);
            }
            let word = key.word();
            if !self.keys.append(word, first, self.out) {
                self.key(word, self.key_bytes(key)?, first)?;
            }
            first = false;
            if let Err(error) = self.value(value) {
                return Err(error.under_key(self.key_bytes(key).unwrap_or_default()));
            }
        }
        self.out.push(b'}');
        Ok(true)
    }

    fn key_bytes(&self, key: Raw<'a>) -> Result<&'a [u8], EncodeError> {
        key.bytes(self.env).ok_or_else(|| {
            EncodeError::new(EncodeErrorKind::InvalidKey, "a map key that is a bitstring")
        })
    }

    /// Writes a map whose keys must be sorted or checked first.
    fn sorted(&mut self, map: Raw<'a>) -> Written {
        let (start, end) = self.collect_members(map)?;
        self.nested(|writer| {
            writer.out.push(b'{');
            writer.members(start, end, true)?;
            writer.out.push(b'}');
            Ok(())
        })?;
        self.entries.truncate(start);
        Ok(())
    }

    /// Writes collected members, with a comma before each but the `first`.
    pub(super) fn members(&mut self, start: usize, end: usize, mut first: bool) -> Written {
        for index in start..end {
            let Some(entry) = self.entries.get(index).copied() else {
                break;
            };
            self.entry_key(entry, first)?;
            first = false;
            self.value(entry.value)
                .map_err(|error| error.under_key(entry.key))?;
        }
        Ok(())
    }

    /// Writes a member's key, with a comma unless it is the first of its object.
    pub(super) fn entry_key(&mut self, entry: Entry<'a>, first: bool) -> Written {
        if self.keys.append(entry.word, first, self.out) {
            return Ok(());
        }
        self.key(entry.word, entry.key, first)
    }

    fn key(&mut self, word: usize, key: &[u8], first: bool) -> Written {
        if !first {
            self.out.push(b',');
        }
        let start = self.out.len();
        write_utf8(self.out, key).map_err(|_| {
            EncodeError::new(EncodeErrorKind::InvalidUtf8, "a map key that is not UTF-8")
        })?;
        self.out.push(b':');
        self.keys
            .remember(word, self.out.get(start..).unwrap_or_default());
        Ok(())
    }

    /// Pushes a map's members to [`Writer::entries`], sorted by key. The caller removes them.
    pub(super) fn collect(&mut self, map: Raw<'a>) -> Result<Members<'a>, EncodeError> {
        if let Some(module) = self.module(map) {
            return Ok(Members::Struct { module });
        }
        let (start, end) = self.collect_members(map)?;
        Ok(Members::Plain { start, end })
    }

    /// As [`Writer::collect`], for a map that is no struct; returns their start and end.
    fn collect_members(&mut self, map: Raw<'a>) -> Result<(usize, usize), EncodeError> {
        let size = map.size(self.env).unwrap_or_default();
        self.spend(size.saturating_mul(4))?;
        let start = self.entries.len();
        let mut sorted = true;
        for (key, value) in RawMembers::of(map, self.env) {
            let word = key.word();
            let key = self.key_text(key)?;
            let last = self.entries.get(start..).and_then(<[_]>::last);
            sorted = sorted && last.is_none_or(|last| last.key < key);
            self.entries.push(Entry { key, word, value });
        }
        if !sorted {
            self.sort(start)?;
        }
        Ok((start, self.entries.len()))
    }

    /// The text of a key.
    fn key_text(&self, key: Raw<'a>) -> Result<&'a [u8], EncodeError> {
        if let Some(bytes) = key.bytes(self.env) {
            return Ok(bytes);
        }
        let key = key.term(self.env);
        match TermKind::of(key) {
            TermKind::Atom => Ok(atom_text::of(key).as_bytes()),
            TermKind::Integer => {
                let mut digits = Vec::new();
                match Raw::from(key).integer(self.env) {
                    Some(value) => write_integer(&mut digits, value),
                    None => digits.extend(number::digits(key, self.left())?.0.into_bytes()),
                }
                let text: Term<'a> = NewBinary::from_slice(self.env, &digits).into();
                Ok(Raw::from(text).bytes(self.env).unwrap_or_default())
            }
            other => Err(EncodeError::new(
                EncodeErrorKind::InvalidKey,
                format!("a map key that is {}", other.noun()),
            )),
        }
    }

    /// Sorts the members from `start` on, and refuses equal names.
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
