//! The served reading tools: forms and limits of pi's, checked against what pi 1.6.0 printed for the
//! same calls on the same tree.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::path::Path;

use goal_sandbox::tools::{
    Answer, FindArgs, GrepArgs, LsArgs, ReadArgs, View, find, grep, ls, read,
};
use tempfile::TempDir;

struct Tree {
    folder: TempDir,
}

impl Tree {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn view(&self) -> View {
        View::new(self.path().to_owned(), None, &[self.path().join("hidden")])
    }

    fn read(&self, path: &str, offset: Option<f64>, limit: Option<f64>) -> Answer {
        let path = path.to_owned();
        read(
            &self.view(),
            &ReadArgs {
                path,
                offset,
                limit,
            },
        )
    }

    fn ls(&self, path: &str, limit: Option<f64>) -> Answer {
        let path = Some(path.to_owned());
        ls(&self.view(), &LsArgs { path, limit })
    }

    fn find(&self, pattern: &str, path: Option<&str>) -> Answer {
        let args = FindArgs {
            pattern: pattern.to_owned(),
            path: path.map(str::to_owned),
            limit: None,
        };
        find(&self.view(), &args)
    }

    fn grep(&self, change: impl FnOnce(&mut GrepArgs)) -> Answer {
        let mut args = GrepArgs {
            pattern: "needle".to_owned(),
            path: None,
            glob: None,
            ignore_case: false,
            literal: false,
            context: None,
            limit: None,
        };
        change(&mut args);
        grep(&self.view(), &args)
    }
}

fn ok(text: &str) -> Answer {
    Ok(text.to_owned())
}

fn error(text: impl Into<String>) -> Answer {
    Err(text.into())
}

#[test]
fn read_shows_text_as_it_is_and_says_what_is_left() {
    let tree = Tree::new(&[
        ("empty", b""),
        ("crlf", b"a\r\nb\r\n"),
        ("three", b"1\n2\n3"),
        ("sp ace's", b"q"),
        ("latin", b"caf\xe9\n"),
    ]);
    for (path, offset, limit, expected) in [
        ("empty", None, None, ok("")),
        ("crlf", None, None, ok("a\r\nb\r\n")),
        ("latin", None, None, ok("caf\u{fffd}\n")),
        ("sp ace's", None, None, ok("q")),
        ("three", Some(2.0), None, ok("2\n3")),
        (
            "three",
            None,
            Some(2.0),
            ok("1\n2\n\n[1 more lines in file. Use offset=3 to continue.]"),
        ),
        (
            "three",
            Some(2.0),
            Some(1.0),
            ok("2\n\n[1 more lines in file. Use offset=3 to continue.]"),
        ),
        (
            "three",
            None,
            Some(0.0),
            ok("\n\n[3 more lines in file. Use offset=1 to continue.]"),
        ),
        (
            "three",
            Some(4.0),
            None,
            error("Offset 4 is beyond end of file (3 lines total)"),
        ),
        (
            "crlf",
            Some(4.0),
            None,
            error("Offset 4 is beyond end of file (3 lines total)"),
        ),
        (
            ".",
            None,
            None,
            error("EISDIR: illegal operation on a directory, read"),
        ),
    ] {
        assert_eq!(
            tree.read(path, offset, limit),
            expected,
            "{path} {offset:?} {limit:?}"
        );
    }
    let nowhere = tree.path().join("nope");
    let expected = format!(
        "ENOENT: no such file or directory, access '{}'",
        nowhere.display()
    );
    assert_eq!(tree.read("nope", None, None), Err(expected));
}

