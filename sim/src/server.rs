//! The OpenAI-compatible endpoint that plays a [`Script`].
//!
//! The server runs on a thread of its own, so that tests can stay plain blocking code. It listens on
//! the loopback address only and knows two paths: `/v1/models` and `/v1/chat/completions`.
#![allow(
    clippy::disallowed_methods,
    reason = "the one module of this crate that lives in real time: it stamps requests and waits for them"
)]

mod sse;
mod stream;

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use tokio::sync::{Notify, oneshot};

use crate::{Reply, Request, Script, Steps};

/// A running model server; dropping it closes every connection.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// One request together with what became of it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// What was asked.
    pub request: Arc<Request>,
    /// What the script answered.
    pub reply: Reply,
    /// How far the answer got.
    pub fate: Fate,
    /// When it ended, since the server started; `None` while it is open.
    pub ended: Option<Duration>,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Being answered.
    Open,
    /// Answered as the script says (a broken connection may be what it says).
    Finished,
    /// The client went away before the end.
    ClientLeft,
}

/// What was waited for did not happen in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("waited {waited:?} for {what}; {seen} requests so far")]
pub struct WaitError {
    /// What was waited for.
    pub what: String,
    /// How long.
    pub waited: Duration,
    /// How many requests had arrived by then.
    pub seen: usize,
}

/// What the handlers and the owner of the server share.
struct Shared {
    started: Instant,
    state: Mutex<Log>,
    /// Woken after every change of `state`, for blocking waiters.
    changed: Condvar,
    /// Woken after every released gate, for answers that wait at one.
    released: Notify,
}

struct Log {
    script: Script,
    exchanges: Vec<Exchange>,
    open_gates: BTreeSet<String>,
}

