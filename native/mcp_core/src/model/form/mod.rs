//! The forms that users fill in: the `requestedSchema` of an elicitation.
//!
//! A form is an object schema whose properties have one of the few forms of
//! `PrimitiveSchemaDefinition` in the official schemas: a string, a number, a boolean, a choice or
//! (since 2025-11-25) several choices.

mod check;
mod node;
mod older;
mod property;

use crate::revision::Revision;
use node::Node;

/// The reason why a form cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// No revision has such a form.
    #[error("{expected}")]
    Invalid {
        /// The place in the form, from the outside in.
        path: Vec<FormStep>,
        /// What is allowed there.
        expected: &'static str,
    },
    /// The property is an array. Forms have arrays since 2025-11-25.
    #[error(
        "The client cannot show the form's property {property:?}: forms have arrays since \
         2025-11-25, and the client uses an earlier revision"
    )]
    HasArray {
        /// The property's name.
        property: String,
    },
}

/// A step from a value of a form to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormStep {
    /// To the member with that name.
    Name(String),
    /// To the element at that index.
    Index(usize),
}

/// Checks a form (JSON text) and writes it for `revision`. `None` means that the form is sent
/// unchanged.
///
/// Before 2025-11-25 keywords that the revision does not know are omitted, such as the `default` of
/// a string. `oneOf` becomes `enum` and `enumNames`.
///
/// # Errors
/// [`FormError`] if no revision, or not this one, has such a form.
///
/// # Examples
/// ```
/// use mcp_core::model::fit_form;
/// use mcp_core::revision::Revision;
///
/// let form = br#"{"type":"object","properties":{"name":{"type":"string","default":"Ada"}}}"#;
/// assert_eq!(fit_form(form, Revision::V2025_11_25), Ok(None));
/// let fitted = br#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
/// assert_eq!(fit_form(form, Revision::V2025_06_18), Ok(Some(fitted.to_vec())));
/// ```
pub fn fit_form(form: &[u8], revision: Revision) -> Result<Option<Vec<u8>>, FormError> {
    let form = Node::read(form).ok_or_else(|| FormError::Invalid {
        path: Vec::new(),
        expected: check::OBJECT,
    })?;
    check::form(&form).map_err(check::Misfit::outside_in)?;
    if revision >= Revision::V2025_11_25 {
        return Ok(None);
    }
    let mut out = Vec::new();
    older::write_form(&mut out, &form)?;
    Ok(Some(out))
}
