//! The 270 cases of uritemplate-test.

use std::fs;
use std::path::Path;

use mcp_core::catalog::template::{Template, VarValue};
use serde_json::{Map, Value};

use super::parse;

const CORPUS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/corpora/uritemplate-test"
);

/// File and number of cases.
const FILES: [(&str, usize); 4] = [
    ("spec-examples.json", 64),
    ("spec-examples-by-section.json", 117),
    ("extended-tests.json", 53),
    ("negative-tests.json", 36),
];

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn value(variables: &Map<String, Value>, name: &str) -> Option<VarValue> {
    match variables.get(name)? {
        Value::Null => None,
        Value::Array(items) => Some(VarValue::List(items.iter().map(text).collect())),
        Value::Object(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.clone(), text(value)));
            Some(VarValue::Pairs(pairs.collect()))
        }
        scalar => Some(VarValue::Text(text(scalar))),
    }
}

/// Calls `check` with every case: template, variables, expected expansions (none for a failure); and
/// counts them.
fn each_case(mut check: impl FnMut(&str, &Map<String, Value>, &[Value])) -> usize {
    let mut all = 0;
    if !Path::new(CORPUS).exists() {
        println!("skipped: uritemplate-test is not there");
        return all;
    }
    for (file, expected) in FILES {
        let json = fs::read_to_string(Path::new(CORPUS).join(file)).unwrap();
        let groups: Map<String, Value> = serde_json::from_str(&json).unwrap();
        let mut count = 0;
        for group in groups.values() {
            let variables = group["variables"].as_object().unwrap();
            for case in group["testcases"].as_array().unwrap() {
                let one = std::slice::from_ref(&case[1]);
                let expansions = match &case[1] {
                    Value::Array(several) => several.as_slice(),
                    Value::Bool(false) => &[],
                    _ => one,
                };
                check(case[0].as_str().unwrap(), variables, expansions);
                count += 1;
            }
        }
        assert_eq!(count, expected, "{file}");
        all += count;
    }
    all
}

#[test]
fn corpus_uritemplate_test_expands_as_expected() {
    let cases = each_case(|template, variables, expected| {
        let expand = |template: Template| template.expand(&|name| value(variables, name));
        let expanded = parse(template).and_then(expand);
        match expanded {
            Ok(uri) => assert!(
                expected.iter().any(|one| one == uri.as_str()),
                "{template}: {uri}"
            ),
            Err(error) => assert_eq!(expected, [""; 0], "{template}: {error}"),
        }
    });
    println!("corpus: uritemplate-test, expanded: {cases}");
}

/// A value as text, a list or pairs with commas between; nothing at all is as good as empty.
fn flat(value: Option<VarValue>) -> String {
    match value {
        None => String::new(),
        Some(VarValue::Text(text)) => text,
        Some(VarValue::List(items)) => items.join(","),
        Some(VarValue::Pairs(pairs)) => {
            let pairs = pairs.iter().map(|(name, value)| format!("{name},{value}"));
            pairs.collect::<Vec<_>>().join(",")
        }
    }
}

#[test]
fn matching_gives_the_values_back_or_the_template_is_refused() {
    let (mut same, mut refused) = (0, 0);
    each_case(|template, variables, expected| {
        if expected.is_empty() {
            return;
        }
        let parsed = parse(template).unwrap();
        let uri = parsed.expand(&|name| value(variables, name)).unwrap();
        let Ok(matcher) = parsed.matcher() else {
            refused += 1;
            return;
        };
        let names = parsed.variables();
        // A value that is not there or empty leaves no trace, nor does its separator; and a label ends
        // at a dot. Such a URI may not match, but it never gives another value.
        let is_whole = names.iter().all(|name| match value(variables, name) {
            Some(VarValue::List(items)) => !items.is_empty(),
            Some(VarValue::Pairs(pairs)) => !pairs.is_empty(),
            Some(VarValue::Text(text)) => !text.is_empty(),
            None => false,
        });
        let has_dot = template.contains("{.") && uri.matches('.').count() > names.len();
        let Some(captures) = matcher.captures(&uri) else {
            assert!(!is_whole || has_dot || uri.is_empty(), "{template} {uri}");
            return;
        };
        for (name, captured) in captures {
            // `{+id}` leaves the triplets of a value alone. `%25` stands for a `%` then.
            let keeps = template.starts_with("{+") || template.starts_with("{#");
            let expected = flat(value(variables, &name));
            let expected = if keeps {
                expected.replace("%25", "%")
            } else {
                expected
            };
            assert_eq!(captured, expected, "{template} {uri}");
        }
        same += 1;
    });
    println!("{same} given back, {refused} templates refused");
}
