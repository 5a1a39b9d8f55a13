//! Maps whose keys have a declared order: those first that it names, then the others, sorted.
//!
//! An order is a list of `key` and `{key, order}`; the second is that of the value under the key. A list
//! hands its order on to its elements.

use rustler::types::tuple::get_tuple;
use rustler::{Binary, Term, TermType};

use super::error::{EncodeError, EncodeErrorKind};
use super::members::Members;
use super::write::{Context, Writer, Written};

/// Appends a term as JSON, its keys in that order.
pub(crate) fn write_in_order<'a>(
    out: &mut Vec<u8>,
    term: Term<'a>,
    order: Term<'a>,
    context: &Context,
) -> Written {
    Writer::new(out, term.get_env(), *context).value_in_order(term, order)
}

impl<'a> Writer<'_, 'a> {
    pub(super) fn value_in_order(&mut self, term: Term<'a>, order: Term<'a>) -> Written {
        match term.get_type() {
            TermType::Map if !order.is_empty_list() => self.map_in_order(term, order),
            TermType::List if !order.is_empty_list() => self.list(term, |writer, item| {
                writer.value_in_order(item, order).map(|()| true)
            }),
            _ => self.value(term),
        }
    }

    fn map_in_order(&mut self, term: Term<'a>, order: Term<'a>) -> Written {
        match self.collect(term)? {
            Members::Struct { module } => self.structure(term, module),
            Members::Plain { start, end } => {
                self.nested(|writer| {
                    writer.out.push(b'{');
                    writer.members_in_order(start, end, order)?;
                    writer.out.push(b'}');
                    Ok(())
                })?;
                self.entries.truncate(start);
                Ok(())
            }
        }
    }

    fn members_in_order(&mut self, start: usize, end: usize, order: Term<'a>) -> Written {
        let mut next = start;
        let mut steps = order;
        while let Ok((step, rest)) = steps.list_get_cell() {
            steps = rest;
            let (key, inner) = step_of(step)?;
            let members = self.entries.get_mut(next..end).unwrap_or_default();
            let Some(found) = members.iter().position(|member| member.key == key) else {
                continue;
            };
            // To the front; what is left behind it stays sorted.
            if let Some(moved) = members.get_mut(..=found) {
                moved.rotate_right(1);
            }
            let Some(member) = members.first().copied() else {
                continue;
            };
            if next > start {
                self.out.push(b',');
            }
            self.entry_key(member)?;
            match inner {
                Some(inner) => self.value_in_order(member.value, inner),
                None => self.value(member.value),
            }
            .map_err(|error| error.under_key(key))?;
            next = next.saturating_add(1);
        }
        self.members(next, end, next == start)
    }
}

/// A key and the order of what is under it.
fn step_of(step: Term<'_>) -> Result<(&[u8], Option<Term<'_>>), EncodeError> {
    if let Ok(key) = Binary::from_term(step) {
        return Ok((key.as_slice(), None));
    }
    match get_tuple(step).as_deref() {
        Ok([key, inner]) => match Binary::from_term(*key) {
            Ok(key) => Ok((key.as_slice(), Some(*inner))),
            Err(_) => Err(no_order()),
        },
        _ => Err(no_order()),
    }
}

fn no_order() -> EncodeError {
    EncodeError::new(
        EncodeErrorKind::Unsupported,
        "an order that is no list of keys",
    )
}
