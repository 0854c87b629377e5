//! Scripted models for goal-auditor.
//!
//! A [`Script`] says what each model answers, step by step. [`ModelServer`] plays it behind an
//! OpenAI-compatible endpoint, so that the real pi can be driven without a real model, and records
//! every request. A [`Scenario`] is a script one can read: a TOML file with an objective, the steps
//! of the models, what user and host do, and the [`GoalEvent`]s that are expected. What its models
//! do to files is computable: see [`workspace`].
//!
//! Beside that it is the simulator: [`run`] drives the engine that ships through one hostile history
//! after the other, with a fake host, a virtual clock and checkers for every promise.
//!
//! Only [`server`] knows sockets, tokio and the passing of time; everything else here is plain data.

pub mod campaign;
pub(crate) mod check;
pub mod entropy;
pub mod explore;
pub mod fixture;
pub mod gate;
pub mod goal_event;
pub mod marks;
pub mod models;
pub mod plan;
pub mod play;
pub mod reply;
pub mod request;
pub mod scenario;
pub mod script;
pub mod seen;
pub mod server;
pub mod shrink;
pub mod workspace;

pub use goal_event::GoalEvent;
pub mod style;
pub mod table;
pub mod trace;
mod world;

pub use check::Failure;
pub use reply::{Drip, End, Hold, Reply, ToolCall, Usage};
pub use request::{Message, Request};
pub use scenario::{Observed, Scenario, ScenarioError};
pub use script::{AUDITOR, EXECUTOR, Script, Steps};
pub use server::{Exchange, Fate, ModelServer, WaitError};
pub use workspace::Workspace;
pub use world::{Options, Outcome, run};
