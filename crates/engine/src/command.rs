//! `/goal …`

use goal_state::{AuditOutcome, Ended, GoalTag, Objective, PauseReason, Stop};

use crate::canary::Canary;
use crate::effect::{Effect, Level, Notice};
use crate::engine::{Engine, Headless};
use crate::event::{Activity, Command, HostFacts};
use crate::say;
use crate::start::{Begin, Waiting};

/// Questions that may be open at once; a client that asks for more is answered with a refusal.
const QUESTIONS_MAX: usize = 8;

/// Bytes of the longest word that is a command.
const WORD_MAX: usize = 6;

/// What the user meant.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form<'a> {
    Status,
    Pause,
    Resume,
    Clear,
    Help,
    Why,
    Accept,
    Edit,
    /// The limit alone, or a new one: `0` is off.
    Limit(Option<&'a str>),
    Config,
    /// The file to write, if one is named.
    Report(Option<&'a str>),
    Audit,
    /// `set` or `--` with nothing behind it.
    Bare,
    Objective(&'a str),
}

/// Endings of a report's file, for the form it shall have.
const REPORT_ENDINGS: [&str; 3] = [".md", ".html", ".json"];

/// A question the user has not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenQuestion {
    pub(crate) ticket: u64,
    /// The goal it is about.
    pub(crate) about: String,
    pub(crate) asks: Asks,
}

/// What a question is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Replace the goal by this one? With the command as typed, to give it back.
    Replace { objective: Objective, typed: String },
    /// Accept the goal as it is, as it was seen at this generation?
    Accept { generation: u64 },
    /// Which words shall the objective have?
    Edit,
}

/// Sub-commands match a single word, whatever its case; more words are an objective.
fn parse(text: &str) -> Form<'_> {
    let text = text.trim();
    let Some((first, rest)) = first_word(text) else {
        return Form::Objective(text);
    };
    if first == "--" || first.eq_ignore_ascii_case("set") {
        let rest = rest.trim();
        return if rest.is_empty() {
            Form::Bare
        } else {
            Form::Objective(rest)
        };
    }
    if first.eq_ignore_ascii_case("limit") && is_number(rest.trim()) {
        return Form::Limit(Some(rest.trim()));
    }
    if first.eq_ignore_ascii_case("report") && is_report_path(rest.trim()) {
        return Form::Report(Some(rest.trim()));
    }
    if !rest.is_empty() {
        return Form::Objective(text);
    }
    match first.to_ascii_lowercase().as_str() {
        "" | "status" => Form::Status,
        "pause" | "stop" | "off" => Form::Pause,
        "resume" => Form::Resume,
        "clear" | "cancel" => Form::Clear,
        "help" => Form::Help,
        "why" => Form::Why,
        "accept" => Form::Accept,
        "edit" => Form::Edit,
        "limit" => Form::Limit(None),
        "config" => Form::Config,
        "report" => Form::Report(None),
        "audit" => Form::Audit,
        _ => Form::Objective(text),
    }
}

