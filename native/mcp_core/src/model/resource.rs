//! Resources: data with a URI.

use super::common::{Annotations, Icon, Meta};

object! {
    /// A resource at a fixed URI.
    #[derive(Default)]
    Resource / RESOURCE = "Resource" {
        /// Its name, unique in a server.
        name: String => "name",
        /// Where it is.
        uri: String => "uri",
        /// What it is.
        description: Option<String> => "description",
        /// Its media type.
        mime_type: Option<String> => "mimeType",
        /// Its name for people.
        title: Option<String> => "title" since V2025_06_18,
        /// Its size in bytes.
        size: Option<u64> => "size",
        /// Hints about it.
        annotations: Option<Annotations> => "annotations",
        /// Its pictures.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Further data, such as [`AppMeta`](super::AppMeta).
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// Resources whose URIs share a form.
    #[derive(Default)]
    ResourceTemplate / RESOURCE_TEMPLATE = "ResourceTemplate" {
        /// Its name, unique in a server.
        name: String => "name",
        /// An RFC 6570 template.
        uri_template: String => "uriTemplate",
        /// What they are.
        description: Option<String> => "description",
        /// The media type they share.
        mime_type: Option<String> => "mimeType",
        /// Their name for people.
        title: Option<String> => "title" since V2025_06_18,
        /// Hints about them.
        annotations: Option<Annotations> => "annotations",
        /// Their pictures.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// What reading a resource gives back.
    #[derive(Default)]
    ReadResult / READ_RESULT = "Resource.ReadResult" {
        /// The contents: one for a file, several for a folder.
        contents: Vec<ResourceContent> => "contents",
        /// How long a client may keep it, in milliseconds.
        ttl_ms: Option<u64> => "ttlMs" as "ttl_ms" since V2026_07_28,
        /// Who may share a kept copy.
        cache_scope: Option<CacheScope> => "cacheScope" as "cache_scope" since V2026_07_28,
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

names! {
    /// Who may share a kept result.
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
        /// Its name, such as a file's.
        name: Option<String> => "name",
        /// Where it is.
        uri: String => "uri",
        /// Its media type.
        mime_type: Option<String> => "mimeType",
        /// The text.
        text: Option<String> => "text",
        /// The bytes, already base64: written as they are.
        blob: Option<String> => "blob",
        /// Its name for people.
        title: Option<String> => "title",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}
