//! The revisions of the Model Context Protocol and their two eras.

/// A published revision. The order is by date, so `revision >= Revision::V2025_06_18` works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches, annotations, audio.
    V2025_03_26,
    /// 2025-06-18: structured content, elicitation, resource links.
    V2025_06_18,
    /// 2025-11-25: icons, URL elicitation, JSON Schema 2020-12.
    V2025_11_25,
    /// 2026-07-28: stateless.
    V2026_07_28,
}

/// How a revision keeps state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// `initialize` opens a session for all later messages.
    Session,
    /// Every request carries everything the server needs.
    Stateless,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The revisions without sessions. `server/discover` lists them: a client of this era picks one.
    pub const STATELESS: [Self; 1] = [Self::V2026_07_28];

    /// The newest revision.
    pub const NEWEST: Self = Self::V2026_07_28;

    /// The newest revision that `initialize` can negotiate.
    pub const NEWEST_SESSION: Self = Self::V2025_11_25;

    /// The revision's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Finds the revision with this name, if the library supports it.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::revision::Revision;
    /// assert_eq!(Revision::parse("2025-06-18"), Some(Revision::V2025_06_18));
    /// assert_eq!(Revision::parse("2025-06-19"), None);
    /// ```
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == name)
    }

    /// The revision's era.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2026_07_28 => Era::Stateless,
            _ => Era::Session,
        }
    }

    /// The revision's index in [`Revision::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
