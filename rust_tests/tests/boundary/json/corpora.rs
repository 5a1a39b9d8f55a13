//! Where the corpora lie: beside the project. Without them their tests print a notice and pass.

use std::fs;
use std::path::{Path, PathBuf};

/// A file or folder of the corpora, if it is there.
pub(crate) fn find(path: &str) -> Option<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpora");
    let found = Path::new(root).join(path);
    if found.exists() {
        return Some(found);
    }
    println!("skipped: the corpus {path} is not there");
    None
}

/// The JSON of a corpus file.
pub(crate) fn json(path: &str) -> Option<serde_json::Value> {
    let bytes = fs::read(find(path)?).unwrap();
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// Name and content of a folder's files whose names begin so, sorted by name.
pub(crate) fn files(folder: &str, prefix: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let entries = fs::read_dir(find(folder)?)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect();
    files.sort();
    Some(files)
}

/// Path and content of every JSON file of the corpora, sorted by path.
pub(crate) fn all_json() -> Option<Vec<(String, Vec<u8>)>> {
    let mut folders = vec![find("")?];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                files.push((path.to_str().unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    Some(files)
}
