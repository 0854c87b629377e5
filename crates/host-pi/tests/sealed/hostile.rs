//! Nothing of what a hostile command tries gets out of a seal; the same without a seal does.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::attempts::{ATTEMPTS, Attempt, Control, Effect};
use crate::world::{REACHED, Run, User, World, eventually, seals_work};

const ATTEMPTS_MIN: usize = 50;
/// After so many, what else gets out tells nothing more.
const ESCAPES_MAX: usize = 20;

type State = BTreeMap<PathBuf, String>;

#[test]
fn nothing_a_hostile_command_tries_gets_out_of_a_seal() {
    assert!(ATTEMPTS.len() >= ATTEMPTS_MIN);
    let escaped = for_each_user(|user| {
        if seals_work(user) {
            escapes(user)
        } else {
            Vec::new()
        }
    });
    assert!(
        escaped.is_empty(),
        "{} got out:\n{}",
        escaped.len(),
        escaped.join("\n")
    );
}

#[test]
fn each_attempt_has_its_effect_without_a_seal() {
    let harmless = for_each_user(harmless);
    assert!(
        harmless.is_empty(),
        "no effect even unsealed:\n{}",
        harmless.join("\n")
    );
}

/// Side by side: each user has a world of its own.
fn for_each_user(test: impl Fn(User) -> Vec<String> + Sync) -> Vec<String> {
    std::thread::scope(|scope| {
        let test = &test;
        let users = User::all().into_iter();
        let tests: Vec<_> = users.map(|user| scope.spawn(move || test(user))).collect();
        tests
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect()
    })
}

/// What got out of a seal.
fn escapes(user: User) -> Vec<String> {
    let mut escaped = Vec::new();
    // Nothing changes it, so one world serves all attempts.
    let mut world = World::new(user);
    let before = world.state();
    for attempt in ATTEMPTS {
        let seal = Some(attempt.options);
        let output = world.run(attempt.script, &Run { seal });
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!errors.contains("no seal:"), "{}: {errors}", attempt.name);
        for effect in effects(&mut world, &before, &said) {
            escaped.push(format!("{user:?}: {}: {effect}\n{errors}", attempt.name));
        }
        if escaped.len() >= ESCAPES_MAX {
            break;
        }
    }
    escaped
}

/// Attempts that do nothing even without a seal, so that a seal proves nothing against them.
fn harmless(user: User) -> Vec<String> {
    let mut harmless = Vec::new();
    let mut used: Option<(World, State)> = None;
    for attempt in ATTEMPTS {
        let Some(script) = control(attempt, user) else {
            continue;
        };
        let (mut world, before) = used.take().unwrap_or_else(|| {
            let world = World::new(user);
            let before = world.state();
            (world, before)
        });
        let output = world.run(script, &Run { seal: None });
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !has_effect(attempt.effect, &mut world, &before, &said) {
            let errors = String::from_utf8_lossy(&output.stderr);
            harmless.push(format!("{user:?}: {}: {errors}", attempt.name));
        }
        // A world that was only looked at serves the next attempt, too.
        if matches!(attempt.effect, Effect::Says | Effect::Call) && world.state() == before {
            used = Some((world, before));
        }
    }
    harmless
}

fn control(attempt: &Attempt, user: User) -> Option<&'static str> {
    match attempt.control {
        Control::Same => Some(attempt.script),
        Control::RootOnly => user.is_root().then_some(attempt.script),
        Control::Script(script) => Some(script),
        Control::Never => None,
    }
}

fn has_effect(effect: Effect, world: &mut World, before: &State, said: &str) -> bool {
    match effect {
        Effect::Files => world.state() != *before,
        Effect::Says => said.contains(REACHED),
        Effect::Process => eventually(|| !world.marked_processes().is_empty()),
        Effect::Victim => eventually(|| !world.victim_lives()),
        Effect::Call => world.was_called(),
    }
}

