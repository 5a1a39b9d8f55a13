//! What a change is.

/// What a change means to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What worked may not work any more.
    Breaking,
    /// It may break or not: that could not be found out.
    Unknown,
    /// What worked still does.
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
    /// What it means to clients.
    pub level: Level,
    /// What kind of change it is. The names are stable.
    pub code: &'static str,
    /// `tool`, `prompt`, `resource` or `resource template`.
    pub kind: &'static str,
    /// Its name; the URI of a resource, the text of a template.
    pub name: String,
    /// What has changed.
    pub message: String,
    /// Where two schemas differ, as far as that says something.
    pub reasons: Vec<String>,
    /// A value that was taken and no longer is, or may come now and could not before, as JSON.
    pub example: Option<String>,
}

/// Collects changes of one object after the other.
#[derive(Default)]
pub(super) struct Changes {
    found: Vec<Change>,
    kind: &'static str,
    name: String,
}

impl Changes {
    /// What follows is about that object.
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

    /// Says more about the last change.
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
