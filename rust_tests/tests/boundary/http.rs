//! The rules of Streamable HTTP: a table of heads, a table of bodies behind heads, and framing.

mod admission;
mod agreement;
mod annotations;
mod answers;
mod bodies;
mod head;
mod heads;
mod parameters;
mod properties;
mod sessions;
mod site;
mod sse;
mod sse_vectors;
