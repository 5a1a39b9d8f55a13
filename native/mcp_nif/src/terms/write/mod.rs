//! Encodes terms as JSON text in one pass into one buffer.

pub(super) mod content;
pub(super) mod dates;
pub(super) mod decimal;
pub(super) mod echo;
pub(super) mod foreign;
pub(super) mod key_replay;
pub(super) mod kinds;
pub(super) mod members;
pub(super) mod order;
pub(super) mod schemas;
pub(super) mod shape;
pub(super) mod tables;

use mcp_core::json::{
    write_float, write_integer, write_plain, write_string, write_unsigned, write_utf8,
};
use mcp_core::model::{Field, Shape};
use mcp_core::revision::Revision;
use rustler::{Binary, Env, Term};

use self::echo::Echo;
use self::foreign::Plans;
use self::key_replay::KeyReplay;
use self::members::Entry;
use self::tables::StructKind;
use super::error::{EncodeError, EncodeErrorKind};
use super::raw::Raw;
use super::term_kind::TermKind;
use super::{atom_text, number};
use crate::atoms;

/// The deepest nesting of values, which is the reader's limit too.
pub(super) const MAX_DEPTH: usize = 128;

/// The bytes of plain text that cost one byte of the budget: a megabyte takes 60 µs, and
/// moving to a dirty scheduler and back takes 25 µs.
const PLAIN_BYTES: usize = 16;

pub(super) type Written = Result<(), EncodeError>;

/// The settings of an encoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// The peer's revision.
    pub(crate) revision: Revision,
    /// About how many bytes may be written before [`EncodeErrorKind::OverBudget`]; plain text
    /// counts less. It bounds the work on a normal scheduler, and is `usize::MAX` on a dirty
    /// scheduler.
    pub(crate) budget: usize,
    /// Whether to write the fields that only other revisions have.
    whole: bool,
}

impl Context {
    /// For a peer with this revision.
    pub(crate) const fn of(revision: Revision, budget: usize) -> Self {
        Self {
            revision,
            budget,
            whole: false,
        }
    }

    /// For no particular peer: the fields of all revisions, in the form of the newest.
    pub(crate) const fn whole(budget: usize) -> Self {
        Self {
            revision: Revision::NEWEST,
            budget,
            whole: true,
        }
    }

    /// The same context with another budget.
    pub(super) const fn with_budget(self, budget: usize) -> Self {
        Self { budget, ..self }
    }

    /// Whether the field is written.
    pub(super) fn knows(&self, field: &Field) -> bool {
        self.whole || field.known_at(self.revision)
    }
}

/// The members that the core adds to an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras<'x> {
    /// Members to write first, as JSON text: `"resultType":"complete"`.
    pub(crate) fields: &'x [u8],
    /// Members of `_meta` (name and JSON text); they replace the handler's.
    pub(crate) meta: &'x [(&'x str, &'x [u8])],
}

/// Appends a term as JSON. Maps keep their members, with sorted keys; the library's structs are
/// written by their shape.
pub(crate) fn write_value(out: &mut Vec<u8>, term: Term<'_>, context: &Context) -> Written {
    Writer::new(out, term.get_env(), *context).value(term.into())
}

/// Appends an MCP object: its struct, or a plain map with the fields in any allowed spelling.
pub(crate) fn write_shape(
    out: &mut Vec<u8>,
    shape: &'static Shape,
    term: Term<'_>,
    context: &Context,
    extras: &Extras<'_>,
) -> Written {
    Writer::new(out, term.get_env(), *context).object_of(shape, term.into(), extras)
}

pub(super) struct Writer<'w, 'a> {
    pub(super) out: &'w mut Vec<u8>,
    pub(super) env: Env<'a>,
    pub(super) context: Context,
    /// The members of all maps around the value being written.
    entries: Vec<Entry<'a>>,
    keys: KeyReplay,
    echo: Echo<'a>,
    plans: Plans,
    depth: usize,
    /// The length of `out` at which the budget ends.
    limit: usize,
}

