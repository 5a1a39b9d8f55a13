//! A schema, a NUL, and a value that does not satisfy it: what is repaired is valid, formats and all, and what is valid is
//! left alone.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mcp_fuzz::budget::within;
use mcp_fuzz::schema::{CHECKER, COMPILER, compile_asserting, judge, repair, split};

fuzz_target!(|bytes: &[u8]| {
    let (schema, value) = split(bytes);
    let schema = schema.to_vec();
    let Ok(validator) = COMPILER.run(move || compile_asserting(&schema)) else {
        return;
    };
    let validator = Arc::new(validator);
    within(|| {
        let (validator, value) = (Arc::clone(&validator), Arc::clone(&value));
        CHECKER.run(move || {
            let (is_valid, problems) = judge(&validator, &value);
            assert_eq!(is_valid, problems.is_ok());
            if is_valid {
                return;
            }
            if let Some((repaired, changes)) = repair(&validator, &value) {
                assert!(judge(&validator, &repaired).0, "{value} became {repaired}");
                assert!(changes > 0);
                assert_ne!(*value, repaired);
            }
        });
    });
});
