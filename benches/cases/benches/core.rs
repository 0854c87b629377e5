//! The core's parts under criterion, for whoever changes one of them: each run is compared with the one before.
//! The tables of `docs/performance.md` are of `cargo xtask bench`, where programs of other languages take turns.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use goal_bench_cases::running::Running;
use goal_bench_cases::{session, text};

/// The size of the texts, in bytes.
const TEXT_BYTES: usize = 16 * 1024;
/// The records of the session.
const RECORDS: usize = 1_000;

fn verdicts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parser");
    for family in text::ANSWERS {
        let text = (family.make)(TEXT_BYTES);
        group.throughput(Throughput::Bytes(text.len() as u64));
        let id = BenchmarkId::from_parameter(family.name);
        group.bench_with_input(id, &text, |bench, text| {
            bench.iter(|| goal_parser::parse_verdict(black_box(text)));
        });
    }
}

fn engine_steps(criterion: &mut Criterion) {
    let mut running = Running::new();
    criterion.bench_function("engine/a tool call", |bench| bench.iter(|| running.call()));
    criterion.bench_function("engine/an iteration", |bench| {
        bench.iter(|| running.iterate());
    });
    let mut audit = running.claim();
    criterion.bench_function("engine/a check of an auditor", |bench| {
        bench.iter(|| audit.check(&mut running));
    });
}

fn sessions(criterion: &mut Criterion) {
    let line = session::line(RECORDS);
    criterion.bench_function("session/opened", |bench| {
        bench.iter(|| session::open(black_box(&line)));
    });
    let records = session::records(RECORDS);
    criterion.bench_function("session/what its records say", |bench| {
        bench.iter_batched(
            || records.clone(),
            |records| session::read(&records),
            BatchSize::LargeInput,
        );
    });
}

fn wire(criterion: &mut Criterion) {
    let line = session::settling_line(&text::repeat("x", 2_000));
    criterion.bench_function("wire/the line of a settle boundary", |bench| {
        bench.iter(|| session::event_of(black_box(&line)));
    });
}

criterion_group!(core, verdicts, engine_steps, sessions, wire);
criterion_main!(core);
