//! The committed counts, and what a change of them means.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::count::GROWTHS;

/// How much more than its baseline a case may take, in per cent.
pub const EXCESS_MAX_PERCENT: u64 = 10;

/// Counts, and what they depend on beside our code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Compiler, system and library; counts of others cannot be compared.
    pub circumstances: BTreeMap<String, String>,
    /// Instructions of one round of each case.
    pub instructions: BTreeMap<String, u64>,
}

/// What the counts say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// To be printed, whole lines.
    pub text: String,
    /// Whether something takes more than it may.
    pub failed: bool,
}

/// What counts depend on beside our code: compiler, target, C library and valgrind.
///
/// # Errors
///
/// The compiler does not say its version.
pub fn circumstances(valgrind: &str) -> Result<BTreeMap<String, String>> {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(compiler).arg("-vV").output();
    let output = output.context("cannot start rustc")?;
    let told = String::from_utf8(output.stdout).context("rustc's version is no text")?;
    let mut found: BTreeMap<String, String> = told
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(key, _)| ["release", "commit-hash", "host", "LLVM version"].contains(key))
        .map(|(key, value)| (format!("rustc {key}"), value.to_owned()))
        .collect();
    found.insert("valgrind".to_owned(), valgrind.to_owned());
    found.insert("libc".to_owned(), libc());
    Ok(found)
}

/// The C library and its version, as far as its own tool says.
fn libc() -> String {
    let output = Command::new("ldd").arg("--version").output();
    let told = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    let told = String::from_utf8_lossy(&told).into_owned();
    told.lines().next().unwrap_or("unknown").to_owned()
}

/// Compares counts with a baseline, and with the laws of growth.
#[must_use]
pub fn judge(baseline: &Baseline, now: &Baseline) -> Judgement {
    let mut judgement = Judgement {
        text: String::new(),
        failed: false,
    };
    let comparable = baseline.circumstances == now.circumstances;
    if !comparable {
        judgement.text += &differences(&baseline.circumstances, &now.circumstances);
    }
    for (case, &count) in &now.instructions {
        let before = baseline.instructions.get(case).copied();
        judgement.case(case, count, before.filter(|_| comparable));
    }
    if comparable {
        judgement.strays(baseline, now);
    }
    judgement.growth(&now.instructions);
    judgement
}

/// Why nothing is compared.
fn differences(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> String {
    let none = "–".to_owned();
    let mut text =
        "WARNING: the baseline is of other circumstances, so these counts are compared with \
                    nothing:\n"
            .to_owned();
    for key in before
        .keys()
        .chain(now.keys().filter(|key| !before.contains_key(*key)))
    {
        let [then, here] = [before, now].map(|map| map.get(key).unwrap_or(&none));
        if then != here {
            let _ = writeln!(text, "  {key}: {then} in the baseline, {here} here");
        }
    }
    text
}

impl Judgement {
    fn case(&mut self, case: &str, count: u64, before: Option<u64>) {
        let _ = write!(self.text, "{case}: {count} instructions");
        if let Some(before) = before {
            let more = as_f64(count) / as_f64(before) - 1.0;
            let _ = write!(self.text, " ({:+.1} %)", more * 100.0);
            if count * 100 > before * (100 + EXCESS_MAX_PERCENT) {
                self.fail(&format!("more than {EXCESS_MAX_PERCENT} % above {before}"));
                return;
            }
        }
        self.text.push('\n');
    }

    /// Cases that are in only one of the two.
    fn strays(&mut self, baseline: &Baseline, now: &Baseline) {
        let (before, now) = (&baseline.instructions, &now.instructions);
        for case in now.keys().filter(|case| !before.contains_key(*case)) {
            self.text += case;
            self.fail("not in the baseline");
        }
        for case in before.keys().filter(|case| !now.contains_key(*case)) {
            self.text += case;
            self.fail("in the baseline only");
        }
    }

    fn growth(&mut self, instructions: &BTreeMap<String, u64>) {
        for growth in GROWTHS {
            let [small, large] = [growth.small, growth.large].map(|case| instructions.get(case));
            let Some((&small, &large)) = small.zip(large) else {
                continue;
            };
            let times = as_f64(large) / as_f64(small);
            let _ = write!(self.text, "{}: {times:.2} times", growth.law);
            if growth.times > 1.0 {
                let _ = write!(self.text, " for {:.0} times the size", growth.times);
            }
            if times > growth.times_max() {
                self.fail("that is broken");
            } else {
                self.text.push('\n');
            }
        }
    }

    fn fail(&mut self, why: &str) {
        self.failed = true;
        let _ = writeln!(self.text, " — FAILED: {why}");
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "far below 2^52 instructions, valgrind being as slow as it is"
)]
const fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(compiler: &str, counts: &[(&str, u64)]) -> Baseline {
        let instructions = counts
            .iter()
            .map(|(case, count)| ((*case).to_owned(), *count));
        Baseline {
            circumstances: [("rustc".to_owned(), compiler.to_owned())].into(),
            instructions: instructions.collect(),
        }
    }

    #[test]
    fn a_tenth_more_passes_and_anything_above_fails() {
        let baseline = counts("1", &[("a", 1_000)]);
        for (count, failed) in [(900, false), (1_000, false), (1_100, false), (1_101, true)] {
            let judgement = judge(&baseline, &counts("1", &[("a", count)]));
            assert_eq!(judgement.failed, failed, "{}", judgement.text);
            assert_eq!(
                judgement.text.contains("FAILED"),
                failed,
                "{}",
                judgement.text
            );
        }
    }

    #[test]
    fn counts_of_another_compiler_are_told_and_compared_with_nothing() {
        let judgement = judge(&counts("1", &[("a", 1)]), &counts("2", &[("a", 1_000)]));
        assert!(!judgement.failed, "{}", judgement.text);
        assert!(judgement.text.contains("WARNING"), "{}", judgement.text);
        assert!(
            judgement.text.contains("rustc: 1 in the baseline, 2 here"),
            "{}",
            judgement.text
        );
        assert!(
            judgement.text.contains("a: 1000 instructions\n"),
            "{}",
            judgement.text
        );
    }

    #[test]
    fn a_case_that_is_in_one_of_the_two_only_fails() {
        let (one, two) = (counts("1", &[("a", 1)]), counts("1", &[("a", 1), ("b", 1)]));
        assert!(
            judge(&one, &two)
                .text
                .contains("b — FAILED: not in the baseline")
        );
        assert!(
            judge(&two, &one)
                .text
                .contains("b — FAILED: in the baseline only")
        );
    }

    #[test]
    fn work_that_grows_with_what_went_before_fails_whatever_the_compiler() {
        let law = GROWTHS[0];
        let grown = |large| counts("2", &[(law.small, 1_000), (law.large, large)]);
        assert!(!judge(&counts("1", &[]), &grown(1_050)).failed);
        let judgement = judge(&counts("1", &[]), &grown(1_060));
        assert!(
            judgement.failed && judgement.text.contains(law.law),
            "{}",
            judgement.text
        );
    }

    #[test]
    fn every_law_of_growth_is_about_cases_there_are() {
        let names = crate::count::CASES.map(|case| case.name);
        for law in GROWTHS {
            assert!(
                names.contains(&law.small) && names.contains(&law.large),
                "{}",
                law.law
            );
        }
    }
}
