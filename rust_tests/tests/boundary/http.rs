//! The rules of Streamable HTTP: a table of heads, a table of bodies behind heads, and framing.

mod admission;
mod annotations;
mod anonymous;
mod answers;
mod bodies;
mod cors;
mod head;
mod header_agreement;
mod heads;
mod host_and_origin;
mod parameters;
mod properties;
mod sessions;
mod sse;
mod sse_vectors;