impl ModelServer {
    /// Starts on a free port.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_on(0, script)
    }

    /// Starts on the given port of the loopback address; 0 takes a free one.
    pub fn start_on(port: u16, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(script));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let app = app(Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("model-server".to_owned())
            .spawn(move || {
                runtime.block_on(serve(listener, app, stopped));
            })?;
        Ok(Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The URL for `baseUrl` in pi's `models.json`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Blocks until the server ends, which it does only when its process is ended. For programs
    /// that are nothing but a model server.
    pub fn serve_for_ever(mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic of the server thread has been printed by then; there is nothing to add.
            let _ = thread.join();
        }
    }

    /// This moment by the clock that stamps requests and answers.
    pub fn now(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// All exchanges so far, in order of arrival.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.lock().exchanges.clone()
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.shared
            .lock()
            .exchanges
            .iter()
            .map(|e| Arc::clone(&e.request))
            .collect()
    }

    /// The requests of one model that consumed a step; requests for a summary are left out.
    pub fn requests_of(&self, model: &str) -> Vec<Arc<Request>> {
        requests_of(&self.shared.lock().exchanges, model)
            .cloned()
            .collect()
    }

    /// pi's requests for a summary.
    pub fn compactions(&self) -> Vec<Arc<Request>> {
        let mut requests = self.requests();
        requests.retain(|request| request.is_compaction());
        requests
    }

    /// Waits for the `nth` request (from 1) of a model that consumes a step.
    pub fn wait_for_request(
        &self,
        model: &str,
        nth: usize,
        timeout: Duration,
    ) -> Result<Arc<Request>, WaitError> {
        self.wait_until(
            &format!("request {nth} of model {model}"),
            timeout,
            |exchanges| {
                requests_of(exchanges, model)
                    .nth(nth.checked_sub(1)?)
                    .cloned()
            },
        )
    }

    /// Waits until the client has left the exchange with this number.
    pub fn wait_until_left(&self, number: usize, timeout: Duration) -> Result<(), WaitError> {
        self.wait_until(
            &format!("the client to leave request {number}"),
            timeout,
            |exchanges| {
                let exchange = exchanges.get(number.checked_sub(1)?)?;
                (exchange.fate == Fate::ClientLeft).then_some(())
            },
        )
    }

    /// Waits until `find` finds something among the exchanges. It is asked again after every
    /// arrival and every end of an exchange, and must not call the server.
    pub fn wait_until<T>(
        &self,
        what: &str,
        timeout: Duration,
        mut find: impl FnMut(&[Exchange]) -> Option<T>,
    ) -> Result<T, WaitError> {
        let deadline = Instant::now() + timeout;
        let mut log = self.shared.lock();
        loop {
            if let Some(found) = find(&log.exchanges) {
                return Ok(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seen = log.exchanges.len();
                return Err(WaitError {
                    what: what.to_owned(),
                    waited: timeout,
                    seen,
                });
            }
            let woken = self.shared.changed.wait_timeout(log, left);
            log = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Lets every answer go on that waits at `gate`, now or later.
    pub fn release(&self, gate: &str) {
        self.shared.lock().open_gates.insert(gate.to_owned());
        self.shared.released.notify_waiters();
    }

    /// Adds one answer to the end of a model's list.
    pub fn push(&self, model: &str, reply: Reply) {
        self.shared.lock().script.push(model, reply);
    }

    /// Replaces the answers to pi's requests for a summary.
    pub fn set_compaction(&self, steps: impl Into<Steps>) {
        self.shared.lock().script.set_compaction(steps.into());
    }

    /// Replaces the answers of a model.
    pub fn set(&self, model: &str, steps: impl Into<Steps>) {
        self.shared.lock().script.set(model, steps.into());
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // An error means that the server has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn new(script: Script) -> Self {
        let log = Log {
            script,
            exchanges: Vec::new(),
            open_gates: BTreeSet::new(),
        };
        Self {
            started: Instant::now(),
            state: Mutex::new(log),
            changed: Condvar::new(),
            released: Notify::new(),
        }
    }

    /// A chooser that panics poisons the lock; what was recorded is still what a report must show.
    fn lock(&self) -> MutexGuard<'_, Log> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and takes its answer from the script.
    fn accept(&self, mut request: Request) -> (usize, Reply) {
        let mut log = self.lock();
        request.number = log.exchanges.len() + 1;
        request.nth = log.script.taken(&request.model) + 1;
        let reply = log.script.answer(&request);
        let number = request.number;
        let request = Arc::new(request);
        log.exchanges.push(Exchange {
            request,
            reply: reply.clone(),
            fate: Fate::Open,
            ended: None,
        });
        drop(log);
        self.changed.notify_all();
        (number, reply)
    }

    fn close(&self, number: usize, fate: Fate) {
        let now = self.started.elapsed();
        if let Some(exchange) = self.lock().exchanges.get_mut(number - 1) {
            exchange.fate = fate;
            exchange.ended = Some(now);
        }
        self.changed.notify_all();
    }

    async fn wait_at(&self, gate: &str) {
        loop {
            let released = self.released.notified();
            if self.lock().open_gates.contains(gate) {
                return;
            }
            released.await;
        }
    }
}

fn requests_of<'a>(
    exchanges: &'a [Exchange],
    model: &'a str,
) -> impl Iterator<Item = &'a Arc<Request>> {
    let of_model = exchanges.iter().filter(move |e| e.request.model == model);
    of_model
        .filter(|e| !e.request.is_compaction())
        .map(|e| &e.request)
}

async fn serve(listener: TcpListener, app: Router, stopped: oneshot::Receiver<()>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    // An answer is many small writes: without this, each may wait until the client, forty
    // milliseconds later, says that it has the one before.
    let listener = listener.tap_io(|connection| {
        // A connection that is gone already fails by itself.
        let _ = connection.set_nodelay(true);
    });
    // Either the owner stops us or its sender is gone with it; both mean the end. `axum::serve`
    // itself never returns an error.
    tokio::select! {
        _ = axum::serve(listener, app) => {}
        _ = stopped => {}
    }
}

fn app(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(completions))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}

async fn models(State(shared): State<Arc<Shared>>) -> Response {
    let log = shared.lock();
    sse::json(200, &sse::model_list(log.script.model_ids()))
}

async fn completions(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut request = Request::parse(body.to_vec(), shared.started.elapsed());
    let authorization = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    request.authorization = authorization.map(str::to_owned);
    let model = request.model.clone();
    let (number, reply) = shared.accept(request);
    stream::answer(stream::Answer::new(shared, number, model), reply).await
}
