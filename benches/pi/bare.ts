/** The cheapest loop that pi has: a few words at the end of each run, and the next one begins. It decides nothing. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function bare(pi: ExtensionAPI): void {
  pi.on("agent_before_settle", (event) => {
    if (event.outcome !== "completed") return undefined;
    const entry = { type: "custom_message" as const, customType: "bare", content: "Go on.", display: true };
    return { entries: [...event.entries, entry], continue: true };
  });
}
