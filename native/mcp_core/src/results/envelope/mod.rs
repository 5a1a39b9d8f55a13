//! The response envelope: every answer of a tool in one form.
