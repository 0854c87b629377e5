//! What a toolchain links into every program, and no `Cargo.toml` names.

use crate::platform::Platform;

/// One such library.
pub(crate) struct Runtime {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its licence, as an SPDX expression. Each was looked at; the list of licences that packages may
    /// have does not apply.
    pub(crate) licence: &'static str,
    /// Whose it is, and what else the licence wants to be said.
    pub(crate) notice: &'static str,
}

const STANDARD: Runtime = Runtime {
    name: "The Rust standard library",
    licence: "MIT OR Apache-2.0",
    notice: "Copyright The Rust Project contributors.",
};

const MUSL: Runtime = Runtime {
    name: "musl libc",
    licence: "MIT",
    notice: "Copyright 2005-2020 Rich Felker, and others.",
};

const UNWIND: Runtime = Runtime {
    name: "LLVM libunwind",
    licence: "Apache-2.0 WITH LLVM-exception",
    notice: "Copyright the LLVM Project's contributors.",
};

const GLIBC: Runtime = Runtime {
    name: "The GNU C Library",
    licence: "LGPL-2.1-or-later",
    notice: "Copyright the Free Software Foundation. Linked statically: to link the program with another version \
             of the library, build it from its source, which is public, with `cargo xtask dist`.",
};

const GCC: Runtime = Runtime {
    name: "The runtime libraries of GCC",
    licence: "GPL-3.0-or-later WITH GCC-exception-3.1",
    notice: "Copyright the Free Software Foundation.",
};

/// What is linked into the program on this platform. System libraries that it only asks for (macOS), and
/// Microsoft's C runtime, whose terms let programs carry it, are not among them.
pub(crate) fn of(platform: &Platform) -> Vec<Runtime> {
    let mut all = vec![STANDARD];
    match platform.libc {
        Some("musl") => all.extend([MUSL, UNWIND]),
        Some(_) => all.extend([GLIBC, GCC]),
        None => {}
    }
    all
}
