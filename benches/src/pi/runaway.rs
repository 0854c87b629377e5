//! Models that would go on for ever: how many requests they get before somebody stops them.

mod situation;

use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use goal_sim::Fate;
use goal_tests::{AUDITOR, EXECUTOR, Pi};

use super::contender::Contender;
use super::progress::Progress;
use super::traffic;
use super::walk::OBJECTIVE;
use crate::report::{Section, Table};
use situation::Situation;

/// Where a loop is taken to go on for ever.
const REQUESTS_MAX: usize = 200;
/// How long one may take that does not wait.
const LIMIT: Duration = Duration::from_secs(90);
/// How long an outage lasts: longer than all waits of ours together.
const OUTAGE: Duration = Duration::from_secs(240);
/// Silence after which nothing more is expected.
const SILENCE: Duration = Duration::from_secs(5);
/// The same where somebody may be waiting for the end of an outage.
const OUTAGE_SILENCE: Duration = Duration::from_secs(150);
/// Silence after the user was told that the goal is paused.
const SILENCE_AFTER_PAUSE: Duration = Duration::from_millis(500);
/// How often a pi is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How many are played at a time. None of them is timed, and they mostly wait.
const AT_A_TIME: usize = 4;
/// Of what the user is shown at the end, in characters.
const SHOWN_MAX: usize = 110;

/// One contender in one situation.
type Task = (Situation, Contender);

/// How one of them ended.
struct Ending {
    task: Task,
    requests: usize,
    of_auditor: usize,
    /// Requests of the executor that do not continue the one before.
    broken: usize,
    how: How,
    shown: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Stopped,
    RequestsMax,
    TimeIsUp,
}

/// Outages that are being waited out beside everything else.
pub(super) struct Outages(Vec<JoinHandle<Ending>>);

impl Outages {
    /// Starts them. Who waits for a provider does nothing meanwhile.
    pub(super) fn start() -> Self {
        let tasks = tasks(Situation::is_outage).into_iter();
        Self(
            tasks
                .map(|task| thread::spawn(move || play(task)))
                .collect(),
        )
    }

    fn end(self) -> Result<Vec<Ending>> {
        let ends = self.0.into_iter().map(JoinHandle::join);
        ends.map(|end| end.map_err(|_| anyhow!("a pi in an outage failed")))
            .collect()
    }
}

/// All the others, played to their ends.
pub(super) struct Played(Vec<Ending>);

impl Played {
    /// Plays them.
    pub(super) fn take(progress: &Progress) -> Result<Self> {
        let tasks = tasks(|situation| !situation.is_outage());
        let (all, queue) = (tasks.len(), Mutex::new(tasks.into_iter().enumerate()));
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut ends = Vec::new();
            while let Some((at, task)) = next() {
                progress.say("runaway models", at + 1, all);
                ends.push(play(task));
            }
            ends
        };
        let ends = thread::scope(|scope| {
            let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
            let ends = workers.into_iter().map(|worker| worker.join());
            ends.collect::<Result<Vec<_>, _>>()
        });
        let ends = ends.map_err(|_| anyhow!("a pi with a runaway model failed"))?;
        Ok(Self(ends.into_iter().flatten().collect()))
    }

    /// What is said of them, once the outages are over.
    pub(super) fn section(mut self, outages: Outages) -> Result<Section> {
        self.0.extend(outages.end()?);
        let rows = Situation::ALL.map(|situation| {
            let of = |contender| {
                let mut ends = self.0.iter();
                ends.find(|ending| ending.task == (situation, contender))
            };
            (situation, Contender::ALONE.map(of))
        });
        Ok(section(&rows))
    }
}

fn tasks(wanted: impl Fn(Situation) -> bool) -> Vec<Task> {
    let situations = Situation::ALL.into_iter().filter(|one| wanted(*one));
    situations
        .flat_map(|situation| Contender::ALONE.map(|contender| (situation, contender)))
        .collect()
}

