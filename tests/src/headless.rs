//! pi that runs once and ends: `pi -p` and `pi --mode json`.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::{World, patience, poll, report};

/// A pi that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit status; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Finished {
    /// The records of a `--mode json` run.
    pub fn records(&self) -> Vec<Value> {
        let lines = self.stdout.split('\n').filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_str(line).expect("stdout is JSON lines"))
            .collect()
    }
}

impl World {
    /// Runs pi to its end: `world.headless(&["-p", "/goal fix it"])`. Panics, with a report, if it
    /// does not end in time.
    pub fn headless(&self, arguments: &[&str]) -> Finished {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().expect("the pinned Node starts");
        let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let code = wait(&mut child);
        if code.is_none() {
            let _ = child.kill();
            let _ = child.wait();
        }
        // A process that pi left behind may hold the pipes open, so only a pi that ended is read.
        let Some(code) = code else {
            panic!(
                "pi {arguments:?} does not end\n{}",
                report::of(self, &[], "")
            );
        };
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        Finished {
            code,
            stdout,
            stderr,
        }
    }
}

impl World {
    /// Runs `pi --mode json …` to its end and shows each record as it comes.
    pub fn stream(&self, arguments: &[&str], mut show: impl FnMut(&Value)) -> Finished {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the pinned Node starts");
        let stderr = reader(child.stderr.take());
        let mut stdout = String::new();
        let lines = BufReader::new(child.stdout.take().expect("the stream is piped"));
        for line in lines.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            if let Ok(record) = serde_json::from_str(&line) {
                show(&record);
            }
            stdout.push_str(&line);
            stdout.push('\n');
        }
        let code = child.wait().expect("pi is our child").code();
        Finished {
            code,
            stdout,
            stderr: stderr.join().expect("reading does not panic"),
        }
    }
}

/// Waits for the end; the outer `None` means that it did not come.
fn wait(child: &mut Child) -> Option<Option<i32>> {
    let status = poll(patience(), || child.try_wait().expect("pi is our child"))?;
    Some(status.code())
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    let mut pipe = pipe.expect("the stream is piped");
    let read = move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    std::thread::Builder::new()
        .spawn(read)
        .expect("a thread starts")
}
