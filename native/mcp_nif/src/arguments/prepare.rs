//! Converts the arguments of one call.

use mcp_core::arguments::Cast;
use mcp_core::json::{UNLIMITED, pointer};
use mcp_core::schema::Problem;
use rustler::{Encoder, Env, NewBinary, Term};

use super::cast::{cast_term, integer_term, number_text};
use super::plan::{TermMember, TermObject, TermPlace, TermPlan};
use crate::schema::Allowance;
use crate::terms::read_term;

/// The most problems reported for one call, as many as for a schema.
const MAX_PROBLEMS: usize = 20;

/// The result of a conversion.
pub(crate) enum Prepared<'a> {
    /// The arguments for the handler.
    Ready(Term<'a>),
    /// Strings that do not have their declared format.
    Problems(Vec<Problem>),
    /// There are more values than the allowance permits.
    TooLong,
}

/// The cost of one value, in schema steps: it creates terms.
const STEPS: u64 = 8;

/// Converts valid arguments for the handler, within the rest of the allowance.
/// `None` if the VM refuses a term, which never happens for admitted arguments.
pub(crate) fn prepare<'a>(
    env: Env<'a>,
    plan: &TermPlan,
    arguments: Term<'a>,
    allowance: &Allowance,
) -> Option<Prepared<'a>> {
    let looks = allowance.steps() / STEPS;
    let mut walk = Walk {
        env,
        left: looks,
        path: Vec::new(),
        problems: Vec::new(),
    };
    let prepared = walk.value(&plan.root, arguments);
    allowance.spend(looks.saturating_sub(walk.left).saturating_mul(STEPS));
    match prepared {
        Ok(term) if walk.problems.is_empty() => Some(Prepared::Ready(term)),
        Ok(_) => Some(Prepared::Problems(walk.problems)),
        Err(Stop::Steps) => Some(Prepared::TooLong),
        Err(Stop::Vm) => None,
    }
}

/// Whether both terms are the same term in memory; a converted value may be equal but is another term.
fn is_same(sent: Term<'_>, value: Term<'_>) -> bool {
    sent.as_c_arg() == value.as_c_arg()
}

/// Why the conversion ends early.
enum Stop {
    Steps,
    Vm,
}

struct Walk<'a, 'p> {
    env: Env<'a>,
    left: u64,
    /// The path to the current value, for problems.
    path: Vec<Step<'p>>,
    problems: Vec<Problem>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Name(&'p str),
    Index(usize),
}

impl<'a, 'p> Walk<'a, 'p> {
    /// Recurses as deep as the plan.
    fn value(&mut self, place: &'p TermPlace, term: Term<'a>) -> Result<Term<'a>, Stop> {
        self.left = self.left.checked_sub(1).ok_or(Stop::Steps)?;
        if let Some(object) = &place.object
            && term.is_map()
        {
            return self.object(object, term);
        }
        if let Some(items) = &place.items
            && term.is_list()
        {
            return self.elements(items, term);
        }
        if place.is_integer && term.is_float() {
            return integer_term(self.env, term).ok_or(Stop::Vm);
        }
        match place.cast {
            Some(cast) if term.is_binary() => {
                let text: &str = term.decode().map_err(|_| Stop::Vm)?;
                self.cast(cast, text, term)
            }
            Some(cast @ Cast::Decimal) if term.is_number() => {
                let text = number_text(term).ok_or(Stop::Vm)?;
                self.cast(cast, &text, term)
            }
            _ => Ok(term),
        }
    }

    fn cast(&mut self, cast: Cast, text: &str, term: Term<'a>) -> Result<Term<'a>, Stop> {
        match cast.read(text, &|| self.pointer()) {
            Ok(value) => cast_term(self.env, &value, term).ok_or(Stop::Vm),
            Err(problem) => {
                self.report(problem);
                Ok(term)
            }
        }
    }

    fn object(&mut self, object: &'p TermObject, term: Term<'a>) -> Result<Term<'a>, Stop> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let mut sent_members: usize = 0;
        for member in &object.members {
            let key = self.binary(&member.name);
            let sent = term.map_get(key).ok();
            sent_members = sent_members.saturating_add(usize::from(sent.is_some()));
            if let Some(value) = self.member(member, sent)?
                && (object.rebuilds || sent.is_none_or(|sent| !is_same(sent, value)))
            {
                keys.push(member.key.map_or(key, |atom| atom.encode(self.env)));
                values.push(value);
            }
        }
        let sent_all = term.map_size().map_err(|_| Stop::Vm)?;
        let base = match &object.base {
            Some(base) => self.env.binary_to_term(base).ok_or(Stop::Vm)?.0,
            None if !object.rebuilds => term,
            None if object.drops || sent_members == sent_all => {
                return Term::map_from_term_arrays(self.env, &keys, &values).map_err(|_| Stop::Vm);
            }
            None => self.undeclared(object, term)?,
        };
        let mut members = keys.into_iter().zip(values);
        members.try_fold(base, |map, (key, value)| {
            map.map_put(key, value).map_err(|_| Stop::Vm)
        })
    }

    /// The converted member; `None` if it is absent and has no default.
    fn member(
        &mut self,
        member: &'p TermMember,
        sent: Option<Term<'a>>,
    ) -> Result<Option<Term<'a>>, Stop> {
        let value = match (sent, &member.default) {
            (Some(value), _) => value,
            (None, Some(default)) => {
                read_term(self.env, default.as_bytes(), None, &UNLIMITED).map_err(|_| Stop::Vm)?
            }
            (None, None) => return Ok(None),
        };
        let Some(place) = &member.place else {
            self.left = self.left.checked_sub(1).ok_or(Stop::Steps)?;
            return Ok(Some(value));
        };
        self.path.push(Step::Name(&member.name));
        let value = self.value(place, value)?;
        self.path.pop();
        Ok(Some(value))
    }

    fn elements(&mut self, items: &'p TermPlace, term: Term<'a>) -> Result<Term<'a>, Stop> {
        let mut elements: Vec<Term<'a>> = term.decode().map_err(|_| Stop::Vm)?;
        for (index, element) in elements.iter_mut().enumerate() {
            self.path.push(Step::Index(index));
            *element = self.value(items, *element)?;
            self.path.pop();
        }
        Ok(elements.encode(self.env))
    }

    /// The undeclared members, under the client's names.
    fn undeclared(&self, object: &TermObject, term: Term<'a>) -> Result<Term<'a>, Stop> {
        object.members.iter().try_fold(term, |rest, member| {
            rest.map_remove(self.binary(&member.name))
                .map_err(|_| Stop::Vm)
        })
    }

    fn binary(&self, text: &str) -> Term<'a> {
        NewBinary::from_slice(self.env, text.as_bytes()).into()
    }

    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn pointer(&self) -> String {
        let segment = |step: &Step<'_>| match step {
            Step::Name(name) => format!("/{}", pointer::segment(name)),
            Step::Index(index) => format!("/{index}"),
        };
        self.path.iter().map(segment).collect()
    }
}
