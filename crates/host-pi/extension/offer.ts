/** The choice of ways on in the terminal. What is offered, and when, the core decides; here it waits for a quiet moment. */
import { decodeKittyPrintable, getKeybindings, isKeyRelease, parseKey } from "@earendil-works/pi-tui";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { EffectWire, WayOnWire } from "./wire.ts";

export type Offer = Extract<EffectWire, { type: "offer" }>;

/** Who pressed a key less than this ago is in the middle of something. */
const QUIET_MS = 500;
/** The keys of pi's list; any other is meant for the editor. */
const LIST_KEYS = ["tui.select.up", "tui.select.down", "tui.select.confirm", "tui.select.cancel", "app.tools.expand"] as const;

/** A bracketed paste begins. */
const PASTE = "\u001b[200~";

/** What has to be known about the terminal before something takes the editor's place. */
export interface Surroundings {
  /** The editor has the keys: no dialog or menu is open. */
  editorHasFocus(): boolean;
  /** An extension waits for an answer. */
  prompting(): boolean;
}

/** Not a report of the terminal's own: its size, its focus, the mouse. */
function isKey(data: string): boolean {
  return !isKeyRelease(data) && (isText(data) || parseKey(data) !== undefined);
}

/** Typed or pasted. */
function isText(data: string): boolean {
  return data >= " " || data.startsWith(PASTE) || decodeKittyPrintable(data) !== undefined;
}

/** At most one choice at a time. It never costs the user a key: typing closes it and goes into the editor. */
export class Offers {
  readonly #around: Surroundings;
  #pressed = Number.NEGATIVE_INFINITY;
  #open: { ticket: number; closing: AbortController } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Shows the choice once no key was pressed for a moment; `answer` comes once, or never if it is withdrawn. */
  make(offer: Offer, ctx: ExtensionContext, answer: (way: WayOnWire) => void): void {
    this.close();
    const closing = new AbortController();
    this.#open = { ticket: offer.ticket, closing };
    this.#whenQuiet(() => void this.#show(offer, ctx, closing, answer));
  }

  withdraw(ticket: number): void {
    if (this.#open?.ticket === ticket) this.close();
  }

  /** Nobody is told: the core knows, or is gone. */
  close(): void {
    clearTimeout(this.#timer);
    const { closing } = this.#open ?? {};
    this.#open = undefined;
    closing?.abort();
  }

  /** A key, before anybody acts on it. One that is not the list's closes the list first, and so reaches the editor. */
  key(data: string): void {
    if (!isKey(data)) return;
    this.#pressed = performance.now();
    if (isText(data) || !LIST_KEYS.some((key) => getKeybindings().matches(data, key))) this.#open?.closing.abort();
  }

  #whenQuiet(then: () => void): void {
    const wait = this.#pressed + QUIET_MS - performance.now();
    if (wait <= 0) then();
    else this.#timer = setTimeout(() => this.#whenQuiet(then), wait);
  }

  async #show(offer: Offer, ctx: ExtensionContext, closing: AbortController, answer: (way: WayOnWire) => void): Promise<void> {
    const chosen = await this.#ask(offer, ctx, closing.signal).catch(() => undefined);
    if (this.#open?.closing !== closing) return; // Withdrawn.
    this.#open = undefined;
    answer(offer.options.find((option) => option.label === chosen)?.way ?? "not_now");
  }

  async #ask({ title, options }: Offer, ctx: ExtensionContext, signal: AbortSignal): Promise<string | undefined> {
    const free = !signal.aborted && !this.#around.prompting() && this.#around.editorHasFocus();
    if (!free || ctx.ui.getEditorText() !== "") return undefined; // The notice names the ways on as well.
    return ctx.ui.select(title, options.map((option) => option.label), { signal });
  }
}
