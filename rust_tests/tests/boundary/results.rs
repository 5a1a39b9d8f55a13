//! The shapes of results.

mod presentation;
