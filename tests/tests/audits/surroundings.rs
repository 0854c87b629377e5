//! What an audit has around it: its prompt and tools, the shell's environment, models and keys.

use goal_tests::{AUDITOR, EXECUTOR, Pi, PiOptions, Reply, Script, Steps};
use serde_json::json;

use crate::court::{Court, OBJECTIVE, approve, claim, look, options, work};

fn claims_and_ends() -> Steps {
    Steps::of([claim("done")]).then_repeat(Reply::text("Done."))
}

/// An extension that changes all it can, and ends the process where an auditor's session loads it:
/// such a session has no file.
const MEDDLING: &str = r#"
import { appendFileSync } from "node:fs";
export default function (pi) {
  appendFileSync(`${process.env.HOME}/loaded`, "once\n");
  pi.registerTool({ name: "quartz_tool", label: "Q", description: "QUARTZ tool", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [], details: undefined }) });
  pi.on("before_agent_start", (event) => ({ systemPrompt: `${event.systemPrompt}\nQUARTZ from an extension` }));
  pi.on("agent_end", (_event, ctx) => { if (!ctx.sessionManager.getSessionFile()) setTimeout(() => process.exit(0), 50); });
}"#;

#[test]
fn the_auditor_has_a_prompt_and_tools_of_its_own_and_nothing_of_the_host_or_the_project() {
    let agent_dir = "../home/.pi/agent";
    let skill = "---\nname: quartz\ndescription: QUARTZ skill\n---\nQUARTZ";
    let court = Court::of(
        options(json!({}))
            .setting("defaultProjectTrust", json!("always"))
            .extra_extension("meddling", MEDDLING)
            .file("AGENTS.md", "QUARTZ from AGENTS.md")
            .file(".pi/APPEND_SYSTEM.md", "QUARTZ from the project")
            .file(".pi/skills/quartz/SKILL.md", skill)
            .file(".pi/prompts/auditor.md", "QUARTZ prompt")
            .file(
                ".pi/goal-auditor.json",
                r#"{"provider":"sim","model":"executor"}"#,
            )
            .file(&format!("{agent_dir}/AGENTS.md"), "QUARTZ from the user")
            .file(&format!("{agent_dir}/APPEND_SYSTEM.md"), "QUARTZ appended"),
    );
    let trial = court.judge(claims_and_ends(), [look(), approve()]);
    assert_eq!(trial.outcomes(), ["approved"]);

    // The host does load them; so the auditor could have.
    let hosts = trial.executor[0].system_text();
    assert!(hosts.contains("QUARTZ from AGENTS.md"), "{hosts}");
    assert!(hosts.contains("QUARTZ skill"), "{hosts}");
    for request in &trial.auditor {
        let all = String::from_utf8_lossy(&request.raw);
        assert!(!all.contains("QUARTZ"), "{all}");
        let system = request.system_text();
        assert!(
            system.starts_with("You are an independent auditor."),
            "{system}"
        );
        let mut tools = request.tool_names();
        tools.sort_unstable();
        assert_eq!(tools, ["bash", "find", "grep", "ls", "read"]);
    }
    let loaded = std::fs::read_to_string(court.pi.world().home().join("loaded")).unwrap();
    assert_eq!(loaded, "once\n");
    court.pi.state(); // It lives.
}

#[test]
fn the_auditors_shell_has_no_secrets_and_lets_git_write_nothing_on_the_side() {
    let secrets = [
        ("OPENAI_API_KEY", "s3cret"),
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("GH_TOKEN", "s3cret"),
        ("GITHUB_PAT", "s3cret"),
        ("DB_PASSWORD", "s3cret"),
        ("SSH_AUTH_SOCK", "/run/s3cret"),
        ("DATABASE_URL", "postgres://s3cret"),
        ("UPSTREAM", "https://user:s3cret@example.org/"),
    ];
    let plain = [
        ("GIT_AUTHOR_NAME", "pl4in"),
        ("XAUTHORITY", "/pl4in"),
        ("MIRROR", "https://pl4in.example.org:8080/"),
    ];
    let both = secrets.iter().chain(&plain);
    let options = both.fold(options(json!({})), |options, (name, value)| {
        options.env(name, *value)
    });
    let env = || Reply::call("bash", json!({ "command": "env" }));
    let court = Court::of(options);
    let trial = court.judge(
        Steps::of([env(), claim("done")]).then_repeat(Reply::text("Done.")),
        [env(), approve()],
    );

    let hosts = trial.executor[1].last_of("tool").unwrap();
    let auditors = trial.auditor[1].last_of("tool").unwrap();
    for (name, value) in secrets {
        let line = format!("{name}={value}");
        assert!(hosts.contains(&line), "the control: {line}");
        assert!(!auditors.contains(name), "{name} in {auditors}");
    }
    assert!(!auditors.contains("s3cret"), "{auditors}");
    for (name, value) in plain {
        assert!(auditors.contains(&format!("{name}={value}")), "{auditors}");
    }
    assert!(auditors.contains("GIT_OPTIONAL_LOCKS=0"), "{auditors}");
}

