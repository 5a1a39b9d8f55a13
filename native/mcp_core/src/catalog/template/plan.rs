//! The plan for matching: which parts of a URI are a template's variables.

use std::collections::HashSet;

use super::TemplateError;
use super::expand::literal;
use super::parse::{Expression, Modifier, Operator, Part, Variable};
use super::percent::normal_form;

/// A piece of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    /// Text in its URI encoding.
    Literal(String),
    /// A variable.
    Capture(Capture),
}

/// A variable of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capture {
    pub(super) name: String,
    /// Characters that its encoded value cannot contain.
    pub(super) stops: &'static str,
    /// Whether it may span segments. A variable that may not is never empty.
    pub(super) spans: bool,
}

/// How a template is matched: the path from both ends, then the query by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The path up to the variable that may span segments, or the whole path.
    pub(super) head: Vec<Atom>,
    /// The variable that may span segments.
    pub(super) middle: Option<Capture>,
    /// The path after that variable.
    pub(super) tail: Vec<Atom>,
    /// The parameters of the query, which may be absent and in any order.
    pub(super) query: Option<Vec<Parameter>>,
}

/// A parameter of the query.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// The variable's name.
    pub(super) name: String,
    /// The name in the normal form of a URI. A name may have triplets, which are part of it (RFC
    /// 6570, section 2.3).
    pub(super) written: String,
}

pub(super) fn plan(parts: &[Part]) -> Result<Plan, TemplateError> {
    check_names(parts)?;
    let (path, query) = split_query(parts);
    let mut plan = Plan {
        query: parameters(query)?,
        ..Plan::default()
    };
    for part in path {
        match part {
            Part::Literal(text) => plan.push_literal(&literal(text)),
            Part::Expression(expression) => plan.push_expression(expression)?,
        }
    }
    plan.check_query(query)?;
    Ok(plan)
}

/// Refuses repeated names and modifiers.
fn check_names(parts: &[Part]) -> Result<(), TemplateError> {
    let mut seen = HashSet::new();
    for variable in parts.iter().flat_map(Part::variables) {
        if variable.modifier != Modifier::Plain {
            return Err(not_invertible(variable));
        }
        if !seen.insert(&variable.name) {
            return Err(TemplateError::Duplicate {
                name: variable.name.clone(),
            });
        }
    }
    Ok(())
}

/// Splits off the `{?...}` at the end with the `{&...}` that follow it.
fn split_query(parts: &[Part]) -> (&[Part], &[Part]) {
    let operator = |part: &Part| match part {
        Part::Literal(_) => None,
        Part::Expression(expression) => Some(expression.operator),
    };
    let is_continuation = |part: &&Part| operator(part) == Some(Operator::Continuation);
    let continuations = parts.iter().rev().take_while(is_continuation).count();
    let start = parts.len().saturating_sub(continuations).checked_sub(1);
    match start.and_then(|start| parts.get(start).map(|part| (start, part))) {
        Some((start, part)) if operator(part) == Some(Operator::Query) => parts.split_at(start),
        _ => (parts, &[]),
    }
}

fn parameters(query: &[Part]) -> Result<Option<Vec<Parameter>>, TemplateError> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for variable in query.iter().flat_map(Part::variables) {
        let name = variable.name.clone();
        let written = normal_form(&name).into_owned();
        // `a` and `%61` are two variables, but one parameter.
        if parameters.iter().any(|known| known.written == written) {
            return Err(TemplateError::Duplicate { name });
        }
        parameters.push(Parameter { name, written });
    }
    Ok((!parameters.is_empty()).then_some(parameters))
}

impl Plan {
    /// A URI's query starts at its first question mark, so the path before it must not contain one.
    fn check_query(&self, query: &[Part]) -> Result<(), TemplateError> {
        let is_early = |atom: &Atom| matches!(atom, Atom::Literal(text) if text.contains('?'));
        let variable = query.iter().flat_map(Part::variables).next();
        match variable {
            Some(variable) if self.head.iter().chain(&self.tail).any(is_early) => {
                Err(not_invertible(variable))
            }
            _ => Ok(()),
        }
    }

    fn push_expression(&mut self, expression: &Expression) -> Result<(), TemplateError> {
        let (lead, separator, stops) = match expression.operator {
            Operator::Simple if expression.variables.len() == 1 => ("", ",", "/?#"),
            Operator::Simple => ("", ",", "/?#,"),
            Operator::Label => (".", ".", "/?#."),
            Operator::Path => ("/", "/", "/?#"),
            Operator::Reserved => ("", ",", "?#"),
            Operator::Fragment => ("#", ",", "#"),
            Operator::Parameter | Operator::Query | Operator::Continuation => {
                return expression
                    .variables
                    .first()
                    .map_or(Ok(()), |variable| Err(not_invertible(variable)));
            }
        };
        let spans = matches!(expression.operator, Operator::Reserved | Operator::Fragment);
        for (index, variable) in expression.variables.iter().enumerate() {
            self.push_literal(if index == 0 { lead } else { separator });
            self.push_capture(variable, stops, spans)?;
        }
        Ok(())
    }

    /// The atoms to append to.
    fn end(&mut self) -> &mut Vec<Atom> {
        if self.middle.is_some() {
            &mut self.tail
        } else {
            &mut self.head
        }
    }

    fn push_literal(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let atoms = self.end();
        if let Some(Atom::Literal(before)) = atoms.last_mut() {
            before.push_str(text);
        } else {
            atoms.push(Atom::Literal(text.to_owned()));
        }
    }

    fn push_capture(
        &mut self,
        variable: &Variable,
        stops: &'static str,
        spans: bool,
    ) -> Result<(), TemplateError> {
        let name = variable.name.clone();
        let after_middle = self.middle.is_some() && self.tail.is_empty();
        if after_middle || matches!(self.end().last(), Some(Atom::Capture(_))) {
            return Err(TemplateError::Adjacent { name });
        }
        if spans && self.middle.is_some() {
            return Err(TemplateError::SecondMultiSegment { name });
        }
        let capture = Capture { name, stops, spans };
        if spans {
            self.middle = Some(capture);
        } else {
            self.end().push(Atom::Capture(capture));
        }
        Ok(())
    }
}

fn not_invertible(variable: &Variable) -> TemplateError {
    TemplateError::NotInvertible {
        name: variable.name.clone(),
    }
}
