//! A whole life of a goal, in the simulator.

use goal_sim::entropy::{Source, Tapes};
use goal_sim::plan::Profile;
use goal_sim::{Options, run};

/// The bytes are all the chance of one run: settings and models, when things happen, what goes wrong,
/// what is said, dealt out in turn. Whatever they are:
///
/// * the run comes to an end, and no promise of the simulator's checkers is broken;
/// * the bytes that were drawn give the same run again.
pub fn engine(bytes: &[u8]) {
    let lived = run(
        &Source::Bytes(Tapes::dealt(bytes)),
        Profile::Swarm,
        &Options::default(),
    );
    assert_eq!(lived.failure, None);
    let again = run(
        &Source::Bytes(lived.drawn),
        Profile::Swarm,
        &Options::default(),
    );
    assert_eq!(again.digest, lived.digest);
}
