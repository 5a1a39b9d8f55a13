//! The `_meta` of MCP Apps: which user interface a tool has, and what a UI resource may do.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::member::Member;
use super::shape::Presence::{Always, Filled};
use super::{Kind, Presence, Shape};

object! {
    /// The `_meta` of a tool or a resource that has to do with a user interface.
    #[derive(Default)]
    AppMeta / APP_META = "App.Meta" {
        /// The tool's interface, or what the UI resource may do.
        ui: Option<AppUi> => "ui",
    }
}

/// What stands under `ui`: on a tool one form, on a resource the other.
#[derive(Clone, Debug, PartialEq)]
pub enum AppUi {
    /// On a tool.
    Tool(ToolUi),
    /// On a UI resource.
    Resource(UiResourceMeta),
}

impl AppUi {
    const SHAPES: &'static [&'static Shape] = &[&TOOL_UI, &UI_RESOURCE_META];
}

impl Member for AppUi {
    const KIND: Kind = Kind::AnyOf(Self::SHAPES);
}

impl Serialize for AppUi {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tool(ui) => ui.serialize(serializer),
            Self::Resource(meta) => meta.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AppUi {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::deserialize(deserializer)?;
        let is_tool = members.keys().any(|key| TOOL_UI.has_key(key));
        let ui = Value::Object(members);
        let read = if is_tool {
            serde_json::from_value(ui).map(Self::Tool)
        } else {
            serde_json::from_value(ui).map(Self::Resource)
        };
        read.map_err(serde::de::Error::custom)
    }
}

names! {
    /// Who may see and call a tool.
    Visibility {
        /// The model.
        Model = "model",
        /// The user interface.
        App = "app",
    }
}

object! {
    /// Ties a tool to its user interface; `visibility` is always written.
    ToolUi / TOOL_UI = "App.UI" {
        /// The `ui://` resource that draws the result.
        resource_uri: Option<String> => "resourceUri" as "resource_uri",
        /// Who may see and call the tool.
        visibility: Vec<Visibility> => "visibility" = Always(r#"["model","app"]"#),
    }
}

impl Default for ToolUi {
    fn default() -> Self {
        Self {
            resource_uri: None,
            visibility: vec![Visibility::Model, Visibility::App],
        }
    }
}

object! {
    /// What a UI resource may do. A `csp` or `permissions` that declares nothing is left out as a
    /// whole.
    #[derive(Default)]
    UiResourceMeta / UI_RESOURCE_META = "App.UIResourceMeta" {
        /// Origins it may use beyond its own.
        csp: Option<Csp> => "csp" = Filled,
        /// Browser features it may use.
        permissions: Option<Permissions> => "permissions" = Filled,
        /// The origin its sandbox shall have.
        domain: Option<String> => "domain",
        /// Whether a border around it is wanted.
        prefers_border: Option<bool> => "prefersBorder" as "prefers_border",
    }
}

object! {
    /// Origins a UI resource may use beyond its own. An absent list and an empty one differ; both
    /// are written as they are. [`crate::apps::csp`] makes the header of it.
    #[derive(Default)]
    Csp / CSP = "App.UIResourceMeta.Csp" {
        /// For requests it makes.
        connect_domains: Option<Vec<String>> => "connectDomains" as "connect_domains",
        /// For scripts, styles, pictures, media and fonts.
        resource_domains: Option<Vec<String>> => "resourceDomains" as "resource_domains",
        /// For frames within it.
        frame_domains: Option<Vec<String>> => "frameDomains" as "frame_domains",
        /// For its base URI.
        base_uri_domains: Option<Vec<String>> => "baseUriDomains" as "base_uri_domains",
    }
}

object! {
    /// Browser features a UI resource may use.
    #[derive(Default)]
    Permissions / PERMISSIONS = "App.UIResourceMeta.Permissions" {
        /// The camera.
        camera: Grant => "camera",
        /// The microphone.
        microphone: Grant => "microphone",
        /// The place.
        geolocation: Grant => "geolocation",
        /// Writing to the clipboard.
        clipboard_write: Grant => "clipboardWrite" as "clipboard_write",
    }
}

/// Whether a feature is granted. Written as `{}` or left out; read from `true`, `false` or an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant(
    /// Whether it is.
    pub bool,
);

impl Member for Grant {
    const KIND: Kind = Kind::Grant;
    const PRESENCE: Presence = Presence::Optional;

    fn is_absent(&self) -> bool {
        !self.0
    }

    fn absent() -> Option<Self> {
        Some(Self(false))
    }
}

impl Serialize for Grant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Map::new().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(granted) => Ok(Self(granted)),
            Value::Object(_) => Ok(Self(true)),
            _ => Err(serde::de::Error::custom(
                "expected true, false or an object",
            )),
        }
    }
}
