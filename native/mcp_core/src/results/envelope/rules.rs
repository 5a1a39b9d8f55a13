//! Judging an envelope.

use std::fmt;

use jsonschema::json::Json;

use super::schema;
use crate::schema::{Problem, SchemaError, SchemaLimits, Validator, compile};

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The envelope is not valid.
    Error,
    /// The envelope is valid, but a reader may make less of it than was meant.
    Warning,
}

/// Something about an envelope that should be otherwise. It shows no value that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// JSON Pointer to the place; empty for the envelope itself.
    pub pointer: String,
    /// The keyword of the schema that is not satisfied, or the name of the advice.
    pub reason: String,
    /// All of it in one line.
    pub message: String,
}

impl Finding {
    pub(super) fn warning(pointer: String, reason: &str, text: &str) -> Self {
        Self {
            level: Level::Warning,
            message: format!("{pointer}: {text}"),
            pointer,
            reason: reason.to_owned(),
        }
    }
}

impl From<Problem> for Finding {
    fn from(problem: Problem) -> Self {
        Self {
            level: Level::Error,
            message: problem.to_string(),
            pointer: problem.pointer,
            reason: problem.keyword,
        }
    }
}

/// The rules, compiled for values of the representation `J`. Make them once.
pub struct Rules<J: Json> {
    validator: Validator<J>,
}

impl<J: Json> fmt::Debug for Rules<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").finish_non_exhaustive()
    }
}

impl<J: Json> Rules<J> {
    /// Compiles the rules; call it on a thread with 64 MiB of stack.
    ///
    /// # Errors
    /// [`SchemaError`] when [`schema`] could not be compiled; it can.
    pub fn new() -> Result<Self, SchemaError> {
        let text = schema().to_string();
        let validator = compile(text.as_bytes(), &SchemaLimits::default())?;
        Ok(Self { validator })
    }

    /// Whether an envelope is valid.
    #[must_use]
    pub fn is_valid(&self, envelope: J::Node<'_>) -> bool {
        self.validator.is_valid(envelope)
    }

    /// What makes an envelope invalid: nothing, or at most 20 findings.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::results::envelope::Rules;
    /// use mcp_core::schema::{SchemaError, SerdeJson};
    /// use serde_json::json;
    ///
    /// let rules = Rules::<SerdeJson>::new()?;
    /// let meta = json!({"version": "response-v2"});
    /// let valid = json!({"success": true, "data": {}, "error": null, "meta": meta});
    /// assert!(rules.errors(&valid).is_empty());
    ///
    /// let invalid = json!({"success": true, "data": {}, "error": "no", "meta": meta});
    /// assert_eq!(rules.errors(&invalid)[0].message, "/error: must be null (type)");
    /// # Ok::<(), SchemaError>(())
    /// ```
    #[must_use]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a node is a handle on a value: it is passed like a reference"
    )]
    pub fn errors<'i>(&'i self, envelope: J::Node<'i>) -> Vec<Finding> {
        match self.validator.check(envelope) {
            Ok(()) => Vec::new(),
            Err(problems) => problems.into_iter().map(Finding::from).collect(),
        }
    }
}