#[test]
fn a_key_from_the_command_line_is_the_auditors_too() {
    let court = Court::of(
        options(json!({}))
            .flag("--provider")
            .flag("sim")
            .flag("--model")
            .flag("executor")
            .flag("--api-key")
            .flag("from-the-command-line"),
    );
    let trial = court.judge(claims_and_ends(), [look(), approve()]);
    assert_eq!(trial.outcomes(), ["approved"]);
    for request in trial.executor.iter().chain(&trial.auditor) {
        let key = request.authorization.as_deref();
        assert_eq!(
            key,
            Some("Bearer from-the-command-line"),
            "{}",
            request.model
        );
    }
}

/// A provider that only an extension knows, and that speaks to the scripted models.
const BORROWED: &str = r#"
import { readFileSync } from "node:fs";
export default function (pi) {
  const { baseUrl } = JSON.parse(readFileSync(`${process.env.PI_CODING_AGENT_DIR}/models.json`, "utf8")).providers.sim;
  const model = (id) => ({ id, name: id, reasoning: false, input: ["text"], contextWindow: 128000, maxTokens: 4096,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } });
  pi.registerProvider("borrowed", { baseUrl, api: "openai-completions", apiKey: "borrowed-key",
    models: [model("executor"), model("auditor")] });
}"#;

#[test]
fn a_provider_of_another_extension_audits_whether_named_or_the_hosts_own() {
    let named = options(json!({ "provider": "borrowed", "model": "" }))
        .extra_extension("borrowed", BORROWED);
    let court = Court::of(named);
    let trial = court.judge(claims_and_ends(), [look(), approve()]);
    assert_eq!(trial.outcomes(), ["approved"]);
    assert_eq!(trial.audits[0]["model"], "borrowed/auditor");
    let key = trial.auditor[0].authorization.as_deref();
    assert_eq!(key, Some("Bearer borrowed-key"));
    trial.notice("Only the auditor's provider is set");

    let unset = options(json!({}))
        .no_config()
        .extra_extension("borrowed", BORROWED)
        .flag("--model")
        .flag("borrowed/executor");
    let court = Court::of(unset);
    let of_both = Steps::of([claim("done"), look(), approve()]).then_repeat(Reply::text("Done."));
    let trial = court.judge(of_both, []);
    assert_eq!(trial.outcomes(), ["approved"]);
    assert_eq!(trial.audits[0]["model"], "borrowed/executor");
    assert!(trial.notice("Goal set").contains("the agent's own model"));
}

/// A model that hands each request on to another one.
const ROUTING: &str = r#"
export default function (pi) {
  pi.registerVirtualModel({ provider: "router", id: "auto", name: "Auto",
    route: (_request, ctx) => ({ model: ctx.modelRegistry.find("sim", "executor"), thinkingLevel: "off" }) });
}"#;

#[test]
fn a_virtual_model_of_the_host_audits_through_the_model_behind_it() {
    let options = options(json!({}))
        .no_config()
        .extra_extension("routing", ROUTING)
        .flag("--model")
        .flag("router/auto");
    let of_both = Steps::of([claim("done"), look(), approve()]).then_repeat(Reply::text("Done."));
    let trial = Court::of(options).judge(of_both, []);
    assert_eq!(trial.outcomes(), ["approved"]);
    assert_eq!(trial.audits[0]["model"], "router/auto");
}

#[test]
fn the_auditor_thinks_as_hard_as_it_is_set_or_as_the_host_does() {
    for (settings, level) in [
        (json!({ "thinkingLevel": "HIGH" }), "high"),
        (json!({}), "low"),
    ] {
        let court = Court::of(
            options(settings)
                .reasoning()
                .setting("defaultThinkingLevel", json!("low")),
        );
        let trial = court.judge(claims_and_ends(), [look(), approve()]);
        assert_eq!(trial.outcomes(), ["approved"]);
        assert_eq!(trial.executor[0].json["reasoning_effort"], "low");
        assert_eq!(trial.auditor[0].json["reasoning_effort"], level);
        assert_eq!(trial.audits[0]["thinkingLevel"], level);
        assert_eq!(trial.audits[0]["gate"]["thinkingLevel"], level);
    }
}

