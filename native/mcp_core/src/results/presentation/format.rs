//! What a caller gets: Markdown, JSON, or both.

/// What a caller asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Markdown, and no JSON block: what people look at.
    #[default]
    Markdown,
    /// The JSON block alone.
    Json,
    /// Markdown first, the JSON block last.
    Both,
}

/// A format that is none. It does not show what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("format has to be one of markdown, json, both")]
pub struct UnknownFormat;

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Json, Self::Both];

    /// The format of that name; Markdown where none was given.
    ///
    /// # Errors
    /// [`UnknownFormat`]: another name is refused, never understood as the default.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::results::presentation::format::{Format, UnknownFormat};
    /// assert_eq!(Format::resolve(None), Ok(Format::Markdown));
    /// assert_eq!(Format::resolve(Some("both")), Ok(Format::Both));
    /// assert_eq!(Format::resolve(Some("JSON")), Err(UnknownFormat));
    /// ```
    pub fn resolve(given: Option<&str>) -> Result<Self, UnknownFormat> {
        match given {
            None => Ok(Self::default()),
            Some(name) => Self::ALL
                .into_iter()
                .find(|format| format.name() == name)
                .ok_or(UnknownFormat),
        }
    }

    /// Its name, as it is asked for and echoed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Both => "both",
        }
    }

    /// Whether there are Markdown blocks.
    #[must_use]
    pub const fn has_markdown(self) -> bool {
        matches!(self, Self::Markdown | Self::Both)
    }

    /// Whether there is a JSON block, the last of all.
    #[must_use]
    pub const fn has_json(self) -> bool {
        matches!(self, Self::Json | Self::Both)
    }
}
