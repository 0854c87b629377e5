#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| goal_fuzz_targets::engine(data));