/// The first word and what follows it, unless the word is too long to be one of ours: an objective may
/// be tens of thousands of bytes without a space, and none of them is looked at.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let mut start = text.char_indices().take(WORD_MAX + 1);
    match start.find(|(_, letter)| letter.is_whitespace()) {
        Some((end, space)) => Some((&text[..end], &text[end + space.len_utf8()..])),
        None if text.len() <= WORD_MAX => Some((text, "")),
        None => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_report_path(text: &str) -> bool {
    let ends = |ending: &&str| text.len() > ending.len() && text.ends_with(*ending);
    !text.contains(char::is_whitespace) && REPORT_ENDINGS.iter().any(ends)
}

/// The path in a command whose whole objective is `@path`. If such a file exists, the driver brings
/// what is in it along with the command; otherwise the text is an objective like any other.
#[must_use]
pub fn file_named(text: &str) -> Option<&str> {
    let Form::Objective(text) = parse(text) else {
        return None;
    };
    let path = text.strip_prefix('@')?.trim();
    let path = path
        .strip_prefix('"')
        .and_then(|path| path.strip_suffix('"'))
        .unwrap_or(path);
    (!path.is_empty() && !path.contains(['\n', '\r', '\0'])).then_some(path)
}

impl Engine {
    /// The user typed `/goal …`.
    pub(crate) fn command(&mut self, command: &Command, out: &mut Vec<Effect>) {
        let host = &command.host;
        self.note_host(host);
        if host.headless {
            self.headless = Some(Headless {
                approved: true,
                ..Headless::default()
            });
        }
        match parse(&command.text) {
            Form::Status => self.reply(Level::Info, say::status(self), out),
            Form::Help => self.reply(Level::Info, say::help(), out),
            Form::Why => self.reply(Level::Info, say::why(self), out),
            Form::Accept => self.accept_command(host, out),
            Form::Edit => self.edit_command(host, out),
            Form::Limit(number) => self.limit_command(number, out),
            Form::Config => self.reply(Level::Info, say::config(self), out),
            Form::Report(path) => self.report_command(path, out),
            Form::Audit => self.audit_command(host, out),
            Form::Bare => self.refuse_start(say::nothing_to_set(), &command.text, out),
            Form::Pause => self.pause_command(out),
            Form::Clear => self.clear_command(out),
            Form::Resume => self.resume_command(host, out),
            Form::Objective(text) => self.objective_command(text, command, out),
        }
    }

    /// The host's own word on where it stands outranks what was followed from its events.
    pub(crate) fn note_host(&mut self, host: &HostFacts) {
        self.host.has_ui = host.has_ui;
        self.host.model.clone_from(&host.model);
        self.host.config_path.clone_from(&host.config_path);
        if host.activity != Activity::Running {
            self.missed_rest();
            self.host.compacting = host.activity == Activity::Compacting;
        }
    }

    pub(crate) fn reply(&self, level: Level, text: String, out: &mut Vec<Effect>) {
        out.push(Effect::Reply(Notice { level, text }));
    }

    /// A refused start or resume: nothing typed is lost, and a headless caller gets status 2.
    pub(crate) fn refuse_start(&mut self, why: String, typed: &str, out: &mut Vec<Effect>) {
        give_back(typed, out);
        if let Some(headless) = &mut self.headless {
            *headless = Headless {
                reason: Some(why),
                ..Headless::default()
            };
        } else {
            out.push(Effect::Reply(Notice {
                level: Level::Error,
                text: why,
            }));
        }
    }

    fn pause_command(&mut self, out: &mut Vec<Effect>) {
        if self.newer_version {
            return self.reply(Level::Info, say::newer_version(), out);
        }
        if self.pursued().is_none() && self.users_audit_is_due() {
            return self.stop_users_audit(out);
        }
        if self.pursued().is_none() {
            let text = say::nothing_to_pause(self.goal.as_ref(), self.asker());
            return self.reply(Level::Info, text, out);
        }
        let ends_run = self.goals_run_goes_on() && !self.planted(Canary::PauseLeavesRun);
        self.break_off_audit(AuditOutcome::Aborted { by_command: true }, out);
        self.pause(Stop::plain(PauseReason::User), out);
        out.extend(ends_run.then_some(Effect::EndRun));
    }

    pub(crate) fn clear_command(&mut self, out: &mut Vec<Effect>) {
        let Some(goal) = &self.goal else {
            let text = if self.newer_version {
                say::newer_version()
            } else {
                say::nothing_to_clear()
            };
            return self.reply(Level::Info, text, out);
        };
        let text = say::cleared(goal);
        let ends_run = self.goals_run_goes_on();
        self.remove(
            Ended::Cleared,
            AuditOutcome::Aborted { by_command: true },
            out,
        );
        self.reply(Level::Info, text, out);
        out.extend(ends_run.then_some(Effect::EndRun));
    }

    /// Takes the goal away together with what is under way for it.
    pub(crate) fn remove(&mut self, ended: Ended, audit: AuditOutcome, out: &mut Vec<Effect>) {
        let goal = self.goal.take();
        self.break_off_audit(audit, out); // The goal is away: nothing is counted for it.
        self.goal = goal;
        self.end(ended, out);
    }

    pub(crate) fn resume_command(&mut self, host: &HostFacts, out: &mut Vec<Effect>) {
        if let Some(why) = self.nothing_to_resume(host) {
            return self.refuse_start(why, "", out);
        }
        match self.resolve_gate(host) {
            Err(why) => self.refuse_start(why, "", out),
            Ok((gate, notice)) => {
                let now = self.clocks.now;
                if let Some(goal) = &mut self.goal {
                    goal.resume(gate, now);
                }
                self.disarm();
                self.save(out);
                let text = say::resumed(self.goal.as_ref());
                self.started(text, notice, host, Begin::Resumed, out);
            }
        }
    }

    fn nothing_to_resume(&self, host: &HostFacts) -> Option<String> {
        if self.newer_version {
            return Some(say::newer_version());
        }
        let Some(goal) = &self.goal else {
            return Some(say::no_goal_to_resume());
        };
        if self.users_audit_is_due() {
            return Some(say::audit_is_running());
        }
        if self.planted_refusal() {
            return Some(say::already_pursued());
        }
        if !goal.is_pursuing() || self.waiting.is_some_and(Waiting::is_restart) {
            return None;
        }
        let busy = self.host.running || host.activity != Activity::Idle || self.is_starting();
        match self.waiting {
            Some(_) => Some(say::starts_soon()),
            None => busy.then(say::already_pursued),
        }
    }

    fn objective_command(&mut self, text: &str, command: &Command, out: &mut Vec<Effect>) {
        let text = match (&command.file, file_named(&command.text)) {
            (Some(Ok(found)), Some(_)) => found,
            (Some(Err(trouble)), Some(path)) => {
                let why = say::bad_file(path, trouble);
                return self.refuse_start(why, &command.text, out);
            }
            (None, _) | (Some(_), None) => text,
        };
        let objective = match Objective::new(text) {
            Ok(objective) => objective,
            Err(error) => return self.refuse_start(say::bad_objective(error), &command.text, out),
        };
        if self.newer_version {
            return self.refuse_start(say::newer_version(), &command.text, out);
        }
        match &self.goal {
            None => self.start_goal(objective, &command.text, &command.host, out),
            Some(_) => self.ask_to_replace(objective, command, out),
        }
    }

    fn ask_to_replace(&mut self, objective: Objective, command: &Command, out: &mut Vec<Effect>) {
        let Some(goal) = &self.goal else { return };
        if !command.host.has_ui {
            return self.refuse_start(say::goal_in_the_way(goal), &command.text, out);
        }
        let (title, message) = say::replace_question(goal, &objective);
        let about = goal.id().to_owned();
        let typed = command.text.clone();
        let asks = Asks::Replace { objective, typed };
        let Some(ticket) = self.ask(about, asks) else {
            return self.refuse_start(say::too_many_questions(), &command.text, out);
        };
        out.push(Effect::Confirm {
            ticket,
            title,
            message,
        });
    }

    /// Opens a question; `None` if too many are open already.
    pub(crate) fn ask(&mut self, about: String, asks: Asks) -> Option<u64> {
        if self.questions.len() >= QUESTIONS_MAX {
            return None;
        }
        let ticket = self.number();
        self.questions.push(OpenQuestion {
            ticket,
            about,
            asks,
        });
        Some(ticket)
    }

    /// Closes the question with this ticket, if it is open and the answer fits it.
    pub(crate) fn close_question(&mut self, ticket: u64, by_editor: bool) -> Option<OpenQuestion> {
        let fits =
            |open: &OpenQuestion| open.ticket == ticket && by_editor == (open.asks == Asks::Edit);
        let at = self.questions.iter().position(fits)?;
        Some(self.questions.remove(at))
    }

    /// The user answered. Only a clear yes is one.
    pub(crate) fn confirmed(
        &mut self,
        ticket: u64,
        yes: bool,
        host: &HostFacts,
        out: &mut Vec<Effect>,
    ) {
        self.note_host(host);
        let Some(OpenQuestion { about, asks, .. }) = self.close_question(ticket, false) else {
            return;
        };
        match asks {
            Asks::Replace { objective, typed } => {
                self.replace_answered(yes, objective, &typed, &about, host, out);
            }
            Asks::Accept { generation } => {
                let tag = GoalTag {
                    id: about,
                    generation,
                };
                self.accept_answered(yes, &tag, out);
            }
            Asks::Edit => {} // Its answer is a text.
        }
    }

    fn replace_answered(
        &mut self,
        yes: bool,
        objective: Objective,
        typed: &str,
        replaces: &str,
        host: &HostFacts,
        out: &mut Vec<Effect>,
    ) {
        // A yes stands even if the old goal ended meanwhile; only another new one refuses it.
        let another = self.goal.as_ref().is_some_and(|goal| goal.id() != replaces);
        if !yes {
            give_back(typed, out);
            self.reply(Level::Info, say::goal_kept(), out);
        } else if another {
            self.refuse_start(say::another_goal_meanwhile(), typed, out);
        } else {
            self.start_goal(objective, typed, host, out);
        }
    }

    fn start_goal(
        &mut self,
        objective: Objective,
        typed: &str,
        host: &HostFacts,
        out: &mut Vec<Effect>,
    ) {
        let (gate, notice) = match self.resolve_gate(host) {
            Ok(resolved) => resolved,
            Err(why) => return self.refuse_start(why, typed, out),
        };
        let ends_run = self.goals_run_goes_on();
        self.remove(Ended::Replaced, AuditOutcome::StaleGoal, out);
        self.goal = Some(self.new_goal(objective, gate));
        self.save(out);
        let text = say::started(self);
        out.extend(ends_run.then_some(Effect::EndRun));
        self.started(text, notice, host, Begin::First, out);
    }

    pub(crate) fn started(
        &mut self,
        text: String,
        notice: Option<String>,
        host: &HostFacts,
        begin: Begin,
        out: &mut Vec<Effect>,
    ) {
        if let Some(headless) = &mut self.headless {
            headless.approved = false;
            headless.worked = true;
        }
        self.reply(Level::Info, text, out);
        out.extend(notice.map(|text| {
            Effect::Notify(Notice {
                level: Level::Info,
                text,
            })
        }));
        out.extend(self.sandbox_news());
        self.begin(host, begin, out);
    }
}

/// Typed text goes back to the editor.
pub(crate) fn give_back(typed: &str, out: &mut Vec<Effect>) {
    if !typed.is_empty() {
        out.push(Effect::RestoreInput {
            text: format!("/goal {}", typed.trim()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_words_are_commands_in_any_case_and_more_words_are_objectives() {
        for (text, form) in [
            ("", Form::Status),
            ("  ", Form::Status),
            ("STATUS", Form::Status),
            ("stop", Form::Pause),
            ("pause \u{a0}", Form::Pause),
            ("off", Form::Pause),
            ("Clear", Form::Clear),
            ("cancel", Form::Clear),
            ("resume", Form::Resume),
            ("help", Form::Help),
            ("Edit", Form::Edit),
            ("Audit", Form::Audit),
            ("audit the code", Form::Objective("audit the code")),
            ("config", Form::Config),
            ("config the router", Form::Objective("config the router")),
            ("Report", Form::Report(None)),
            ("report out/goal.html", Form::Report(Some("out/goal.html"))),
            ("report .md", Form::Objective("report .md")),
            ("report a b.md", Form::Objective("report a b.md")),
            ("report bugs", Form::Objective("report bugs")),
            ("edit the README", Form::Objective("edit the README")),
            ("why", Form::Why),
            ("why is it slow", Form::Objective("why is it slow")),
            ("accept", Form::Accept),
            ("accept cookies", Form::Objective("accept cookies")),
            ("limit", Form::Limit(None)),
            ("LIMIT  12 ", Form::Limit(Some("12"))),
            ("limit -1", Form::Objective("limit -1")),
            ("limit 12 files", Form::Objective("limit 12 files")),
            ("limit memory", Form::Objective("limit memory")),
            ("clear the cache", Form::Objective("clear the cache")),
            ("stop\nit", Form::Objective("stop\nit")),
            ("status\u{2003}", Form::Status),
            ("statuses", Form::Objective("statuses")),
            ("statusé x", Form::Objective("statusé x")),
            ("éé", Form::Objective("éé")),
            ("set stop", Form::Objective("stop")),
            ("SET  stop it ", Form::Objective("stop it")),
            ("-- status", Form::Objective("status")),
            ("set", Form::Bare),
            ("--", Form::Bare),
            ("--verbose output", Form::Objective("--verbose output")),
            (
                "\n\nImplement A\nand B",
                Form::Objective("Implement A\nand B"),
            ),
        ] {
            assert_eq!(parse(text), form, "{text:?}");
        }
    }

    #[test]
    fn a_file_is_named_only_by_the_whole_text() {
        for (text, path) in [
            ("@TASK.md", Some("TASK.md")),
            (" @docs/my task.md ", Some("docs/my task.md")),
            ("set @\"my task.md\"", Some("my task.md")),
            ("@", None),
            ("do @TASK.md", None),
            ("@a\n@b", None),
            ("TASK.md", None),
            ("pause", None),
        ] {
            assert_eq!(file_named(text), path, "{text:?}");
        }
    }
}