#[test]
fn the_gate_stays_as_it_was_when_the_executor_changes_the_settings() {
    let script = Script::new().model("cheap", [look(), approve()]);
    let config =
        json!({ "provider": "sim", "model": "cheap", "maxEmptyContinuations": 1, "maxAudits": 9 });
    let change = Reply::call(
        "bash",
        json!({ "command": format!("echo '{config}' > \"$PI_CODING_AGENT_DIR/goal-auditor.json\"") }),
    );
    let settings = json!({ "provider": "sim", "model": "auditor", "maxEmptyContinuations": 1 });
    let options = PiOptions::new(script)
        .config(settings)
        .file("out.txt", "hello");
    let court = Court::of(options);
    let trial = court.judge(
        Steps::of([change, claim("one"), Reply::text("So.")]).then_repeat(Reply::text("I wait.")),
        [look(), Reply::text("Not yet.\n<disapproved/>")],
    );
    assert_eq!(trial.audits[0]["model"], "sim/auditor");
    assert_eq!(trial.audits[0]["gate"]["maxAudits"], 20);
    assert_eq!(trial.stands(), "paused(no_progress)");
    let notice = trial.notice("settings of goal-auditor were changed");
    assert!(notice.contains("/goal resume"), "{notice}");

    let pi = &court.pi;
    pi.server().set(EXECUTOR, claims_and_ends());
    let mark = pi.prompt("/goal resume");
    pi.wait_notice(mark, "Goal complete");
    pi.settled_quiet(mark);
    let session = pi.session();
    let last = session.audits()[1];
    assert_eq!(last["model"], "sim/cheap");
    assert_eq!(last["gate"]["maxAudits"], 9);
    assert_eq!(last["number"], 2, "over the goal's whole life");
    assert_eq!(pi.server().requests_of(AUDITOR).len(), 2);
}

#[test]
fn a_goal_keeps_the_auditor_it_began_with_when_the_user_changes_the_model() {
    let court = Court::of(options(json!({})).no_config());
    let change = json!({ "type": "set_model", "provider": "sim", "modelId": "auditor" });
    let trial = court.judge_meanwhile(
        OBJECTIVE,
        [work().held("changed"), look(), approve()],
        // From the change on this is the agent's model.
        Steps::of([claim("done")]).then_repeat(Reply::text("Done.")),
        |pi, _| {
            pi.wait_request(EXECUTOR, 1);
            pi.command(change);
            pi.server().release("changed");
        },
    );
    assert_eq!(trial.outcomes(), ["approved"]);
    assert_eq!(trial.audits[0]["model"], "sim/executor");
    let notice = trial.notice("auditor stays sim/executor");
    assert!(notice.contains("/goal resume"), "{notice}");
}

/// Two models with the same name.
const TWINS: &str = r#"
export default function (pi) {
  for (const provider of ["left", "right"]) {
    pi.registerProvider(provider, { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", apiKey: "x",
      models: [{ id: `${provider}-one`, name: "Twin", reasoning: false, input: ["text"], contextWindow: 128000,
        maxTokens: 4096, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }] });
  }
}"#;

/// The goal is refused in these words, the text goes back, and nothing was begun.
fn assert_refused(pi: &Pi, words: &str) {
    let typed = format!("/goal {OBJECTIVE}");
    let mark = pi.prompt(&typed);
    let notice = pi.wait_notice(mark, words);
    assert_eq!(notice.level, "error", "{notice:?}");
    let back = |record: &serde_json::Value| record["method"] == "set_editor_text";
    let back = pi.wait_for(mark, "the text typed", back);
    assert_eq!(back["text"], typed);
    pi.quiet(goal_tests::pi::QUIET);
    assert!(pi.server().requests().is_empty(), "{words}");
    assert_eq!(pi.session().phase(), "nothing saved", "{words}");
}

#[test]
fn a_goal_without_a_usable_auditor_is_refused_with_the_way_on_and_nothing_typed_is_lost() {
    let options = || PiOptions::new(Script::new()).no_config();
    let pi = Pi::start(options().extra_extension("twins", TWINS));
    let settings = pi.world().agent_dir().join("goal-auditor.json");
    for (config, words) in [
        (json!({ "model": "auditr" }), "The nearest is \"auditor\""),
        (json!({ "model": "Twin" }), "left/left-one, right/right-one"),
        (
            json!({ "provider": "sim", "model": "nobody" }),
            "sim/nobody",
        ),
        (json!({ "provider": "nowhere", "model": "x" }), "nowhere"),
        (json!({ "provider": "nowhere" }), "/login"),
    ] {
        std::fs::write(&settings, config.to_string()).unwrap();
        assert_refused(&pi, words);
    }
    // No model at all: pi names a placeholder then.
    let no_models = r#"{"providers":{}}"#;
    let pi = Pi::start(options().file("../home/.pi/agent/models.json", no_models));
    assert_refused(&pi, "/model");
}
