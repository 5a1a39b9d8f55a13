//! Resources: data with a URI.

use super::common::{Annotations, Icon, Meta};

object! {
    /// A resource at a fixed URI.
    #[derive(Default)]
    Resource / RESOURCE = "Resource" {
        /// The name, unique in a server.
        name: String => "name",
        /// The URI.
        uri: String => "uri",
        /// The description.
        description: Option<String> => "description",
        /// The media type.
        mime_type: Option<String> => "mimeType",
        /// The display name.
        title: Option<String> => "title" since V2025_06_18,
        /// The size in bytes.
        size: Option<u64> => "size",
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// The icons.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Further data, such as [`AppMeta`](super::AppMeta).
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// Resources whose URIs match a template.
    #[derive(Default)]
    ResourceTemplate / RESOURCE_TEMPLATE = "ResourceTemplate" {
        /// The name, unique in a server.
        name: String => "name",
        /// An RFC 6570 template.
        uri_template: String => "uriTemplate",
        /// The description.
        description: Option<String> => "description",
        /// The common media type.
        mime_type: Option<String> => "mimeType",
        /// The display name.
        title: Option<String> => "title" since V2025_06_18,
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// The icons.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// The result of reading a resource.
    #[derive(Default)]
    ReadResult / READ_RESULT = "Resource.ReadResult" {
        /// The contents: one for a file, several for a folder.
        contents: Vec<ResourceContent> => "contents",
        /// How long a client may cache the result, in milliseconds.
        ttl_ms: Option<u64> => "ttlMs" as "ttl_ms" since V2026_07_28,
        /// Who may share a cached copy.
        cache_scope: Option<CacheScope> => "cacheScope" as "cache_scope" since V2026_07_28,
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

names! {
    /// Who may share a cached result.
    CacheScope {
        /// Only the client that asked.
        Private = "private",
        /// Anyone.
        Public = "public",
    }
}

object! {
    /// One item of a resource: either text or a blob. `name` and `title` are additions that every
    /// revision tolerates.
    #[derive(Default)]
    ResourceContent / RESOURCE_CONTENT = "Resource.Content" one_of ["text", "blob"] {
        /// The name, such as a file name.
        name: Option<String> => "name",
        /// The URI.
        uri: String => "uri",
        /// The media type.
        mime_type: Option<String> => "mimeType",
        /// The text.
        text: Option<String> => "text",
        /// The base64 text of the bytes, written unchanged.
        blob: Option<String> => "blob",
        /// The display name.
        title: Option<String> => "title",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}
