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
