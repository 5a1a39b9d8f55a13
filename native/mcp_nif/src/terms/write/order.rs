//! Writes maps with a declared order of keys: first the declared keys, then the others, sorted.
//!
//! An order is a list of `key` and `{key, order}`; the inner order is for the value of the key. A
//! list passes its order to its elements.

use rustler::types::tuple::get_tuple;
use rustler::{Binary, Term};

use super::members::{Entry, Members};
use super::{Context, MAX_DEPTH, Writer, Written};
use crate::terms::error::{EncodeError, EncodeErrorKind};
use crate::terms::raw::Raw;
use crate::terms::term_kind::TermKind;

/// Appends a term as JSON with this order of keys.
pub(crate) fn write_in_order<'a>(
    out: &mut Vec<u8>,
    term: Term<'a>,
    order: Term<'a>,
    context: &Context,
) -> Written {
    let mut order = Order::read(order, 0)?;
    Writer::new(out, term.get_env(), *context).value_in_order(term.into(), &mut order)
}

/// An order, with its arrangement of the last map: most maps of a list have the same keys.
#[derive(Default)]
struct Order<'a> {
    steps: Vec<Step<'a>>,
    /// The words of the last map's keys, sorted by key.
    keys: Vec<usize>,
    /// The last map's members in written order: the index in the sorted members, and the step.
    places: Vec<(usize, Option<usize>)>,
}

struct Step<'a> {
    key: &'a [u8],
    inner: Order<'a>,
}

impl<'a> Order<'a> {
    fn read(order: Term<'a>, depth: usize) -> Result<Self, EncodeError> {
        let mut steps = Vec::new();
        let mut rest = order;
        while let Ok((step, tail)) = rest.list_get_cell() {
            steps.push(Step::read(step, depth)?);
            rest = tail;
        }
        if rest.is_empty_list() {
            Ok(Self {
                steps,
                ..Self::default()
            })
        } else {
            Err(no_order())
        }
    }

    /// Arranges the sorted members of a map.
    fn arrange(&mut self, members: &[Entry<'a>]) {
        let keys = || members.iter().map(|member| member.word);
        if self.keys.len() == members.len() && keys().eq(self.keys.iter().copied()) {
            return;
        }
        self.keys.clear();
        self.keys.extend(keys());
        self.places.clear();
        for (index, step) in self.steps.iter().enumerate() {
            // An order may name a key twice, but an object has it once.
            if let Some(place) = members.iter().position(|member| member.key == step.key)
                && !self.places.iter().any(|(other, _)| *other == place)
            {
                self.places.push((place, Some(index)));
            }
        }
        let named = self.places.len();
        for place in 0..members.len() {
            let taken = self.places.iter().take(named);
            if !taken.into_iter().any(|(other, _)| *other == place) {
                self.places.push((place, None));
            }
        }
    }
}

impl<'a> Step<'a> {
    fn read(step: Term<'a>, depth: usize) -> Result<Self, EncodeError> {
        if depth > MAX_DEPTH {
            return Err(no_order());
        }
        let (key, inner) = match get_tuple(step).as_deref() {
            Ok([key, inner]) => (*key, Order::read(*inner, depth.saturating_add(1))?),
            _ => (step, Order::default()),
        };
        let key = Binary::from_term(key).map_err(|_| no_order())?.as_slice();
        Ok(Self { key, inner })
    }
}

fn no_order() -> EncodeError {
    EncodeError::new(
        EncodeErrorKind::Unsupported,
        "an order that is no list of keys",
    )
}

impl<'a> Writer<'_, 'a> {
    fn value_in_order(&mut self, term: Raw<'a>, order: &mut Order<'a>) -> Written {
        if order.steps.is_empty() {
            return self.value(term);
        }
        match term.kind(self.env) {
            TermKind::Map => self.map_in_order(term, order),
            TermKind::List => self.list(term, |writer, item| {
                writer.value_in_order(item, order).map(|()| true)
            }),
            _ => self.value(term),
        }
    }

    fn map_in_order(&mut self, term: Raw<'a>, order: &mut Order<'a>) -> Written {
        match self.collect(term)? {
            Members::Struct { module } => self.structure(term, module),
            Members::Plain { start, end } => {
                order.arrange(self.between(start, end));
                self.nested(|writer| {
                    writer.out.push(b'{');
                    writer.members_in_order(start, order)?;
                    writer.out.push(b'}');
                    Ok(())
                })?;
                self.entries.truncate(start);
                Ok(())
            }
        }
    }

    fn members_in_order(&mut self, start: usize, order: &mut Order<'a>) -> Written {
        for index in 0..order.places.len() {
            let Some((place, step)) = order.places.get(index).copied() else {
                break;
            };
            let Some(member) = self.entries.get(start.saturating_add(place)).copied() else {
                break;
            };
            self.entry_key(member, index == 0)?;
            match step.and_then(|step| order.steps.get_mut(step)) {
                Some(step) => self.value_in_order(member.value, &mut step.inner),
                None => self.value(member.value),
            }
            .map_err(|error| error.under_key(member.key))?;
        }
        Ok(())
    }
}
