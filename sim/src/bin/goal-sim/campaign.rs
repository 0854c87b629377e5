//! Campaigns, with a line of progress on a terminal.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Result;
use goal_sim::campaign::{Campaign, Tally, campaign};
use goal_sim::entropy::Source;
use goal_sim::plan::Profile;
use goal_sim::seen::{EVENT_KINDS, event_name, state_name};
use goal_sim::{Options, run as run_one};
use indicatif::{ProgressBar, ProgressStyle};

use crate::Status;
use crate::args::{Format, Run};
use crate::report::{Report, commit};

/// A campaign that is given no end runs this many seeds.
const SEEDS: u64 = 100_000;
/// Seeds whose runs are made twice, to see that they are the same.
const TWICE: u64 = 16;

pub(crate) fn run(options: &Run) -> Result<Status> {
    let report = made(options);
    let profiles = options.profile.each();
    let differing = profiles
        .iter()
        .find_map(|profile| Some((profile, differs(*profile, first(options))?)));
    if let Some((profile, seed)) = differing {
        let profile = profile.name();
        anstream::println!("seed {seed} of profile {profile} gave two different runs");
        return Ok(Status::Nondeterminism);
    }
    report.print(options.format)?;
    Ok(report.status(options.allow_unseen))
}

pub(crate) fn coverage(options: &Run) -> Result<Status> {
    let report = made(options);
    if options.format == Format::Json {
        report.print(Format::Json)?;
    } else {
        print_coverage(&report);
        report.print(Format::Text)?;
    }
    Ok(report.status(options.allow_unseen))
}

fn first(options: &Run) -> u64 {
    options.seeds.map_or(0, |(from, _)| from)
}

fn made(options: &Run) -> Report {
    let (from, to) = part(options);
    let seeds = match options.for_ {
        Some(time) => format!("{from}.. for {}", humantime::format_duration(time)),
        None => format!("{from}..{to}"),
    };
    let name = options.profile.name();
    if options.format == Format::Text {
        anstream::println!("seeds {seeds}, commit {}, profile {name}", commit());
    }
    let profiles = options.profile.each();
    let parts = u32::try_from(profiles.len()).unwrap_or(u32::MAX).max(1);
    let time = options.for_.map(|time| time / parts);
    let mut whole = Report::of(&Tally::default(), name, seeds, 0.0);
    for profile in profiles {
        let begun = now();
        let tally = watched(options, profile, (from, to), (begun, time));
        let seconds = begun.elapsed().as_secs_f64();
        whole.add(Report::of(&tally, profile.name(), String::new(), seconds));
    }
    whole
}

/// The seeds of this machine's part.
fn part(options: &Run) -> (u64, u64) {
    let (from, to) = match (options.seeds, options.for_) {
        (Some(seeds), _) => seeds,
        (None, Some(_)) => (0, u64::MAX / 2),
        (None, None) => (0, SEEDS),
    };
    let Some((k, n)) = options.shard else {
        return (from, to);
    };
    let each = (to - from).div_ceil(n);
    let start = from + each * (k - 1);
    (start.min(to), (start + each).min(to))
}

fn watched(
    options: &Run,
    profile: Profile,
    (from, to): (u64, u64),
    (begun, time): (Instant, Option<Duration>),
) -> Tally {
    let bar = bar(options, to - from);
    let tally = campaign(
        &Campaign {
            profile,
            from,
            to,
            jobs: jobs(options.jobs),
            first_only: false,
            options: Options::default(),
        },
        &|runs| {
            bar.set_position(runs);
            time.is_none_or(|time| begun.elapsed() < time)
        },
    );
    bar.finish_and_clear();
    tally
}

fn bar(options: &Run, seeds: u64) -> ProgressBar {
    if options.format == Format::Json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = if options.for_.is_some() {
        ProgressBar::new_spinner()
    } else {
        ProgressBar::new(seeds)
    };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} runs, {per_sec}, {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

pub(crate) fn jobs(given: Option<usize>) -> usize {
    given.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The first seed whose second run is not its first.
fn differs(profile: Profile, from: u64) -> Option<u64> {
    let traced = Options {
        trace: true,
        ..Options::default()
    };
    (from..from + TWICE).find(|seed| {
        let hash = || {
            let outcome = run_one(&Source::Seed(*seed), profile, &traced);
            outcome.trace.map(|trace| trace.hash())
        };
        hash() != hash()
    })
}

fn print_coverage(report: &Report) {
    let mut by_state: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (state, event) in &report.seen {
        by_state.entry(*state).or_default().push(*event);
    }
    anstream::println!(
        "state (phase / deadline / host)                                 events seen"
    );
    for (state, events) in &by_state {
        anstream::println!(
            "{:<60} {:>4} of {EVENT_KINDS}",
            state_name(*state),
            events.len()
        );
    }
    let mut by_event = [0; EVENT_KINDS];
    for (_, event) in &report.seen {
        by_event[*event] += 1;
    }
    anstream::println!("\nevent                   states that met it");
    for (event, states) in by_event.iter().enumerate() {
        anstream::println!("{:<24} {states:>4}", event_name(event));
    }
    anstream::println!("\nsituations met:");
    for words in &report.met {
        anstream::println!("  {words}");
    }
    anstream::println!();
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a campaign took is no part of any run"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
