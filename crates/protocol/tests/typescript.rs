//! The committed TypeScript types are the ones the Rust types give.

use std::path::Path;

#[test]
fn the_committed_typescript_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-pi/extension/wire.ts");
    let fresh = goal_protocol::typescript();
    // `cargo xtask codegen` sets this; everywhere else the file is only compared.
    if std::env::var_os("GOAL_AUDITOR_CODEGEN").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "{} is out of date: run `cargo xtask codegen`",
        path.display()
    );
}
