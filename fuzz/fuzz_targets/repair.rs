//! A schema, a NUL, and an invalid value: a repaired value is valid, including formats, a valid
//! value stays unchanged, and every change is necessary. What counts as absent is `null`.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mcp_fuzz::budget::within;
use mcp_fuzz::schema::{CHECKER, COMPILER, absent, compile_asserting, judge, repair, split};

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
            absent(&validator, &value);
            if let Some(repaired) = repair(&validator, &value) {
                let after = &repaired.value;
                assert!(judge(&validator, after).0, "{value} became {after}");
                assert!(repaired.changes > 0);
                assert_ne!(*value, *after);
                for undone in &repaired.undone {
                    assert!(
                        !validator.is_valid(undone),
                        "{value} became {after}, and {undone} would do"
                    );
                }
            }
        });
    });
});
