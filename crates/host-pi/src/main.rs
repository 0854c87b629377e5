//! `goal-auditor`.
fn main() {}
