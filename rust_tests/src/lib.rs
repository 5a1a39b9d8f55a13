//! Tests of `mcp_core` through its public door live in `tests/boundary`.