#[test]
fn read_keeps_to_2000_lines_and_50_kilobytes() {
    let numbers = |count: u32| (1..=count).map(|n| format!("{n}\n")).collect::<String>();
    let long = format!("{}\nsecond\n", "x".repeat(60_000));
    let wide = format!("{}\n", "y".repeat(1_023)).repeat(60);
    let tree = Tree::new(&[
        ("exact", numbers(2_000).as_bytes()),
        ("many", numbers(5_000).as_bytes()),
        ("long", long.as_bytes()),
        ("wide", wide.as_bytes()),
    ]);
    assert_eq!(tree.read("exact", None, None), Ok(numbers(2_000)));
    let many = tree.read("many", None, None).unwrap();
    assert!(
        many.ends_with("\n2000\n\n[Showing lines 1-2000 of 5001. Use offset=2001 to continue.]")
    );
    let rest = tree.read("many", Some(4_000.0), None).unwrap();
    assert!(rest.starts_with("4000\n") && rest.ends_with("\n5000\n"));
    let expected =
        "[Line 1 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '1p' long | head -c 51200]";
    assert_eq!(tree.read("long", None, None), ok(expected));
    assert_eq!(tree.read("long", Some(2.0), None), ok("second\n"));
    let wide = tree.read("wide", None, None).unwrap();
    let notice = "\n\n[Showing lines 1-50 of 61 (50.0KB limit). Use offset=51 to continue.]";
    assert!(wide.ends_with(notice), "{}", &wide[wide.len() - 200..]);
}

#[test]
fn read_refuses_images_pipes_and_hidden_files() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    let tree = Tree::new(&[("a.png", png), ("hidden/key", b"secret")]);
    let image = tree.read("a.png", None, None).unwrap();
    assert!(image.starts_with("Read image file [image/png]\n[Image omitted"));
    let hidden = tree.read("hidden/key", None, None).unwrap_err();
    assert!(hidden.starts_with("Not shown to auditors: "), "{hidden}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("hidden", tree.path().join("door")).unwrap();
        assert!(
            tree.read("door/key", None, None)
                .unwrap_err()
                .starts_with("Not shown")
        );
        let pipe = tree.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        assert!(
            tree.read("pipe", None, None)
                .unwrap_err()
                .starts_with("Not a regular file")
        );
    }
}

#[test]
fn ls_sorts_as_pi_does_marks_folders_and_counts() {
    let names = [
        "b", "A", "_x", ".hid", "-y", "a1", "10", "9", "Zeta", "a b", "a.b", "a_b", "(p)", "~t",
        "#t",
    ];
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &b""[..])).collect();
    let tree = Tree::new(&files);
    fs::create_dir(tree.path().join("alpha")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", tree.path().join("dangling")).unwrap();
    let expected = "_x\n-y\n.hid\n(p)\n#t\n~t\n10\n9\nA\na b\na_b\na.b\na1\nalpha/\nb\nZeta";
    assert_eq!(tree.ls(".", None), ok(expected));
    let two = "_x\n-y\n\n[2 entries limit reached. Use limit=4 for more]";
    assert_eq!(tree.ls(".", Some(2.0)), ok(two));
    assert_eq!(tree.ls("alpha", None), ok("(empty directory)"));
    let file = tree.path().join("b");
    assert_eq!(
        tree.ls("b", None),
        error(format!("Not a directory: {}", file.display()))
    );
    let nowhere = tree.path().join("no");
    assert_eq!(
        tree.ls("no", None),
        error(format!("Path not found: {}", nowhere.display()))
    );
}

fn forest() -> Tree {
    Tree::new(&[
        (".git/HEAD", b"needle"),
        (".gitignore", b"ignored/\n*.log\n"),
        ("ignored/x.txt", b"needle"),
        ("z.log", b"needle"),
        (".dot/h.txt", b"needle\n"),
        ("a.txt", b"needle one\nfoo\nbar\nneedle two\n"),
        ("src/b.ts", b"const needle = 1;\r\nx\r\nNeedle\r\n"),
        ("src/deep/c.ts", b"x\n"),
        ("README.MD", b"Needle [x]\n"),
        ("binary", b"abc\0needle\n"),
        ("hidden/key.txt", b"needle"),
    ])
}

