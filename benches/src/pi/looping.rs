//! The loop: time between two runs, what it puts into the context, and memory.

use std::time::Duration;

use anyhow::Result;

use super::contender::Contender;
use super::progress::Progress;
use super::traffic::{self, Tokens};
use super::walk::{RUNS, Walk};
use crate::Effort;
use crate::measure::{Samples, Unit, as_f64};
use crate::report::{Plot, Section, Table};

/// Walks of each contender, in turns.
struct Walks {
    of: [Vec<Walk>; Contender::LOOPS.len()],
}

/// Measures.
pub(super) fn measure(effort: Effort, progress: &Progress) -> Result<Vec<Section>> {
    let walks = Walks::take(effort.pick(3, 9), progress)?;
    Ok(vec![
        walks.time(),
        walks.context()?,
        walks.prefixes(),
        walks.memory(),
    ])
}

impl Walks {
    fn take(rounds: usize, progress: &Progress) -> Result<Self> {
        let mut of = [Vec::new(), Vec::new(), Vec::new()];
        for round in 1..=rounds {
            progress.say("runs of a loop", round, rounds);
            for (contender, walks) in Contender::LOOPS.into_iter().zip(&mut of) {
                walks.push(Walk::take(contender)?);
            }
            of[1][0].same_work(&of[0][0])?;
            of[2][0].same_work(&of[0][0])?;
        }
        Ok(Self { of })
    }

    fn each(&self) -> impl Iterator<Item = (Contender, &Vec<Walk>)> {
        Contender::LOOPS.into_iter().zip(&self.of)
    }

    fn time(&self) -> Section {
        let times = |walks: &[Walk]| times(walks.iter().flat_map(Walk::between_runs));
        let bare = times(&self.of[0]);
        let mut table = Table::new(
            "From the end of a run's last answer to the next run's first request",
            ["", "median (quartiles)", "beside the bare loop", "ratio"],
        );
        for (contender, walks) in self.each() {
            let own = times(walks);
            let added = own.median() - bare.median();
            table.row([
                contender.name().to_owned(),
                own.show(),
                format!("{:+.2} ms", added / NANOSECONDS_A_MILLISECOND),
                format!("{:.2}", own.ratio_to(&bare)),
            ]);
        }
        Section {
            title: "Time between two runs".to_owned(),
            tables: vec![table],
            ..Section::default()
        }
    }

    fn context(&self) -> Result<Section> {
        let mut tokens = Tokens::new()?;
        let mut table = Table::new(
            "Tokens (o200k) that are not of the models' own answers and calls",
            [
                "",
                "in the first request",
                "added to the context per run",
                "bytes added per run",
                "read anew per run, without a cache's help",
            ],
        );
        let mut plot = Plot::linear(
            "context.svg",
            "Tokens a provider with a cache reads anew",
            "runs",
            "tokens in all",
        );
        for (contender, walks) in self.each() {
            let Some(walk) = walks.first() else { continue };
            let context = Context::of(walk, &mut tokens);
            table.row([
                contender.name().to_owned(),
                Unit::Count("").show(context.at_first),
                Unit::Count("").show(context.per_run),
                Unit::Count("").show(context.bytes_per_run),
                Unit::Count("").show(context.anew_per_run),
            ]);
            plot.line(contender.name(), context.anew);
        }
        Ok(Section {
            title: "What a run adds to the context".to_owned(),
            tables: vec![table],
            plots: vec![plot],
            ..Section::default()
        })
    }

    fn prefixes(&self) -> Section {
        let mut table = Table::new(
            "Requests that do not continue the request before them",
            ["", "requests", "no continuation", "first difference"],
        );
        for (contender, walks) in self.each() {
            let Some(walk) = walks.first() else { continue };
            let pairs = traffic::pairs(&walk.exchanges);
            let breaks = pairs.iter().filter_map(|(a, b)| traffic::first_break(a, b));
            let breaks: Vec<_> = breaks.collect();
            let mut causes: Vec<&str> = breaks.iter().map(traffic::Break::cause).collect();
            causes.sort_unstable();
            causes.dedup();
            table.row([
                contender.name().to_owned(),
                pairs.len().to_string(),
                breaks.len().to_string(),
                causes.join(", "),
            ]);
        }
        Section {
            title: "Cached prefixes".to_owned(),
            tables: vec![table],
            ..Section::default()
        }
    }

    fn memory(&self) -> Section {
        let mut table = Table::new(
            "Resident memory, in the median",
            [
                "",
                "pi before the goal",
                "its children",
                "pi after the runs",
                "its children then",
            ],
        );
        for (contender, walks) in self.each() {
            let median = |of: fn(&Walk) -> u64| {
                #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
                let values = walks.iter().map(|walk| of(walk) as f64).collect();
                Samples::new(Unit::Bytes, values).show_median()
            };
            table.row([
                contender.name().to_owned(),
                median(|walk| walk.at_rest.pi),
                median(|walk| walk.at_rest.children),
                median(|walk| walk.at_end.pi),
                median(|walk| walk.at_end.children),
            ]);
        }
        Section {
            title: "Memory".to_owned(),
            tables: vec![table],
            ..Section::default()
        }
    }
}

const NANOSECONDS_A_MILLISECOND: f64 = 1e6;

fn times(durations: impl Iterator<Item = Duration>) -> Samples {
    let values = durations.map(|one| one.as_secs_f64() * 1e9).collect();
    Samples::new(Unit::Nanoseconds, values)
}

/// What one walk puts into the context.
struct Context {
    at_first: f64,
    per_run: f64,
    bytes_per_run: f64,
    anew_per_run: f64,
    anew: Vec<(f64, f64)>,
}

impl Context {
    fn of(walk: &Walk, tokens: &mut Tokens) -> Self {
        let pairs = traffic::pairs(&walk.exchanges);
        let first = pairs.first().map(|(first, _)| *first);
        let last = pairs.last().map(|(_, last)| *last);
        let host = |request, tokens: &mut Tokens| as_f64(tokens.of_host(request));
        let at_first = first.map_or(f64::NAN, |request| host(request, tokens));
        let at_last = last.map_or(f64::NAN, |request| host(request, tokens));
        let bytes = |request: Option<&goal_tests::Request>| {
            request.map_or(f64::NAN, |request| as_f64(traffic::host_bytes(request)))
        };
        let mut sum = 0.0;
        let mut anew = Vec::new();
        for (at, (before, after)) in pairs.iter().enumerate() {
            sum += as_f64(tokens.read_anew(before, after));
            anew.push((as_f64(at + 1) / 2.0, sum));
        }
        let runs = as_f64(pairs.len()) / 2.0;
        Self {
            at_first,
            per_run: (at_last - at_first) / runs,
            bytes_per_run: (bytes(last) - bytes(first)) / runs,
            anew_per_run: sum / runs,
            anew,
        }
    }
}

/// Kept in step with what the page says.
const _: () = assert!(RUNS == 50);
