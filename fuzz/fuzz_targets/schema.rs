//! A schema, a NUL, and a value: compiled and checked with the library's stack sizes. The verdict
//! equals that of the `jsonschema` crate without step counting.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mcp_core::schema::Problem;
use mcp_fuzz::budget::within;
use mcp_fuzz::schema::{CHECKER, COMPILER, Validator, compile, judge, judge_uncounted, split};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let (schema, value) = split(bytes);
    let Some(validator) = compiled(schema) else {
        return;
    };
    let verdict = within(|| checked(&validator, &value));
    if let Some(verdict) = verdict {
        agrees(schema, &value, verdict);
    }
});

fn compiled(schema: &[u8]) -> Option<Arc<Validator>> {
    let text = schema.to_vec();
    let compiled = within(|| {
        let text = text.clone();
        COMPILER.run(move || compile(&text))
    });
    match compiled {
        Ok(validator) => Some(Arc::new(validator)),
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.len() <= 2048,
                "{} bytes of {}",
                text.len(),
                error.kind()
            );
            assert_ne!(error.kind(), "internal", "third-party code panicked");
            None
        }
    }
}

/// Whether the value is valid; `None` if the check exceeds the steps.
fn checked(validator: &Arc<Validator>, value: &Arc<Value>) -> Option<bool> {
    let (validator, value) = (Arc::clone(validator), Arc::clone(value));
    CHECKER.run(move || {
        let (is_valid, problems) = judge(&validator, &value);
        match problems {
            Ok(()) => {
                assert!(is_valid);
                Some(true)
            }
            Err(problems) => {
                assert!(!is_valid);
                assert!(
                    (1..=20).contains(&problems.len()),
                    "{} problems",
                    problems.len()
                );
                problems.iter().for_each(is_fit_for_a_model);
                let is_judged = !problems
                    .iter()
                    .any(|problem| problem.expected.starts_with("a value simple enough"));
                assert!(
                    !problems
                        .iter()
                        .any(|problem| problem.expected.starts_with("a value that can be checked"))
                );
                is_judged.then_some(false)
            }
        }
    })
}

fn is_fit_for_a_model(problem: &Problem) {
    let text = problem.to_string();
    assert!(text.len() <= 1024, "{} bytes", text.len());
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

fn agrees(schema: &[u8], value: &Arc<Value>, verdict: bool) {
    let (schema, value) = (schema.to_vec(), Arc::clone(value));
    let theirs = COMPILER.run(move || judge_uncounted(&schema, &value));
    assert!(
        theirs.is_none_or(|theirs| theirs == verdict),
        "{theirs:?} without counting, {verdict} with it"
    );
}
