//! Normalises the audience of a token.

/// The normalised form of a resource: scheme and host in lower case, without a default port or a
/// final `/`. Text that is not an HTTP URL is unchanged.
pub(super) fn canonical(audience: &str) -> String {
    let Some((scheme, rest)) = audience.split_once("://") else {
        return audience.to_owned();
    };
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return audience.to_owned(),
    };
    let ends = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(ends).unwrap_or((rest, ""));
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    let path = path.strip_suffix('/').unwrap_or(path);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn ports_letters_and_the_last_slash_make_no_difference() {
        for (given, expected) in [
            ("HTTPS://MCP.example:443/MCP/", "https://mcp.example/MCP"),
            ("https://mcp.example/", "https://mcp.example"),
            ("http://mcp.example:80", "http://mcp.example"),
            ("https://mcp.example:80/a", "https://mcp.example:80/a"),
            ("urn:Example:A/", "urn:Example:A/"),
            (
                "6e74172b-be56-4843-9ff4-e66a39bb12e3",
                "6e74172b-be56-4843-9ff4-e66a39bb12e3",
            ),
        ] {
            assert_eq!(canonical(given), expected);
        }
    }
}
