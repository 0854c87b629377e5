//! A trace that somebody recorded.

use goal_protocol::trace::{Part, Replay, TraceError, diff, replay};

/// The bytes are a trace. Whatever is in it:
///
/// * it is replayed as far as it goes, or an error says why not;
/// * it counts no more than its lines, and is the same at the second time;
/// * what is found in it can be told, and written as JSON;
/// * a trace that can be read does not differ from itself.
pub fn trace(bytes: &[u8]) {
    let replayed = replay(bytes);
    match &replayed {
        Ok(replay) => can_be_told(replay, bytes),
        Err(error) => has_words(error),
    }
    let again = replay(bytes);
    assert_eq!(again.ok(), replayed.as_ref().ok().cloned());
    match diff(bytes, bytes) {
        Ok(difference) => assert_eq!(difference, None),
        Err(differing) => has_words(&differing.error),
    }
}

fn can_be_told(replay: &Replay, bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    assert!(replay.events < lines, "{replay:?}");
    // What differs ends the replay, so how the trace ends is not known then.
    assert!(
        replay.end.is_none() == replay.difference.is_some(),
        "{replay:?}"
    );
    if let Some(difference) = &replay.difference {
        let panicked = difference.part == Part::Panic;
        assert!(
            panicked || difference.expected != difference.got,
            "{difference:?}"
        );
        assert!(!difference.words("recorded", "now").is_empty());
    }
    assert!(serde_json::to_string(replay).is_ok());
}

fn has_words(error: &TraceError) {
    assert!(!error.to_string().is_empty());
}
