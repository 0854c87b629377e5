//! The trace of a session: a file with all that the engine is told and answers, if the settings name a
//! folder for it. What goes wrong with it is said once and changes nothing else.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use goal_engine::{Clocks, Effect, Event, Settings};
use goal_protocol::trace::{Recorder, Recording, TRACE_MAX_BYTES};

/// A trace, wanted or not.
pub(crate) enum Trace {
    /// None is written.
    Off,
    /// The settings ask for one; it begins with the first event, so that a core to which nothing
    /// happens leaves no file.
    Wanted(Box<Order>),
    /// It is being written.
    On {
        recorder: Recorder<File>,
        file: PathBuf,
    },
}

/// What a trace begins with.
pub(crate) struct Order {
    /// The folder, as the settings name it.
    folder: String,
    /// The settings that the engine was made with.
    settings: Settings,
}

impl Trace {
    /// The trace of an engine that was just made with these settings.
    pub(crate) fn new(folder: Option<&str>, settings: &Settings) -> Self {
        folder.map_or(Self::Off, |folder| {
            Self::Wanted(Box::new(Order {
                folder: folder.to_owned(),
                settings: settings.clone(),
            }))
        })
    }

    /// Writes nothing from now on.
    pub(crate) fn stop(&mut self) {
        *self = Self::Off;
    }

    /// An event is about to be given to the engine.
    ///
    /// # Errors
    /// What the user should know: there will be no trace, and why.
    pub(crate) fn event(
        &mut self,
        clocks: Clocks,
        event: &Event,
        agent_dir: Option<&Path>,
        workspace: Option<&Path>,
    ) -> Result<(), String> {
        if let Self::Wanted(order) = self {
            match order.begin(clocks, agent_dir, workspace) {
                Ok(on) => *self = on,
                Err(why) => {
                    let text = format!("no trace is written to {}: {why}", order.folder);
                    self.stop();
                    return Err(text);
                }
            }
        }
        if let Self::On { recorder, .. } = self {
            recorder.event(clocks, event);
        }
        Ok(())
    }

    /// These are the effects of that event.
    ///
    /// # Errors
    /// What the user should know: the trace has ended, and why.
    pub(crate) fn effects(&mut self, effects: &[Effect]) -> Result<(), String> {
        let Self::On { recorder, file } = self else {
            return Ok(());
        };
        let why = match recorder.effects(effects) {
            Ok(Recording::GoesOn) => return Ok(()),
            Ok(Recording::Full) => format!("it has {} MiB", TRACE_MAX_BYTES >> 20),
            Err(error) => error.to_string(),
        };
        let text = format!("the trace {} ends here: {why}", file.display());
        self.stop();
        Err(text)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // A core that panics leaves the event it died of as the last line.
        if !std::thread::panicking()
            && let Self::On { recorder, .. } = self
        {
            recorder.end();
        }
    }
}

impl Order {
    fn begin(
        &self,
        clocks: Clocks,
        agent_dir: Option<&Path>,
        workspace: Option<&Path>,
    ) -> Result<Trace, String> {
        let folder = folder_of(&self.folder, agent_dir)?;
        // Audits look whether the workspace changes, and would find that it does.
        if inside(&folder, workspace) && !inside(&folder, agent_dir) {
            return Err(
                "that is inside the workspace, which must stand still while it is audited; \
                        choose a folder outside"
                    .to_owned(),
            );
        }
        let file = folder.join(file_name(clocks));
        let out = create(&folder, &file).map_err(|error| error.to_string())?;
        let version = env!("CARGO_PKG_VERSION");
        let recorder = Recorder::start(out, &self.settings, version, TRACE_MAX_BYTES)
            .map_err(|error| error.to_string())?;
        Ok(Trace::On { recorder, file })
    }
}

/// The folder that the settings mean: `~/` is the home folder, and what is relative is so to pi's
/// agent folder, because the working folder is another one every day.
pub(crate) fn folder_of(setting: &str, agent_dir: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(rest) = setting.strip_prefix("~/") {
        let home = std::env::home_dir().ok_or("the home folder is not known")?;
        return Ok(home.join(rest));
    }
    let path = Path::new(setting);
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    let agent_dir = agent_dir.ok_or("it is relative to pi's agent folder, which is not known")?;
    Ok(agent_dir.join(path))
}

/// Whether a path, existing or not, leads into a folder.
fn inside(path: &Path, folder: Option<&Path>) -> bool {
    let Some(folder) = folder.and_then(|folder| folder.canonicalize().ok()) else {
        return false;
    };
    let real = path.ancestors().find_map(|part| part.canonicalize().ok());
    real.is_some_and(|real| real.starts_with(folder))
}

/// `trace-2026-11-30T19-30-00-123Z-4242.jsonl`: sorted by time, and unique on this machine.
fn file_name(clocks: Clocks) -> String {
    let moment = UNIX_EPOCH + Duration::from_millis(clocks.wall.0.min(LAST_MOMENT_MS));
    let moment = humantime::format_rfc3339_millis(moment).to_string();
    let moment = moment.replace([':', '.'], "-");
    format!("trace-{moment}-{}.jsonl", std::process::id())
}

/// The last second of the year 9999; later ones have no common notation.
const LAST_MOMENT_MS: u64 = 253_402_300_799_000;

/// A new file for this user alone: what is in it was said in private.
fn create(folder: &Path, file: &Path) -> io::Result<File> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        builder.mode(0o700);
        options.mode(0o600);
    }
    if !folder.is_dir() {
        builder.create(folder)?;
    }
    options.open(file)
}
