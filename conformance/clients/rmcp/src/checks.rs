//! Exact comparisons with a readable difference, and a count of them.

use std::process::ExitCode;

use serde_json::Value;

pub struct Checks {
    subject: String,
    passed: usize,
    failed: usize,
}

impl Checks {
    pub fn new(subject: String) -> Self {
        Self {
            subject,
            passed: 0,
            failed: 0,
        }
    }

    pub fn equal(&mut self, name: &str, got: &Value, want: &Value) {
        if got == want {
            self.passed += 1;
            return;
        }
        self.failed += 1;
        eprintln!("not as expected: {}: {name}", self.subject);
        eprintln!("  - {want}\n  + {got}");
    }

    /// Prints the count.
    pub fn finish(&self) -> ExitCode {
        println!(
            "{}: {} passed, {} failed",
            self.subject, self.passed, self.failed
        );
        if self.failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