impl<'w, 'a> Writer<'w, 'a> {
    pub(super) fn new(out: &'w mut Vec<u8>, env: Env<'a>, context: Context) -> Self {
        let limit = out.len().saturating_add(context.budget);
        Self {
            out,
            env,
            context,
            entries: Vec::new(),
            keys: KeyReplay::default(),
            echo: Echo::default(),
            plans: Plans::default(),
            depth: 0,
            limit,
        }
    }

    pub(super) fn value(&mut self, term: Raw<'a>) -> Written {
        self.spend(0)?;
        // Most values are binaries, so they are tested first.
        if let Some(text) = term.bytes(self.env) {
            return self.utf8(text);
        }
        match term.kind(self.env) {
            TermKind::Atom => {
                self.atom(term);
                Ok(())
            }
            TermKind::Integer => self.integer(term),
            TermKind::Float => self.float(term),
            TermKind::Map => self.map(term),
            TermKind::List => self.list(term, |writer, item| writer.value(item).map(|()| true)),
            other => Err(EncodeError::new(EncodeErrorKind::Unsupported, other.noun())),
        }
    }

    pub(super) fn integer(&mut self, term: Raw<'a>) -> Written {
        match term.integer(self.env) {
            Some(value) => {
                write_integer(self.out, value);
                Ok(())
            }
            None => self.long_integer(term.term(self.env)),
        }
    }

    #[cold]
    fn long_integer(&mut self, term: Term<'a>) -> Written {
        if let Ok(value) = term.decode() {
            write_unsigned(self.out, value);
            return Ok(());
        }
        let (digits, cost) = number::digits(term, self.left())?;
        self.out.extend_from_slice(digits.as_bytes());
        self.charge(cost);
        Ok(())
    }

    /// Takes an additional cost from the budget.
    fn charge(&mut self, cost: usize) {
        self.limit = self.limit.saturating_sub(cost);
    }

    /// The BEAM has no infinities and no NaN.
    pub(super) fn float(&mut self, term: Raw<'a>) -> Written {
        term.float(self.env)
            .and_then(|value| write_float(self.out, value).ok())
            .ok_or_else(|| {
                EncodeError::new(EncodeErrorKind::Unsupported, "a float that is no number")
            })
    }

    /// Refuses if `bytes` more would exceed the budget.
    pub(super) fn spend(&self, bytes: usize) -> Written {
        if self.out.len().saturating_add(bytes) > self.limit {
            return Err(EncodeError::new(EncodeErrorKind::OverBudget, ""));
        }
        Ok(())
    }

