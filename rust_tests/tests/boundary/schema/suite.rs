//! The JSON Schema Test Suite, required tests of five drafts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_core::schema::{SchemaError, SchemaOptions, SerdeJson, Validator, compile_with};
use serde_json::{Value, json};

use super::on_stack;

const SUITE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/corpora/JSON-Schema-Test-Suite"
);

/// Folder, `$schema` for the schemas that name none, and the number of required tests.
const DRAFTS: [(&str, &str, usize); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#", 618),
    ("draft6", "http://json-schema.org/draft-06/schema#", 839),
    ("draft7", "http://json-schema.org/draft-07/schema#", 927),
    (
        "draft2019-09",
        "https://json-schema.org/draft/2019-09/schema",
        1259,
    ),
    (
        "draft2020-12",
        "https://json-schema.org/draft/2020-12/schema",
        1299,
    ),
];

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if entry.is_dir() {
            json_files(&entry, found);
        } else if entry
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(entry);
        }
    }
    found.sort();
}

/// The remote documents a draft's tests refer to, under the address they expect.
fn remotes(draft: &str) -> BTreeMap<String, String> {
    let root = Path::new(SUITE).join("remotes");
    let mut files = Vec::new();
    json_files(&root, &mut files);
    let drafts = [
        "draft3",
        "draft4",
        "draft6",
        "draft7",
        "draft2019-09",
        "draft2020-12",
        "v1",
    ];
    let mut documents = BTreeMap::new();
    for file in files {
        let name = file
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let folder = name.split('/').next().unwrap();
        if folder == draft || !drafts.contains(&folder) {
            documents.insert(format!("http://localhost:1234/{name}"), read(&file));
        }
    }
    documents
}

#[test]
fn the_required_tests_of_five_drafts_pass_without_exception() {
    if !Path::new(SUITE).exists() {
        println!("skipped: the JSON Schema Test Suite is not there");
        return;
    }
    println!("{:<14} {:>6} {:>6}", "draft", "tests", "failed");
    for (draft, dialect, required) in DRAFTS {
        let mut failures = Vec::new();
        let tests = on_stack(64 << 20, || run(draft, dialect, &mut failures));
        println!("{draft:<14} {tests:>6} {:>6}", failures.len());
        assert_eq!(failures, [""; 0]);
        assert_eq!(tests, required, "{draft}");
    }
}

fn run(draft: &str, dialect: &str, failures: &mut Vec<String>) -> usize {
    let remotes = remotes(draft);
    let documents: Vec<(&str, &[u8])> = remotes
        .iter()
        .map(|(uri, text)| (uri.as_str(), text.as_bytes()))
        .collect();
    let mut files = Vec::new();
    json_files(&Path::new(SUITE).join("tests").join(draft), &mut files);
    // The folder `optional` holds what an implementation may leave out.
    files.retain(|file| file.parent().is_some_and(|folder| folder.ends_with(draft)));
    let mut tests = 0;
    for file in files {
        let name = format!("{draft}/{}", file.file_stem().unwrap().display());
        let groups: Value = serde_json::from_str(&read(&file)).unwrap();
        for group in groups.as_array().unwrap() {
            tests += run_group(&name, group, dialect, &documents, failures);
        }
    }
    tests
}

fn run_group(
    file: &str,
    group: &Value,
    dialect: &str,
    documents: &[(&str, &[u8])],
    failures: &mut Vec<String>,
) -> usize {
    let mut schema = group["schema"].clone();
    if let Some(object) = schema.as_object_mut() {
        object.entry("$schema").or_insert(json!(dialect));
    }
    let text = schema.to_string();
    let options = SchemaOptions {
        documents,
        ..SchemaOptions::default()
    };
    let validator: Result<Validator<SerdeJson>, SchemaError> =
        compile_with(text.as_bytes(), &options);
    let tests = group["tests"].as_array().unwrap();
    for test in tests {
        let name = format!("{file}: {}: {}", group["description"], test["description"]);
        let expected = test["valid"].as_bool();
        let valid = validator
            .as_ref()
            .ok()
            .map(|validator| validator.is_valid(&test["data"]));
        let checked = validator
            .as_ref()
            .ok()
            .map(|validator| validator.check(&test["data"]).is_ok());
        if valid != expected || checked != expected {
            failures.push(format!("{name}: {valid:?} {:?}", validator.as_ref().err()));
        }
    }
    tests.len()
}
