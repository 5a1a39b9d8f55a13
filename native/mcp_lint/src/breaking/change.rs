//! Changes between snapshots.

/// The effect of a change on clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A working call may fail now.
    Breaking,
    /// It could not be determined whether the change breaks clients.
    Unknown,
    /// Working calls still work.
    Compatible,
}

impl Level {
    /// The level's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Unknown => "unknown",
            Self::Compatible => "compatible",
        }
    }
}

/// One difference between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The effect on clients.
    pub level: Level,
    /// The kind of the change. The names are stable.
    pub code: &'static str,
    /// `tool`, `prompt`, `resource` or `resource template`.
    pub kind: &'static str,
    /// The name of the entry, the URI of a resource, or the text of a template.
    pub name: String,
    /// A description of the change.
    pub message: String,
    /// The differences between two schemas that may explain the change.
    pub reasons: Vec<String>,
    /// A value that is no longer accepted, or that a result may newly have, as JSON.
    pub example: Option<String>,
}

/// Collects the changes of each object.
#[derive(Default)]
pub(super) struct Changes {
    found: Vec<Change>,
    kind: &'static str,
    name: String,
}

impl Changes {
    /// Sets the object of the next changes.
    pub(super) fn about(&mut self, kind: &'static str, name: &str) {
        self.kind = kind;
        name.clone_into(&mut self.name);
    }

    pub(super) fn add(&mut self, level: Level, code: &'static str, message: impl Into<String>) {
        self.found.push(Change {
            level,
            code,
            kind: self.kind,
            name: self.name.clone(),
            message: message.into(),
            reasons: Vec::new(),
            example: None,
        });
    }

    /// Adds reasons and an example to the last change.
    pub(super) fn explain(&mut self, reasons: Vec<String>, example: Option<String>) {
        if let Some(change) = self.found.last_mut() {
            change.reasons = reasons;
            change.example = example;
        }
    }

    pub(super) fn into_found(self) -> Vec<Change> {
        self.found
    }
}
