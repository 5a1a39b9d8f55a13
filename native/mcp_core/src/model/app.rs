//! The `_meta` of MCP Apps: the user interface of a tool, and the permissions of a UI resource.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::member::Member;
use super::shape::Presence::{Always, Filled};
use super::{Kind, Presence, Shape};

object! {
    /// The `_meta` of a tool or a resource with a user interface.
    #[derive(Default)]
    AppMeta / APP_META = "App.Meta" {
        /// The tool's interface, or the permissions of the UI resource.
        ui: Option<AppUi> => "ui",
    }
}

/// The value under `ui`: a tool and a resource have different forms.
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
    /// Who can see and call a tool.
    Visibility {
        /// The model.
        Model = "model",
        /// The user interface.
        App = "app",
    }
}

object! {
    /// Links a tool to its user interface; `visibility` is always written.
    ToolUi / TOOL_UI = "App.UI" {
        /// The `ui://` resource that renders the result.
        resource_uri: Option<String> => "resourceUri" as "resource_uri",
        /// Who can see and call the tool.
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
    /// The permissions of a UI resource. An empty `csp` or `permissions` is not written.
    #[derive(Default)]
    UiResourceMeta / UI_RESOURCE_META = "App.UIResourceMeta" {
        /// Additional origins that it may use.
        csp: Option<Csp> => "csp" = Filled,
        /// Browser features it may use.
        permissions: Option<Permissions> => "permissions" = Filled,
        /// The requested origin of its sandbox.
        domain: Option<String> => "domain",
        /// Whether the resource asks for a border around it.
        prefers_border: Option<bool> => "prefersBorder" as "prefers_border",
    }
}

object! {
    /// Additional origins that a UI resource may use. An absent list and an empty one differ, and
    /// both are written unchanged. [`crate::apps::csp`] builds the header from it.
    #[derive(Default)]
    Csp / CSP = "App.UIResourceMeta.Csp" {
        /// Origins of its requests.
        connect_domains: Option<Vec<String>> => "connectDomains" as "connect_domains",
        /// Origins of scripts, styles, images, media and fonts.
        resource_domains: Option<Vec<String>> => "resourceDomains" as "resource_domains",
        /// Origins of frames inside it.
        frame_domains: Option<Vec<String>> => "frameDomains" as "frame_domains",
        /// Origins of its base URI.
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
        /// The location.
        geolocation: Grant => "geolocation",
        /// Writing to the clipboard.
        clipboard_write: Grant => "clipboardWrite" as "clipboard_write",
    }
}

/// Whether a feature is granted. Written as `{}` or left out; read from `true`, `false` or an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant(
    /// Whether the feature is granted.
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
