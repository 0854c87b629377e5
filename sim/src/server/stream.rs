//! Plays one answer: pauses, pieces, and the many ways to end badly.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::sse::{self, Chunks};
use super::{Fate, Shared};
use crate::{Drip, End, Hold, Reply};

/// The pause between two chunks of an endless answer that does not name one: fast enough for a
/// test, slow enough not to fill a disk.
const ENDLESS_PAUSE_MS: u64 = 10;

/// Time for what was written to leave before the connection is broken on purpose.
const FLUSH: Duration = Duration::from_millis(5);

type Sender = mpsc::Sender<io::Result<Bytes>>;

/// The client has gone away: the answer ends here.
struct Left;

/// One exchange being answered. Dropped unfinished, it was left by the client.
pub(super) struct Answer {
    shared: Arc<Shared>,
    number: usize,
    chunks: Chunks,
    finished: bool,
}

impl Answer {
    pub(super) fn new(shared: Arc<Shared>, number: usize, model: String) -> Self {
        Self {
            shared,
            number,
            chunks: Chunks::new(number, model),
            finished: false,
        }
    }

    fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let fate = if self.finished {
            Fate::Finished
        } else {
            Fate::ClientLeft
        };
        self.shared.close(self.number, fate);
    }
}

/// Answers a request as `reply` says.
pub(super) async fn answer(answer: Answer, reply: Reply) -> Response {
    if let Some(status) = reply.status {
        // hyper drops this future when the client leaves, and `answer` with it.
        wait_before_start(&answer, &reply).await;
        answer.finish();
        return sse::refusal(status, &reply.body);
    }
    let (sender, mut receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        if play(&answer, &reply, &sender).await.is_ok() {
            answer.finish();
        }
    });
    let chunks = stream::poll_fn(move |context| receiver.poll_recv(context));
    sse::respond(200, "text/event-stream", Body::from_stream(chunks))
}

async fn wait_before_start(answer: &Answer, reply: &Reply) {
    if reply.delay_ms > 0 {
        sleep(Duration::from_millis(reply.delay_ms)).await;
    }
    if let Some(Hold::Start(gate)) = &reply.hold {
        answer.shared.wait_at(gate).await;
    }
}

async fn play(answer: &Answer, reply: &Reply, sender: &Sender) -> Result<(), Left> {
    while_listening(sender, wait_before_start(answer, reply)).await?;
    send_content(&answer.chunks, reply, sender).await?;
    if let Some(Hold::BeforeEnd(gate)) = &reply.hold {
        while_listening(sender, answer.shared.wait_at(gate)).await?;
    }
    send_end(&answer.chunks, reply, sender).await
}

async fn send_content(chunks: &Chunks, reply: &Reply, sender: &Sender) -> Result<(), Left> {
    send(sender, chunks.role()).await?;
    for piece in pieces(&reply.thinking, reply.drip) {
        send_slowly(sender, chunks.thinking(&piece), reply.drip).await?;
    }
    for piece in pieces(&reply.whole_text(), reply.drip) {
        send_slowly(sender, chunks.text(&piece), reply.drip).await?;
    }
    for (index, call) in reply.calls.iter().enumerate() {
        send(sender, chunks.call_start(index, &call.name)).await?;
        for piece in pieces(&call.arguments, reply.drip) {
            send_slowly(sender, chunks.call_arguments(index, &piece), reply.drip).await?;
        }
    }
    Ok(())
}

async fn send_end(chunks: &Chunks, reply: &Reply, sender: &Sender) -> Result<(), Left> {
    if let Some(reason) = reply.finish_reason() {
        send(sender, chunks.finish(reason)).await?;
        send(sender, chunks.usage(reply.usage)).await?;
        return send(sender, sse::DONE).await;
    }
    match reply.end {
        End::Stall => {
            sender.closed().await;
            Err(Left)
        }
        End::Endless => talk_for_ever(chunks, reply, sender).await,
        End::Drop => {
            sleep(FLUSH).await;
            let broken = io::Error::other("the script drops the stream here");
            sender.send(Err(broken)).await.map_err(|_| Left)
        }
        End::Close | End::Natural | End::Length | End::ContentFilter | End::Reason(_) => Ok(()),
    }
}

async fn talk_for_ever(chunks: &Chunks, reply: &Reply, sender: &Sender) -> Result<(), Left> {
    let pause_ms = reply.drip.map_or(ENDLESS_PAUSE_MS, |drip| drip.pause_ms);
    let text = if reply.text.is_empty() {
        "and so on "
    } else {
        &reply.text
    };
    loop {
        send(sender, chunks.text(text)).await?;
        while_listening(sender, sleep(Duration::from_millis(pause_ms))).await?;
    }
}

async fn send_slowly(sender: &Sender, chunk: Bytes, drip: Option<Drip>) -> Result<(), Left> {
    send(sender, chunk).await?;
    let Some(drip) = drip else { return Ok(()) };
    while_listening(sender, sleep(Duration::from_millis(drip.pause_ms))).await
}

async fn send(sender: &Sender, chunk: Bytes) -> Result<(), Left> {
    sender.send(Ok(chunk)).await.map_err(|_| Left)
}

/// Waits for `wait`, but no longer than the client does.
async fn while_listening(sender: &Sender, wait: impl Future<Output = ()>) -> Result<(), Left> {
    tokio::select! {
        () = wait => Ok(()),
        () = sender.closed() => Err(Left),
    }
}

/// Cuts text into the asked number of chunks, on character boundaries. Empty text has none.
fn pieces(text: &str, drip: Option<Drip>) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let chars: Vec<char> = text.chars().collect();
    let chunks = drip.map_or(1, |drip| drip.chunks.max(1));
    chars
        .chunks(chars.len().div_ceil(chunks))
        .map(|piece| piece.iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_text_and_cut_between_characters() {
        let text = "häßlich 👩‍💻 ok";
        for chunks in 1..20 {
            let cut = pieces(
                text,
                Some(Drip {
                    chunks,
                    pause_ms: 0,
                }),
            );
            assert!(cut.len() <= chunks);
            assert_eq!(cut.concat(), text);
        }
        assert!(pieces("", None).is_empty());
    }
}
