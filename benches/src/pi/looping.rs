//! The loop: time between two runs, and what it sends to the model.

use anyhow::Result;
use goal_sim::Exchange;

use super::compared::{self, added, figures, verdict};
use super::contender::Contender;
use super::progress::Progress;
use super::traffic::{self, Tokens};
use super::walk::{Errand, Walk, in_turns};
use crate::Effort;
use crate::measure::{Unit, as_f64};
use crate::report::{Plot, Section, Table};

/// The runs of each.
const RUNS: usize = 50;

/// Walks of each contender, in turns.
struct Walks([(Contender, Vec<Walk>); Contender::LOOPS.len()]);

/// Measures.
pub(super) fn measure(effort: Effort, progress: &Progress) -> Result<Vec<Section>> {
    let rounds = effort.pick(4, 11);
    let walks = in_turns(Contender::LOOPS, rounds, |round, contender| {
        progress.say("runs of a loop", round, rounds);
        Walk::take(contender, Errand::Runs(RUNS))
    })?;
    let walks = Walks(walks);
    Ok(vec![walks.time(), walks.context()?, walks.prefixes()])
}

impl Walks {
    fn time(&self) -> Section {
        let all = figures(&self.0, Walk::between_runs);
        let [(_, bare), (_, ours), (_, rival)] = &all;
        let met = met(added(ours, bare) <= ADDED_MAX_MS);
        let aim = format!("The aim, {ADDED_MAX_MS} ms more than the bare loop, is {met}.");
        Section {
            title: "Time between two runs".to_owned(),
            intro: "The bare loop is an extension of a few lines that lets pi go on after every run, and \
                    decides nothing."
                .to_owned(),
            tables: vec![compared::table(
                "From the end of a run's last answer to the next run's first request",
                &all,
            )],
            findings: vec![verdict("Between two runs", ours, rival), aim],
            ..Section::default()
        }
    }

    fn context(&self) -> Result<Section> {
        let mut tokens = Tokens::new()?;
        let all = self.0.each_ref().map(|(contender, walks)| {
            let exchanges = walks.first().map(|walk| walk.exchanges.as_slice());
            let context = Context::of(exchanges.unwrap_or_default(), &mut tokens);
            (*contender, context)
        });
        let beside = format!("beside {}", Contender::Rival.name());
        let mut table = Table::new(
            "What is neither the model's own words nor the result of a call; tokens as of o200k",
            [
                "",
                "tokens in the first request",
                "tokens added per run",
                &beside,
                "bytes added per run",
                "tokens read anew per run",
                &beside,
            ],
        );
        let mut plot = Plot::linear("context.svg", "Tokens read anew, in all", "runs", "tokens");
        let rival = &all[2].1;
        let count = |value: f64| Unit::Count("").show(value);
        for (contender, context) in &all {
            table.row([
                contender.name().to_owned(),
                count(context.at_first),
                count(context.per_run),
                format!("{:.2}", context.per_run / rival.per_run),
                count(context.bytes_per_run),
                count(context.anew_per_run),
                format!("{:.2}", context.anew_per_run / rival.anew_per_run),
            ]);
            plot.line(contender.name(), context.anew.clone());
        }
        let ours = &all[1].1;
        let added = met(ours.per_run <= CONTEXT_SHARE_MAX * rival.per_run);
        let anew = met(ours.anew_per_run <= CONTEXT_SHARE_MAX * rival.anew_per_run);
        let aim = format!(
            "The aim, at most {CONTEXT_SHARE_MAX} of what {} causes, is {added} for what stays in the \
             context, and {anew} for what is read anew.",
            Contender::Rival.name()
        );
        Ok(Section {
            title: "What a run adds to the context".to_owned(),
            intro: CONTEXT_INTRO.to_owned(),
            tables: vec![table],
            plots: vec![plot],
            findings: vec![aim],
        })
    }

    fn prefixes(&self) -> Section {
        let mut table = Table::new(
            "Requests that do not continue the request before them",
            ["", "requests", "no continuation", "first difference"],
        );
        let mut of_ours = 0;
        for (contender, walks) in &self.0 {
            let exchanges = walks.iter().map(|walk| &walk.exchanges);
            let pairs: Vec<_> = exchanges.flat_map(|all| traffic::pairs(all)).collect();
            let breaks = pairs.iter().filter_map(|(a, b)| traffic::first_break(a, b));
            let breaks: Vec<_> = breaks.collect();
            if *contender == Contender::Ours {
                of_ours = breaks.len();
            }
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
            intro: "A provider's cache helps as far as a request begins like the one before it."
                .to_owned(),
            tables: vec![table],
            findings: vec![format!("The aim, none of ours, is {}.", met(of_ours == 0))],
            ..Section::default()
        }
    }
}

const CONTEXT_INTRO: &str = "Added is by how much the last request is longer than the first; a message that \
    an extension makes shorter later on counts as what is left of it. Read anew is what follows the longest \
    beginning that a request has in common with the one before it, as a provider with a cache bills it, the \
    model's own words and the results of its calls included.";

/// Ours may take so much longer between two runs than the bare loop, in milliseconds.
const ADDED_MAX_MS: f64 = 2.0;
/// Ours may add so much to the context, of what the other extension adds.
const CONTEXT_SHARE_MAX: f64 = 0.1;

const fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
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
    fn of(exchanges: &[Exchange], tokens: &mut Tokens) -> Self {
        let pairs = traffic::pairs(exchanges);
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
            // Two requests a run.
            if at % 2 == 1 {
                anew.push((as_f64(at / 2 + 1), sum));
            }
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
