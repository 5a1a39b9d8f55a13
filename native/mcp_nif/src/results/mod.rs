//! The shapes of results: what is bulk work of presentations, and rows of stored results.

mod presentation;
mod rows;