/// All effects, whatever an attempt aimed at.
fn effects(world: &mut World, before: &State, said: &str) -> Vec<String> {
    let mut found = Vec::new();
    let now = world.state();
    if now != *before {
        let differing = before.keys().chain(now.keys());
        let differing = differing.filter(|path| before.get(*path) != now.get(*path));
        let lines = differing.map(|path| {
            format!(
                "{}\n   was {:?}\n   is  {:?}",
                path.display(),
                before.get(path),
                now.get(path)
            )
        });
        found.push(format!("changed {}", lines.collect::<Vec<_>>().join("\n")));
    }
    if said.contains(REACHED) {
        found.push(format!("said {said}"));
    }
    if !world.no_marked_process() {
        found.push("left a process".to_owned());
    }
    if !world.victim_lives() {
        found.push("killed a process outside".to_owned());
    }
    if world.was_called() {
        found.push("called a server outside".to_owned());
    }
    found
}

/// The bomb's processes sleep: what is tried is the limit and the end, not the machine's patience.
#[test]
fn a_fork_bomb_meets_its_limit_and_leaves_nothing() {
    const BOMB: &str = "/usr/bin/python3 -c '
import os, time
count = 0
try:
    while count < 10000:
        if os.fork() == 0:
            time.sleep(300)
        count += 1
except OSError:
    print(count)
' $MARK";
    for_each_user(|user| {
        if !seals_work(user) {
            return Vec::new();
        }
        let world = World::new(user);
        let before = world.state();
        let output = world.run(BOMB, &Run { seal: Some(&[]) });
        let count = String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap_or(u64::MAX);
        assert!(
            (100..=goal_sandbox::PROCESSES_MAX).contains(&count),
            "{user:?} {output:?}"
        );
        assert!(world.no_marked_process());
        assert_eq!(world.state(), before);
        Vec::new()
    });
}

#[test]
fn a_log_that_output_goes_to_cannot_be_rewritten() {
    use std::fs::File;
    use std::process::Stdio;
    for user in User::all() {
        if !seals_work(user) {
            continue;
        }
        let world = World::new(user);
        let log = world.path("home/log");
        std::fs::write(&log, "earlier\n").unwrap();
        let open = || File::options().append(true).open(&log).unwrap();
        let mut command = user.command(world.program());
        command
            .args(["audit-exec", "--workspace"])
            .arg(world.path("work"));
        let script = ": > /proc/self/fd/1; : > /proc/self/fd/2; echo out; echo err >&2";
        command.args(["--", "sh", "-c", script]);
        world.surround(&mut command);
        let status = command
            .stdin(Stdio::null())
            .stdout(open())
            .stderr(open())
            .status();
        assert!(status.unwrap().success());
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("earlier\n"), "{text}");
        assert!(text.contains("out\n") && text.contains("err\n"), "{text}");
    }
}

/// With a terminal as its standard input, a command could type for the user after its end.
#[test]
fn a_terminal_cannot_be_typed_into() {
    const TYPE: &str = "import fcntl; fcntl.ioctl(0, 0x5412, b'x'); print('REA' + 'CHED')";
    let allowed = std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti");
    let allowed = allowed.unwrap_or_default().trim() != "0";
    for user in User::all() {
        if !seals_work(user) {
            continue;
        }
        let world = World::new(user);
        std::fs::write(world.path("home/type.py"), TYPE).unwrap();
        let in_terminal = |sealed: &str| {
            let mut command = user.command(std::path::Path::new("timeout"));
            let line = format!(
                "{sealed} /usr/bin/python3 {}",
                world.path("home/type.py").display()
            );
            command.args(["60", "script", "-qec", &line, "/dev/null"]);
            world.surround(&mut command);
            let output = command.output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(in_terminal("").contains(REACHED), allowed, "the control");
        let program = world.program().display();
        let workspace = world.path("work");
        let seal = format!(
            "{program} audit-exec --workspace {} --",
            workspace.display()
        );
        let said = in_terminal(&seal);
        assert!(!said.contains(REACHED) && said.contains("Error"), "{said}");
    }
}
