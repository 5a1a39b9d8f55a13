//! The syntax of RFC 6570, section 2.

use super::TemplateError;
use super::percent::triplet;

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Literal text.
    Literal(String),
    /// `{...}`.
    Expression(Expression),
}

/// The content of a pair of braces.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) operator: Operator,
    pub(super) variables: Vec<Variable>,
}

/// A variable of an expression.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) modifier: Modifier,
}

/// The modifier after a variable's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modifier {
    /// Nothing.
    Plain,
    /// `*`.
    Explode,
    /// `:3`: the first characters only.
    Prefix(usize),
}

/// The operator before the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `{var}`.
    Simple,
    /// `{+var}`.
    Reserved,
    /// `{#var}`.
    Fragment,
    /// `{.var}`.
    Label,
    /// `{/var}`.
    Path,
    /// `{;var}`.
    Parameter,
    /// `{?var}`.
    Query,
    /// `{&var}`.
    Continuation,
}

impl Part {
    /// The variables of an expression.
    pub(super) fn variables(&self) -> impl Iterator<Item = &Variable> + Clone {
        match self {
            Self::Literal(_) => [].iter(),
            Self::Expression(expression) => expression.variables.iter(),
        }
    }
}

/// Splits a template into its parts.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(inside) = rest.strip_prefix('{') else {
            let end = rest.find('{').unwrap_or(rest.len());
            let literal = rest.get(..end).unwrap_or(rest);
            check_literal(literal, at)?;
            parts.push(Part::Literal(literal.to_owned()));
            at = at.saturating_add(end);
            continue;
        };
        let end = inside.find('}').ok_or(TemplateError::Brace { at })?;
        let body = inside.get(..end).unwrap_or(inside);
        let expression = expression(body).ok_or(TemplateError::Expression { at })?;
        parts.push(Part::Expression(expression));
        at = at.saturating_add(end).saturating_add(2);
    }
    Ok(parts)
}

/// Erratum 6937 allows the apostrophe.
fn check_literal(literal: &str, start: usize) -> Result<(), TemplateError> {
    for (offset, character) in literal.char_indices() {
        let at = start.saturating_add(offset);
        let is_allowed = match character {
            '}' => return Err(TemplateError::Brace { at }),
            '%' => literal.get(offset..).and_then(triplet).is_some(),
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' => false,
            other => !other.is_control(),
        };
        if !is_allowed {
            return Err(TemplateError::Literal { at });
        }
    }
    Ok(())
}

fn expression(body: &str) -> Option<Expression> {
    let (operator, list) = operator(body);
    let variables: Option<Vec<Variable>> = list.split(',').map(variable).collect();
    Some(Expression {
        operator,
        variables: variables?,
    })
}

fn operator(body: &str) -> (Operator, &str) {
    let operator = match body.chars().next() {
        Some('+') => Operator::Reserved,
        Some('#') => Operator::Fragment,
        Some('.') => Operator::Label,
        Some('/') => Operator::Path,
        Some(';') => Operator::Parameter,
        Some('?') => Operator::Query,
        Some('&') => Operator::Continuation,
        _ => return (Operator::Simple, body),
    };
    (operator, body.get(1..).unwrap_or_default())
}

fn variable(text: &str) -> Option<Variable> {
    let (name, modifier) = if let Some(name) = text.strip_suffix('*') {
        (name, Modifier::Explode)
    } else if let Some((name, length)) = text.split_once(':') {
        (name, Modifier::Prefix(prefix_length(length)?))
    } else {
        (text, Modifier::Plain)
    };
    is_name(name).then(|| Variable {
        name: name.to_owned(),
        modifier,
    })
}

/// 1 to 9999, without leading zeros.
fn prefix_length(digits: &str) -> Option<usize> {
    let is_length = (1..=4).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_length.then(|| digits.parse().ok())?
}

/// Whether a text has only letters, digits, `_` and triplets, with single dots between them.
fn is_name(name: &str) -> bool {
    name.split('.').all(|word| {
        let mut rest = word;
        while let Some(character) = rest.chars().next() {
            let length = match character {
                '%' if triplet(rest).is_some() => 3,
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => 1,
                _ => return false,
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        !word.is_empty()
    })
}
