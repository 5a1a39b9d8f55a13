//! The revisions of the Model Context Protocol and the two eras they fall into.

/// A published revision, oldest first, so that `revision >= Revision::V2025_06_18` reads as it says.
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
    /// `initialize` opens a session that later messages belong to.
    Session,
    /// Every request carries all that is needed to answer it.
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

    /// The revision of that name, if this library speaks it.
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

    /// Which era the revision belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2026_07_28 => Era::Stateless,
            _ => Era::Session,
        }
    }

    /// The revision's place in [`Revision::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
