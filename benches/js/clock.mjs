/** Takes the time of an operation inside this process: what it costs to ask for it is not in the figure. */

/** Nanoseconds a call, over as many calls as fill `ms`. */
export function perCall(operation, ms) {
  const enough = ms * 1e6;
  for (let calls = 1; ; calls *= 2) {
    const began = process.hrtime.bigint();
    for (let call = 0; call < calls; call += 1) sink = operation();
    const took = Number(process.hrtime.bigint() - began);
    if (took >= enough) return took / calls;
  }
}

/** Where results go, so that no call is left out for want of a use. */
export let sink;

/** Answers each line of standard input with a line of JSON. */
export function serve(answer) {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (data) => {
    const lines = (rest + data).split("\n");
    rest = lines.pop();
    for (const line of lines) process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
  });
}
