//! The content keywords, which are annotations in every draft.
//!
//! The validator asserts them up to draft 7: it decodes each string and parses it as JSON, which no
//! meter counts. Draft 7 leaves this open: an implementation MAY assert them (Validation, 8.2). Since
//! 2019-09 it MUST NOT decode or parse a string by default (Validation, 8.2).

use jsonschema::json::Json;
use jsonschema::{Keyword, ValidationError, ValidationOptions};

const KEYWORDS: [&str; 2] = ["contentEncoding", "contentMediaType"];

/// The options, with content keywords that every value satisfies.
pub(super) fn annotated<R, J: Json>(
    options: ValidationOptions<'_, R, J>,
) -> ValidationOptions<'_, R, J> {
    KEYWORDS.into_iter().fold(options, |options, keyword| {
        options.with_keyword(keyword, |_, _, _| Ok(Box::new(Annotation)))
    })
}

struct Annotation;

impl<'i, J: Json> Keyword<'i, J> for Annotation {
    fn validate(&self, _: J::Node<'i>) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: J::Node<'i>) -> bool {
        true
    }
}
