//! The images of entries and of the server. Clients show them, so a script must not pass for one
//! (the specification's section on icons).

use serde_json::Value;

const SCHEMES: [&str; 3] = ["https:", "http:", "data:"];

/// What is wrong with an object's icons, if anything is.
pub(super) fn fault(object: &Value) -> Option<String> {
    let icons = object.get("icons")?.as_array()?;
    icons.iter().enumerate().find_map(|(index, icon)| {
        let src = icon.get("src")?.as_str()?;
        let has = |scheme: &&str| {
            let start = src.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        let is_image = SCHEMES.iter().any(has);
        (!is_image).then(|| format!("icons[{index}].src: must be an https:, http: or data: URI"))
    })
}
