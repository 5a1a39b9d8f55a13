//! The response envelope, which travels as structured content.

use serde_json::{Map, Value};

use super::shape::Presence::Always;
use crate::results::envelope::{DEFAULT_CODE, VERSION, error_type, type_of_code};

object! {
    /// An answer in the form `response-v2`; what it has to hold say
    /// [`Rules`](crate::results::envelope::Rules). Of the keys of `data` and `meta` none is changed.
    Envelope / ENVELOPE = "Envelope" {
        /// Whether the call did what it was asked for.
        success: bool => "success",
        /// What came of it; of a failed call, more about the error.
        data: Map<String, Value> => "data",
        /// What went wrong, in words.
        error: Option<String> => "error" = Always("null"),
        /// About the answer itself.
        meta: Map<String, Value> => "meta",
    }
}

impl Envelope {
    /// The envelope of a call that succeeded.
    ///
    /// # Examples
    /// ```
    /// let empty = mcp_core::model::Envelope::success(serde_json::Map::new());
    /// assert_eq!(
    ///     empty.encode(),
    ///     br#"{"success":true,"data":{},"error":null,"meta":{"version":"response-v2"}}"#,
    /// );
    /// ```
    #[must_use]
    pub fn success(data: Map<String, Value>) -> Self {
        Self {
            success: true,
            data,
            error: None,
            meta: version(),
        }
    }

    /// The envelope of a call that failed: with a code (`INTERNAL_ERROR` without one), its type and
    /// what to do, unless `data` says so already.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::model::Envelope;
    /// let failed = Envelope::failure("Spec 'x' not found", Some("SPEC_NOT_FOUND"), serde_json::Map::new());
    /// assert_eq!(failed.data["error_type"], "not_found");
    /// ```
    #[must_use]
    pub fn failure(message: &str, code: Option<&str>, mut data: Map<String, Value>) -> Self {
        let code = code.unwrap_or(DEFAULT_CODE);
        let kind = type_of_code(code).or_else(|| error_type("internal"));
        let mut fill = |key: &str, value: &str| {
            if !data.contains_key(key) {
                data.insert(key.to_owned(), value.into());
            }
        };
        fill("error_code", code);
        if let Some(kind) = kind {
            fill("error_type", kind.name);
            fill("remediation", kind.remediation);
        }
        Self {
            success: false,
            data,
            error: Some(message.to_owned()),
            meta: version(),
        }
    }
}

fn version() -> Map<String, Value> {
    Map::from_iter([("version".to_owned(), VERSION.into())])
}
