//! Encoding errors.

use std::borrow::Cow;

use mcp_core::model::{FormError, FormStep};
use rustler::{Atom, Encoder, Env, Term};

use crate::atoms;
use crate::resources::{binary_term, recycle};

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncodeErrorKind {
    /// A binary that is not UTF-8.
    InvalidUtf8,
    /// A list whose last tail is not empty.
    ImproperList,
    /// A term without a JSON form.
    Unsupported,
    /// A map key that is not a binary, atom or integer.
    InvalidKey,
    /// Two keys of one map with the same text.
    KeyCollision,
    /// Values are nested too deeply.
    TooDeep,
    /// A required field of an MCP object is `nil`.
    MissingField,
    /// A field of an MCP object has an invalid value.
    InvalidField,
    /// The client's revision has no such value; the detail is a sentence for the caller.
    UnknownToClient,
    /// An application's struct without an encoder; the detail is its module.
    UnknownStruct,
    /// An application's struct whose encoder failed.
    EncoderFailed,
    /// More work than [`Context::budget`](super::Context) allows: it needs a dirty scheduler.
    OverBudget,
}

impl EncodeErrorKind {
    fn atom(self) -> Atom {
        match self {
            Self::InvalidUtf8 => atoms::invalid_utf8(),
            Self::ImproperList => atoms::improper_list(),
            Self::Unsupported => atoms::unsupported(),
            Self::InvalidKey => atoms::invalid_key(),
            Self::KeyCollision => atoms::key_collision(),
            Self::TooDeep => atoms::too_deep(),
            Self::MissingField => atoms::missing_field(),
            Self::InvalidField => atoms::invalid_field(),
            Self::UnknownToClient => atoms::unknown_to_client(),
            Self::UnknownStruct => atoms::unknown_struct(),
            Self::EncoderFailed => atoms::encoder_failed(),
            Self::OverBudget => atoms::over_budget(),
        }
    }
}

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The kind and the path of an error; never the value.
#[derive(Clone, Debug)]
pub(crate) struct EncodeError(Box<Inner>);

/// Boxed to keep the writer's results small: every step returns one.
#[derive(Clone, Debug)]
struct Inner {
    kind: EncodeErrorKind,
    /// From the inside out: each caller adds its step when the error passes it.
    steps: Vec<Step>,
    /// Whether the outermost step is known, so that later steps are ignored.
    is_rooted: bool,
    detail: Cow<'static, str>,
}

impl EncodeError {
    #[cold]
    pub(super) fn new(kind: EncodeErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            steps: Vec::new(),
            is_rooted: false,
            detail: detail.into(),
        }))
    }

    pub(crate) fn kind(&self) -> EncodeErrorKind {
        self.0.kind
    }

    pub(crate) fn under_key(self, key: &[u8]) -> Self {
        let key = String::from_utf8_lossy(key).into_owned();
        self.under(Step::Key(key))
    }

    pub(super) fn under_index(self, index: usize) -> Self {
        self.under(Step::Index(index))
    }

    /// Sets the key of the outermost object, whatever steps the writer adds later.
    pub(super) fn rooted(self, key: &[u8]) -> Self {
        let mut error = self.under_key(key);
        error.0.is_rooted = true;
        error
    }

    /// A form that the core refuses.
    #[cold]
    pub(super) fn of_form(error: &FormError) -> Self {
        let path = match error {
            FormError::Invalid { path, .. } => path.as_slice(),
            FormError::HasArray { .. } => {
                return Self::new(EncodeErrorKind::UnknownToClient, error.to_string());
            }
        };
        let misfit = Self::new(EncodeErrorKind::InvalidField, error.to_string());
        path.iter().rev().fold(misfit, |misfit, step| match step {
            FormStep::Name(name) => misfit.under_key(name.as_bytes()),
            FormStep::Index(index) => misfit.under_index(*index),
        })
    }

    fn under(mut self, step: Step) -> Self {
        if !self.0.is_rooted {
            self.0.steps.push(step);
        }
        self
    }
}

/// `{kind, path, detail}`.
impl Encoder for EncodeError {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let path: Vec<Term<'a>> = self
            .0
            .steps
            .iter()
            .rev()
            .map(|step| match step {
                Step::Key(key) => key.encode(env),
                Step::Index(index) => index.encode(env),
            })
            .collect();
        (self.0.kind.atom(), path, self.0.detail.as_ref()).encode(env)
    }
}

/// The result of a call that writes: `{:ok, text}`, `:over_budget`, or `{:error, error}`.
pub(crate) fn finished(env: Env<'_>, written: Result<(), EncodeError>, text: Vec<u8>) -> Term<'_> {
    let Err(error) = written else {
        return (atoms::ok(), binary_term(env, text)).encode(env);
    };
    recycle(text);
    match error.kind() {
        EncodeErrorKind::OverBudget => atoms::over_budget().to_term(env),
        _ => env.error_tuple(error),
    }
}
