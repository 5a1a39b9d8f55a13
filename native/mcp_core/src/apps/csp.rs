//! The Content-Security-Policy of a UI resource.

use super::origin::{Origin, OriginError};
use crate::model::Csp;

/// The maximum number of origins in one list.
pub const MAX_ORIGINS: usize = 100;

/// Why a declaration gives no policy. The error contains no declared text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CspError {
    /// An entry is not an origin.
    #[error("{list}[{index}] {reason}")]
    Origin {
        /// The list's name on the wire.
        list: &'static str,
        /// The entry's index in the list.
        index: usize,
        /// The fault.
        reason: OriginError,
    },
    /// A list has more than [`MAX_ORIGINS`] entries.
    #[error("{list} has more than {MAX_ORIGINS} entries")]
    TooMany {
        /// The list's name on the wire.
        list: &'static str,
    },
}

/// The policy for a declaration, as the value of a `Content-Security-Policy` header.
///
/// Without a declaration, or with an empty one, a resource may use only its own content and connect
/// to no host. The lists extend these directives: `connectDomains` `connect-src`; `resourceDomains`
/// `script-src`, `style-src`, `img-src`, `media-src` and `font-src`; `frameDomains` `frame-src`;
/// `baseUriDomains` `base-uri`. The last two appear only when declared.
///
/// # Errors
/// [`CspError`] when an entry is not exactly one origin, or a list has too many entries.
///
/// # Examples
/// ```
/// use mcp_core::apps::csp::{CspError, policy};
/// use mcp_core::model::Csp;
/// let csp = Csp { connect_domains: Some(vec!["api.example.com".to_owned()]), ..Csp::default() };
/// assert!(policy(Some(&csp))?.ends_with("; connect-src 'self' api.example.com"));
/// # Ok::<(), CspError>(())
/// ```
pub fn policy(declared: Option<&Csp>) -> Result<String, CspError> {
    directives(declared).map(|directives| directives.join("; "))
}

/// The [`policy`] of a declaration with explicit defaults: `frame-src 'none'` and `base-uri 'self'`
/// unless declared, and `object-src 'none'`.
///
/// `default-src 'none'` covers `frame-src` and `object-src`, but not `base-uri`: without that
/// directive a document may set any base. The extension's specification requires sandboxes to send
/// all three.
///
/// # Errors
/// As [`policy`].
///
/// # Examples
/// ```
/// use mcp_core::apps::csp::{CspError, sandbox_policy};
/// assert!(sandbox_policy(None)?.ends_with("; frame-src 'none'; base-uri 'self'; object-src 'none'"));
/// # Ok::<(), CspError>(())
/// ```
pub fn sandbox_policy(declared: Option<&Csp>) -> Result<String, CspError> {
    let mut directives = directives(declared)?;
    let csp = declared.cloned().unwrap_or_default();
    if csp.frame_domains.is_none() {
        directives.push("frame-src 'none'".to_owned());
    }
    if csp.base_uri_domains.is_none() {
        directives.push("base-uri 'self'".to_owned());
    }
    directives.push("object-src 'none'".to_owned());
    Ok(directives.join("; "))
}

fn directives(declared: Option<&Csp>) -> Result<Vec<String>, CspError> {
    let empty = Csp::default();
    let csp = declared.unwrap_or(&empty);
    let connect = origins("connectDomains", csp.connect_domains.as_deref())?;
    let resource = origins("resourceDomains", csp.resource_domains.as_deref())?;
    let frame = origins("frameDomains", csp.frame_domains.as_deref())?;
    let base_uri = origins("baseUriDomains", csp.base_uri_domains.as_deref())?;

    let resources = resource.as_deref().unwrap_or_default();
    let mut directives = vec![
        "default-src 'none'".to_owned(),
        directive("script-src 'self' 'unsafe-inline'", resources),
        directive("style-src 'self' 'unsafe-inline'", resources),
        directive("img-src 'self' data:", resources),
        directive("media-src 'self' data:", resources),
    ];
    if *csp != empty {
        directives.push(directive("font-src 'self'", resources));
    }
    directives.push(match connect.as_deref().unwrap_or_default() {
        [] => "connect-src 'none'".to_owned(),
        origins => directive("connect-src 'self'", origins),
    });
    directives.extend(frame.map(|origins| only("frame-src", &origins)));
    directives.extend(base_uri.map(|origins| only("base-uri", &origins)));
    Ok(directives)
}

fn origins(
    list: &'static str,
    declared: Option<&[String]>,
) -> Result<Option<Vec<Origin>>, CspError> {
    let Some(declared) = declared else {
        return Ok(None);
    };
    if declared.len() > MAX_ORIGINS {
        return Err(CspError::TooMany { list });
    }
    let parse = |(index, text): (usize, &String)| {
        Origin::parse(text).map_err(|reason| CspError::Origin {
            list,
            index,
            reason,
        })
    };
    declared
        .iter()
        .enumerate()
        .map(parse)
        .collect::<Result<Vec<_>, _>>()
        .map(Some)
}

fn directive(start: &str, origins: &[Origin]) -> String {
    origins.iter().fold(start.to_owned(), |text, origin| {
        text + " " + origin.as_str()
    })
}

/// A directive with only these origins. An empty list becomes `'none'`. A directive without a
/// source means the same but is not widely known.
fn only(name: &str, origins: &[Origin]) -> String {
    match origins {
        [] => format!("{name} 'none'"),
        _ => directive(name, origins),
    }
}