#[test]
fn find_matches_names_or_paths_and_respects_ignore_rules() {
    let tree = forest();
    for (pattern, path, expected) in [
        ("*.ts", None, "src/b.ts\nsrc/deep/c.ts"),
        ("*.txt", None, ".dot/h.txt\na.txt"),
        ("src/*.ts", None, "src/b.ts"),
        ("./src/**/*.ts", None, "src/b.ts\nsrc/deep/c.ts"),
        ("*.ts", Some("src"), "b.ts\ndeep/c.ts"),
        ("readme*", None, "README.MD"),
        ("README*", None, "README.MD"),
        ("Readme*", None, "No files found matching pattern"),
        ("src", None, "src/"),
        ("HEAD", None, "No files found matching pattern"),
        ("*.log", None, "No files found matching pattern"),
    ] {
        assert_eq!(
            tree.find(pattern, path),
            ok(expected),
            "{pattern} in {path:?}"
        );
    }
    assert!(
        tree.find("[", None)
            .unwrap_err()
            .contains("unclosed character class")
    );
    assert!(tree.find("*", Some("hidden")).is_err());
}

#[test]
fn grep_shows_matches_with_context_and_says_what_was_cut() {
    let tree = forest();
    let all = ".dot/h.txt:1: needle\na.txt:1: needle one\na.txt:4: needle two\nsrc/b.ts:1: const needle = 1;";
    assert_eq!(tree.grep(|_| ()), ok(all));
    let glob = |glob: &str| tree.grep(|args| args.glob = Some(glob.to_owned()));
    assert_eq!(glob("./src/*.ts"), ok("src/b.ts:1: const needle = 1;"));
    assert!(!glob("!*.ts").unwrap().contains("src/b.ts"));
    let in_file = |limit: f64, context: f64| {
        tree.grep(|args| {
            args.path = Some("a.txt".to_owned());
            (args.limit, args.context) = (Some(limit), Some(context));
        })
    };
    let notice = "\n\n[1 matches limit reached. Use limit=2 for more, or refine pattern]";
    assert_eq!(
        in_file(1.0, 0.0),
        ok(&format!("a.txt:1: needle one{notice}"))
    );
    let context = "a.txt:1: needle one\na.txt-2- foo\na.txt-3- bar\na.txt-4- needle two";
    assert_eq!(in_file(1.0, 3.0), ok(&format!("{context}{notice}")));
    assert_eq!(
        in_file(2.0, 0.0),
        ok("a.txt:1: needle one\na.txt:4: needle two")
    );
    let literal = tree.grep(|args| {
        (args.pattern, args.literal) = ("[x]".to_owned(), true);
    });
    assert_eq!(literal, ok("README.MD:1: Needle [x]"));
    let upper = tree.grep(|args| {
        (args.pattern, args.ignore_case) = ("^NEEDLE \\[".to_owned(), true);
    });
    assert_eq!(upper, ok("README.MD:1: Needle [x]"));
    let binary = tree.grep(|args| args.path = Some("binary".to_owned()));
    assert_eq!(binary, ok("binary:1: abc\0needle"));
    assert!(tree.grep(|args| args.pattern = "(".to_owned()).is_err());
    assert!(
        tree.grep(|args| args.path = Some("hidden/key.txt".to_owned()))
            .is_err()
    );
}

#[test]
fn grep_cuts_long_lines_and_long_outputs() {
    let long = format!("needle {}\n", "z".repeat(700));
    let many: String = (0..300)
        .map(|n| format!("needle {n} {}\n", "p".repeat(300)))
        .collect();
    let tree = Tree::new(&[("long", long.as_bytes()), ("many", many.as_bytes())]);
    let cut = tree
        .grep(|args| args.path = Some("long".to_owned()))
        .unwrap();
    assert!(cut.contains("zzz... [truncated]\n\n[Some lines truncated to 500 chars."));
    let all = tree.grep(|args| (args.path, args.limit) = (Some("many".to_owned()), Some(300.0)));
    assert!(all.unwrap().ends_with("\n\n[50.0KB limit reached]"));
}

#[cfg(unix)]
#[test]
fn hidden_files_stay_hidden_when_the_folder_is_reached_through_a_link() {
    let tree = forest();
    let door = tempfile::tempdir().unwrap();
    let cwd = door.path().join("door");
    std::os::unix::fs::symlink(tree.path(), &cwd).unwrap();
    let view = View::new(cwd, None, &[tree.path().join("hidden")]);
    let pattern = "*.txt".to_owned();
    let (path, limit) = (None, None);
    let found = find(
        &view,
        &FindArgs {
            pattern,
            path,
            limit,
        },
    );
    assert_eq!(found, ok(".dot/h.txt\na.txt"));
}