    /// The rest of the budget in bytes.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.out.len())
    }

    /// Refuses a list that will exceed the budget, estimated from its first item.
    fn expect(&self, rest: Raw<'a>, start: usize) -> Written {
        let item = self.out.len().saturating_sub(start);
        if self.context.budget == usize::MAX || item < 16 {
            return Ok(());
        }
        // Twice as many, because the first item may be the longest. Counting stops there.
        let left = self.limit.saturating_sub(self.out.len());
        let fitting = left.checked_div(item).unwrap_or_default();
        let mut rest = rest;
        for _ in 0..=fitting.saturating_mul(2) {
            match rest.cell(self.env) {
                Some((_, tail)) => rest = tail,
                None => return Ok(()),
            }
        }
        self.spend(usize::MAX)
    }

    /// Writes a container one level deeper.
    pub(super) fn nested<R>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<R, EncodeError>,
    ) -> Result<R, EncodeError> {
        if self.depth >= MAX_DEPTH {
            return Err(EncodeError::new(
                EncodeErrorKind::TooDeep,
                "more than 128 values inside each other",
            ));
        }
        self.depth = self.depth.saturating_add(1);
        let written = write(self)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(written)
    }

    pub(super) fn utf8(&mut self, text: &[u8]) -> Written {
        if text.len() > self.left() {
            return self.long_text(text);
        }
        write_utf8(self.out, text).map_err(|_| not_utf8())
    }

    /// Writes text that is longer than the budget: plain text takes less time, so it may still fit.
    #[cold]
    fn long_text(&mut self, text: &[u8]) -> Written {
        let cost = text.len() / PLAIN_BYTES;
        self.spend(cost)?;
        if !write_plain(self.out, text) {
            return self.spend(usize::MAX);
        }
        let free = text.len().saturating_sub(cost);
        self.limit = self.limit.saturating_add(free);
        Ok(())
    }

    fn atom(&mut self, term: Raw<'a>) {
        if term.is(atoms::nil()) {
            self.out.extend_from_slice(b"null");
        } else if term.is(atoms::true_()) {
            self.out.extend_from_slice(b"true");
        } else if term.is(atoms::false_()) {
            self.out.extend_from_slice(b"false");
        } else {
            write_string(self.out, atom_text::of(term.term(self.env)));
        }
    }

    /// Writes a list; `write` returns `false` for an omitted item.
    pub(super) fn list(
        &mut self,
        list: Raw<'a>,
        mut write: impl FnMut(&mut Self, Raw<'a>) -> Result<bool, EncodeError>,
    ) -> Written {
        self.nested(|writer| {
            writer.out.push(b'[');
            let (mut rest, mut index, mut first) = (list, 0_usize, true);
            while let Some((item, tail)) = rest.cell(writer.env) {
                let before = writer.out.len();
                if !first {
                    writer.out.push(b',');
                }
                if write(writer, item).map_err(|error| error.under_index(index))? {
                    if first {
                        writer.expect(tail, before)?;
                    }
                    first = false;
                } else {
                    writer.out.truncate(before);
                }
                rest = tail;
                index = index.saturating_add(1);
            }
            writer.out.push(b']');
            if rest.term(writer.env).is_empty_list() {
                Ok(())
            } else {
                Err(EncodeError::new(
                    EncodeErrorKind::ImproperList,
                    "a list without a proper end",
                ))
            }
        })
    }

    pub(super) fn structure(&mut self, map: Raw<'a>, module: Term<'a>) -> Written {
        let term = map.term(self.env);
        match tables::of_module(module) {
            Some(StructKind::Wire(table) | StructKind::Message(table)) => {
                self.wire_struct(table, map, &Extras::default())
            }
            Some(StructKind::Calendar(calendar)) => dates::write(self.out, calendar, term),
            Some(StructKind::Decimal) => {
                let cost = decimal::write(self.out, term, self.left())?;
                self.charge(cost);
                Ok(())
            }
            Some(StructKind::Unencodable) => Err(encoder_failed(term)),
            // A connection holds data that only the handler may see.
            None if atom_text::of(module) == "Elixir.McpServer.Conn" => Err(EncodeError::new(
                EncodeErrorKind::Unsupported,
                "a connection",
            )),
            None => self.foreign_struct(map, module),
        }
    }
}

/// The failure of a struct's encoder, which Elixir put in the place of the struct.
#[cold]
fn encoder_failed(term: Term<'_>) -> EncodeError {
    let reason = term.map_get(atoms::reason()).ok();
    let reason = reason.and_then(|reason| text_of(reason).ok());
    EncodeError::new(
        EncodeErrorKind::EncoderFailed,
        reason.unwrap_or_default().to_owned(),
    )
}

/// The text of a binary.
pub(super) fn text_of(term: Term<'_>) -> Result<&str, EncodeError> {
    let binary = Binary::from_term(term).map_err(|_| not_whole_bytes())?;
    simdutf8::basic::from_utf8(binary.as_slice()).map_err(|_| not_utf8())
}

pub(super) fn not_whole_bytes() -> EncodeError {
    EncodeError::new(
        EncodeErrorKind::Unsupported,
        "a bitstring that is not whole bytes",
    )
}

fn not_utf8() -> EncodeError {
    EncodeError::new(EncodeErrorKind::InvalidUtf8, "a binary that is not UTF-8")
}
