//! Instructions, counted by valgrind: the same on every run, whatever else the machine does.
//!
//! A case is run twice under callgrind, once with its set-up alone and once with some rounds of work; the
//! difference is what the work takes. That needs no symbols in the program and no calls into valgrind.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use goal_parser::parse_verdict;

use crate::running::Running;
use crate::{session, text};

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name in the baseline.
    pub name: &'static str,
    /// Rounds that are counted together; the count is that of one.
    pub rounds: u32,
    /// Makes what is needed and does the work so many times.
    pub run: fn(u32),
}

/// All cases.
pub const CASES: [Case; 13] = [
    Case {
        name: "parser: a report of 4 KiB",
        rounds: 20,
        run: |rounds| parse(0, 4 * KIB, rounds),
    },
    Case {
        name: "parser: a report of 256 KiB",
        rounds: 1,
        run: |rounds| parse(0, 256 * KIB, rounds),
    },
    Case {
        name: "parser: six hostile texts of 2 KiB",
        rounds: 1,
        run: |rounds| hostile(2 * KIB, rounds),
    },
    Case {
        name: "parser: six hostile texts of 32 KiB",
        rounds: 1,
        run: |rounds| hostile(32 * KIB, rounds),
    },
    Case {
        name: "engine: a tool call, the 10th",
        rounds: 100,
        run: |rounds| calls(10, rounds),
    },
    Case {
        name: "engine: a tool call, the 1,000th",
        rounds: 100,
        run: |rounds| calls(1_000, rounds),
    },
    Case {
        name: "engine: an iteration, the 10th",
        rounds: 10,
        run: |rounds| iterations(10, rounds),
    },
    Case {
        name: "engine: an iteration, the 1,000th",
        rounds: 10,
        run: |rounds| iterations(1_000, rounds),
    },
    Case {
        name: "engine: a check of an auditor, the 10th",
        rounds: 10,
        run: |rounds| checks(10, rounds),
    },
    Case {
        name: "engine: a check of an auditor, the 900th",
        rounds: 10,
        run: |rounds| checks(900, rounds),
    },
    Case {
        name: "session: opened with 100 records",
        rounds: 1,
        run: |rounds| sessions(100, rounds),
    },
    Case {
        name: "session: opened with 1,000 records",
        rounds: 1,
        run: |rounds| sessions(1_000, rounds),
    },
    Case {
        name: "wire: the line of a settle boundary, 2 KiB",
        rounds: 100,
        run: |rounds| lines(2 * KIB, rounds),
    },
];

/// Work that must not become more with what went before, or with the size beyond its share.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// What is said of it.
    pub law: &'static str,
    /// The case of the smaller size.
    pub small: &'static str,
    /// The case of the larger one.
    pub large: &'static str,
    /// How many times as large that is, where the work may grow with it; else one.
    pub times: f64,
}

/// How much more the later event may take than the earlier one: texts hold numbers that grow a digit.
const LEVEL_SLACK: f64 = 1.05;
/// How much more than its share the larger case may take: buffers and the heap's lists grow. What is
/// quadratic takes ten times its share where the size is ten times as large.
const LINEAR_SLACK: f64 = 1.2;

impl Growth {
    /// How many times the work of the small case the large one may take.
    #[must_use]
    pub const fn times_max(&self) -> f64 {
        let slack = if self.times > 1.0 {
            LINEAR_SLACK
        } else {
            LEVEL_SLACK
        };
        self.times * slack
    }
}

/// The laws of growth, each checked on any machine that has valgrind.
pub const GROWTHS: [Growth; 6] = [
    Growth {
        law: "a tool call costs the same however many went before",
        small: "engine: a tool call, the 10th",
        large: "engine: a tool call, the 1,000th",
        times: 1.0,
    },
    Growth {
        law: "an iteration costs the same however many went before",
        small: "engine: an iteration, the 10th",
        large: "engine: an iteration, the 1,000th",
        times: 1.0,
    },
    Growth {
        law: "a check of an auditor costs the same however many went before",
        small: "engine: a check of an auditor, the 10th",
        large: "engine: a check of an auditor, the 900th",
        times: 1.0,
    },
    Growth {
        law: "reading a session is linear in its records",
        small: "session: opened with 100 records",
        large: "session: opened with 1,000 records",
        times: 10.0,
    },
    Growth {
        law: "a report is parsed in linear time",
        small: "parser: a report of 4 KiB",
        large: "parser: a report of 256 KiB",
        times: 64.0,
    },
    Growth {
        law: "a hostile text is parsed in linear time",
        small: "parser: six hostile texts of 2 KiB",
        large: "parser: six hostile texts of 32 KiB",
        times: 16.0,
    },
];

const KIB: usize = 1024;

/// The work of one family of answers.
fn parse(family: usize, bytes: usize, rounds: u32) {
    let text = (text::ANSWERS[family].make)(bytes);
    for _ in 0..rounds {
        assert!(parse_verdict(black_box(&text)).is_ok());
    }
}

/// All families but the first.
fn hostile(bytes: usize, rounds: u32) {
    for family in 1..text::ANSWERS.len() {
        parse(family, bytes, rounds);
    }
}

fn calls(before: u32, rounds: u32) {
    let mut running = Running::new();
    for _ in 0..before + rounds {
        running.call();
    }
}

fn iterations(before: u32, rounds: u32) {
    let mut running = Running::new();
    for _ in 0..before + rounds {
        running.iterate();
    }
}

fn checks(before: u32, rounds: u32) {
    let mut running = Running::new();
    let mut audit = running.claim();
    for _ in 0..before + rounds {
        audit.check(&mut running);
    }
}

fn sessions(records: usize, rounds: u32) {
    let line = session::line(records);
    for _ in 0..rounds {
        black_box(session::open(black_box(&line)));
    }
}

fn lines(bytes: usize, rounds: u32) {
    let line = session::settling_line(&text::repeat("All is well so far. ", bytes));
    for _ in 0..rounds {
        black_box(session::event_of(black_box(&line)));
    }
}

/// Does the work of a case.
///
/// # Errors
///
/// There is no such case.
pub fn run(name: &str, rounds: u32) -> Result<()> {
    let case = CASES.iter().find(|case| case.name == name);
    let case = case.with_context(|| format!("there is no case `{name}`"))?;
    (case.run)(rounds);
    Ok(())
}

/// The instructions of one round of a case. `program` runs a case as [`run`] does, told `one CASE ROUNDS`.
///
/// # Errors
///
/// Valgrind does not run, or does not tell a count.
pub fn instructions(program: &Path, case: &Case) -> Result<u64> {
    let without = collected(program, case, 0)?;
    let with = collected(program, case, case.rounds)?;
    let work = with.checked_sub(without).context("work takes time")?;
    Ok(work / u64::from(case.rounds))
}

/// What callgrind says after `Collected :`, the instructions of a whole program.
fn collected(program: &Path, case: &Case, rounds: u32) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program).args(["one", case.name]);
    let output = command.arg(rounds.to_string()).output();
    let output = output.context("cannot start valgrind")?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("`{}` under valgrind failed:\n{told}", case.name);
    }
    let count = told.lines().find_map(|line| {
        let (_, count) = line.split_once("Collected :")?;
        count.trim().parse().ok()
    });
    count.with_context(|| format!("valgrind told no count:\n{told}"))
}

/// Valgrind's version; `None` if it is not there.
#[must_use]
pub fn valgrind() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").output().ok()?;
    let told = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| told.trim().to_owned())
}
