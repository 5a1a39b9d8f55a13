//! Compares this library with `serde_json`: both accept the same texts, with the same values.
//!
//! The only intended differences:
//!
//! | text | here | `serde_json` |
//! |---|---|---|
//! | an integer beyond 64 bits | exact | a float, or out of range |
//! | `-0` | the integer 0 | the float `-0.0` |
//! | more than 128 levels | refused | accepted by the reader without a limit that is used here |
//! | more than 1,024 digits in a number | refused | accepted, or out of range |
//! | an object with a key twice | kept by this sink, refused by others | the last one counts |
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::json::{JsonErrorKind as Kind, Limits};
use mcp_fuzz::budget::within;
use mcp_fuzz::tree::{Repeated, Tree, parse};
use serde::Deserialize;
use serde_json::{Error, Value};

fuzz_target!(|bytes: &[u8]| within(|| {
    match parse(bytes, &Limits::default(), Repeated::Keep) {
        Ok(ours) => {
            match unlimited(bytes) {
                Ok(theirs) => assert!(is_same(&ours, &theirs), "{ours:?} and {theirs:?}"),
                Err(error) => {
                    assert!(has_big(&ours), "accepted only here: {error}");
                    assert!(error.to_string().contains("number out of range"), "{error}");
                }
            }
            let written = ours.to_json();
            if let Ok(theirs) = unlimited(&written) {
                assert!(
                    is_same(&ours, &theirs),
                    "our writer: {ours:?} and {theirs:?}"
                );
            }
        }
        Err(error) if error.kind == Kind::TooManyDigits => {}
        // With the recursion limit, because so many levels overflow the stack.
        Err(error) if error.kind == Kind::TooDeep => {
            assert!(serde_json::from_slice::<Value>(bytes).is_err());
        }
        Err(error) => assert!(unlimited(bytes).is_err(), "accepted only there: {error}"),
    }
}));

fn unlimited(bytes: &[u8]) -> Result<Value, Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

fn has_big(tree: &Tree) -> bool {
    match tree {
        Tree::Big(_) => true,
        Tree::Array(items) => items.iter().any(has_big),
        Tree::Object(members) => members.iter().any(|(_, value)| has_big(value)),
        _ => false,
    }
}

fn is_same(ours: &Tree, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Tree::Null, Value::Null) => true,
        (Tree::Boolean(ours), Value::Bool(theirs)) => ours == theirs,
        (Tree::Integer(0), Value::Number(theirs)) => theirs.as_f64() == Some(0.0),
        (Tree::Integer(ours), Value::Number(theirs)) => theirs.as_i64() == Some(*ours),
        (Tree::Unsigned(ours), Value::Number(theirs)) => theirs.as_u64() == Some(*ours),
        (Tree::Big(digits), Value::Number(theirs)) => {
            theirs.is_f64() && theirs.as_f64() == digits.parse().ok()
        }
        (Tree::Float(bits), Value::Number(theirs)) => {
            theirs.is_f64() && theirs.as_f64().map(f64::to_bits) == Some(*bits)
        }
        (Tree::Text(ours), Value::String(theirs)) => ours == theirs,
        (Tree::Array(ours), Value::Array(theirs)) => {
            let mut pairs = ours.iter().zip(theirs);
            ours.len() == theirs.len() && pairs.all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Tree::Object(ours), Value::Object(theirs)) => {
            let last = |key: &str| ours.iter().rfind(|(name, _)| name == key);
            let is_same = |(key, theirs): (&String, &Value)| {
                last(key).is_some_and(|(_, ours)| is_same(ours, theirs))
            };
            ours.iter().all(|(key, _)| theirs.contains_key(key)) && theirs.iter().all(is_same)
        }
        _ => false,
    }
}