fn play(task: Task) -> Ending {
    let (situation, contender) = task;
    let options = contender.audited(situation.script());
    let pi = Pi::start(options.file("notes.txt", "one\ntwo\nthree\n"));
    pi.prompt(&contender.goal(OBJECTIVE));
    if situation.is_aborted() {
        // The answer is held, so that there is something to abort.
        pi.wait_request(EXECUTOR, 1);
        pi.abort();
    }
    let how = watch(&pi, task);
    let exchanges = pi.server().exchanges();
    let pairs = traffic::pairs(&exchanges);
    let breaks = pairs.iter().filter_map(|(a, b)| traffic::first_break(a, b));
    let of_auditor = exchanges.iter().filter(|e| e.request.model == AUDITOR);
    Ending {
        task,
        requests: exchanges.len().min(REQUESTS_MAX),
        of_auditor: of_auditor.count(),
        broken: breaks.count(),
        how,
        shown: pi.notices().pop().map(|notice| first_line(&notice.text)),
    }
}

/// Looks until it has come to rest, or a limit is reached.
fn watch(pi: &Pi, (situation, contender): Task) -> How {
    let started = Instant::now();
    let outage = situation.is_outage() && contender != Contender::Plain;
    let (limit, silence) = if outage {
        (OUTAGE, OUTAGE_SILENCE)
    } else {
        (LIMIT, SILENCE)
    };
    loop {
        let exchanges = pi.server().exchanges();
        if exchanges.len() >= REQUESTS_MAX {
            return How::RequestsMax;
        }
        if started.elapsed() > limit {
            return How::TimeIsUp;
        }
        let open = exchanges.iter().any(|exchange| exchange.fate == Fate::Open);
        let expected = if is_paused(pi) {
            SILENCE_AFTER_PAUSE
        } else {
            silence
        };
        if !open && !pi.log().is_running() && pi.log().silence() > expected {
            return How::Stopped;
        }
        thread::sleep(LOOK);
    }
}

/// Whether the user was told that the goal is paused: both goal extensions use that word.
fn is_paused(pi: &Pi) -> bool {
    let mut notices = pi.notices().into_iter();
    notices.any(|notice| notice.text.to_lowercase().contains("paused"))
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= SHOWN_MAX {
        return line.to_owned();
    }
    let start: String = line.chars().take(SHOWN_MAX).collect();
    format!("{start}…")
}

fn section(rows: &[(Situation, [Option<&Ending>; 3])]) -> Section {
    let names = Contender::ALONE.map(Contender::name);
    let mut counts = Table::new(
        "Requests until it stops (those of the auditor in parentheses)",
        ["the model", names[0], names[1], names[2]],
    );
    let mut shown = Table::new(
        "What the user is told last",
        ["the model", names[1], names[2]],
    );
    for (situation, [plain, ours, rival]) in rows {
        let name = situation.name().to_owned();
        counts.row([name.clone(), count(*plain), count(*ours), count(*rival)]);
        shown.row([name, told(*ours), told(*rival)]);
    }
    Section {
        title: "Models that do not stop".to_owned(),
        intro: intro(),
        tables: vec![counts, shown],
        findings: findings(rows),
        ..Section::default()
    }
}

fn intro() -> String {
    format!(
        "Each pi has the same scripted models, three retries of pi's own with a base of 50 ms, and nobody \
         at the keyboard. It is stopped at {REQUESTS_MAX} requests; where a provider fails, after {} s.",
        OUTAGE.as_secs()
    )
}

fn count(ending: Option<&Ending>) -> String {
    let Some(ending) = ending else {
        return "–".to_owned();
    };
    let auditor = match ending.of_auditor {
        0 => String::new(),
        count => format!(" ({count})"),
    };
    let how = match ending.how {
        How::Stopped => "",
        How::RequestsMax => ", no end",
        How::TimeIsUp => ", still going at the time limit",
    };
    format!("{}{auditor}{how}", ending.requests)
}

fn told(ending: Option<&Ending>) -> String {
    let shown = ending.and_then(|ending| ending.shown.as_deref());
    shown.map_or_else(|| "nothing".to_owned(), |text| format!("“{text}”"))
}

fn findings(rows: &[(Situation, [Option<&Ending>; 3])]) -> Vec<String> {
    let of = |who: usize| rows.iter().filter_map(move |(_, ends)| ends[who]);
    let sentence = |who: usize| {
        let stopped = of(who).filter(|ending| ending.how == How::Stopped).count();
        let requests: usize = of(who).map(|ending| ending.requests).sum();
        let broken: usize = of(who).map(|ending| ending.broken).sum();
        format!(
            "{} stops in {stopped} of {} situations, with {requests} requests in all, of which {broken} \
             do not continue the request before them.",
            Contender::ALONE[who].name(),
            rows.len(),
        )
    };
    vec![sentence(1), sentence(2)]
}
