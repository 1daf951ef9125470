import {
  type Component,
  Container,
  isKeyRelease,
  matchesKey,
  ProcessTerminal,
  TUI,
} from "@earendil-works/pi-tui";
import type { PickItem } from "../commands/slash-command.js";
import { ChatEditor } from "../input/chat-editor.js";
import { ChoiceDialog } from "../input/choice-dialog.js";
import { Picker } from "../input/picker.js";
import { TextDialog } from "../input/text-dialog.js";
import type { ChoiceQuestion, Chosen, TextQuestion } from "../questions/questioner.js";
import { Transcript } from "../view/transcript.js";
import { Activity, FRAME_MS } from "./activity.js";
import type { StatusBar } from "./status-bar.js";
import type { Theme } from "./theme.js";
import { WaitingMessages } from "./waiting-messages.js";

/** Least time between two drawings of what arrives; keys are shown at once. */
const DRAW_MS = 125;

/** Callbacks of a screen. */
export interface ScreenEvents {
  onSubmit(text: string): void;
  /** Tab: what is typed is to be sent after the running turn. */
  onQueue(text: string): void;
  onEscape(): void;
  onCtrlC(): void;
  /** Ctrl-D with nothing typed. */
  onLeave(): void;
  /** The terminal was closed. */
  onGone(): void;
}

/** Open dialog in place of the input. */
interface Dialog {
  readonly component: Component;
  cancel(): void;
}

/** Chat on a terminal: the conversation, below it what is going on, the input and the status. Only lines that change are drawn. */
export class Screen {
  readonly transcript: Transcript = new Transcript();
  readonly activity: Activity;
  readonly waiting: WaitingMessages;
  readonly editor: ChatEditor;
  readonly #theme: Theme;
  readonly #events: ScreenEvents;
  readonly #tui = new TUI(new ProcessTerminal());
  readonly #bottom = new Container();
  readonly #status: StatusBar;
  readonly #onGone = (): void => this.#events.onGone();
  readonly #onContinue = (): void => this.#wake();
  #dialog: Dialog | null = null;
  #drawTimer: NodeJS.Timeout | undefined;
  #drawnAt = 0;
  #ticker: NodeJS.Timeout | undefined;

  constructor(theme: Theme, status: StatusBar, events: ScreenEvents) {
    this.#theme = theme;
    this.#status = status;
    this.#events = events;
    this.activity = new Activity(theme, "Esc interrupts");
    this.waiting = new WaitingMessages(theme);
    this.editor = new ChatEditor(this.#tui, theme);
    this.editor.onSubmit = (text) => events.onSubmit(text);
    for (const part of [this.transcript, this.waiting, this.activity, this.#bottom])
      this.#tui.addChild(part);
    this.#tui.addInputListener((data) => (this.#key(data) ? { consume: true } : undefined));
  }

  /** Height of the window. */
  get rows(): number {
    return this.#tui.terminal.rows;
  }

  /** A question is open. */
  get isAsking(): boolean {
    return this.#dialog !== null;
  }

  /** Begins to draw and to read keys. */
  start(): void {
    for (const name of ["end", "close", "error"]) process.stdin.on(name, this.#onGone);
    process.on("SIGCONT", this.#onContinue);
    this.#showInput();
    this.#tui.start();
    this.#ticker = setInterval(() => {
      if (!this.activity.isOn) return;
      this.activity.tick();
      this.changed();
    }, FRAME_MS);
  }

  /** Draws the conversation a last time, without the input, and gives the terminal back. */
  async close(): Promise<void> {
    clearInterval(this.#ticker);
    clearTimeout(this.#drawTimer);
    process.off("SIGCONT", this.#onContinue);
    for (const name of ["end", "close", "error"]) process.stdin.off(name, this.#onGone);
    // A closed terminal is noticed again when its modes are restored.
    process.stdin.on("error", () => undefined);
    this.activity.end();
    this.#bottom.clear();
    this.#tui.setFocus(null);
    this.#tui.requestRender();
    // The library draws in a later turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 40));
    this.#tui.stop();
  }

  /** Draws what has changed, soon. */
  changed(): void {
    if (this.#drawTimer !== undefined) return;
    const wait = Math.max(0, this.#drawnAt + DRAW_MS - Date.now());
    this.#drawTimer = setTimeout(() => {
      this.#drawTimer = undefined;
      this.#drawnAt = Date.now();
      this.#tui.requestRender();
    }, wait);
  }

  /** Asks with a few answers. */
  choose(question: ChoiceQuestion): Promise<Chosen | null> {
    return this.#open<Chosen>(
      (done) => new ChoiceDialog(this.#theme, question, () => this.rows, done),
    );
  }

  /** Asks for a text. */
  ask(prompt: string, question: TextQuestion = {}): Promise<string | null> {
    return this.#open<string>(
      (done) => new TextDialog(this.#tui, this.#theme, prompt, question, done),
    );
  }

  /** Lets a person pick. */
  pick(title: string, items: readonly PickItem[]): Promise<string | null> {
    return this.#open<string>((done) => new Picker(this.#theme, title, items, done));
  }

  /** Ends the open question without an answer. @returns whether there was one */
  cancel(): boolean {
    const dialog = this.#dialog;
    dialog?.cancel();
    return dialog !== null;
  }

  #open<T>(create: (done: (answer: T | null) => void) => Component): Promise<T | null> {
    this.cancel();
    return new Promise((resolve) => {
      const done = (answer: T | null): void => {
        if (this.#dialog?.component !== component) return;
        this.#dialog = null;
        this.#showInput();
        resolve(answer);
      };
      const component = create(done);
      this.#dialog = { component, cancel: () => done(null) };
      this.#show(component);
    });
  }

  #showInput(): void {
    this.#show(this.editor);
  }

  #show(component: Component): void {
    this.#bottom.clear();
    this.#bottom.addChild(component);
    this.#bottom.addChild(this.#status);
    this.#tui.setFocus(component);
    this.#tui.requestRender();
  }

  /** @returns whether the key is done with */
  #key(data: string): boolean {
    if (isKeyRelease(data)) return false;
    if (matchesKey(data, "ctrl+c")) this.#events.onCtrlC();
    else if (matchesKey(data, "ctrl+z")) this.#suspend();
    else if (matchesKey(data, "ctrl+l")) this.#tui.requestRender(true);
    else if (matchesKey(data, "ctrl+o")) {
      this.transcript.toggle();
      this.#tui.requestRender();
    } else if (matchesKey(data, "ctrl+d") && (this.isAsking || this.editor.getText() === ""))
      this.#events.onLeave();
    else return this.#dialog === null && this.#inputKey(data);
    return true;
  }

  #inputKey(data: string): boolean {
    if (matchesKey(data, "ctrl+r")) void this.#searchHistory();
    else if (this.editor.isShowingAutocomplete()) return false;
    else if (matchesKey(data, "escape")) this.#events.onEscape();
    else if (matchesKey(data, "tab") && this.activity.isOn && this.editor.getText().trim() !== "") {
      const text = this.editor.getExpandedText().trim();
      this.editor.setText("");
      this.#events.onQueue(text);
    } else return false;
    return true;
  }

  async #searchHistory(): Promise<void> {
    const items = this.editor.sent.map((text) => ({ value: text, label: text })).reverse();
    const picked = items.length === 0 ? null : await this.pick("Messages you sent", items);
    if (picked !== null) this.editor.setText(picked);
  }

  #suspend(): void {
    // Windows has no job control.
    if (process.platform === "win32") return;
    this.#tui.stop();
    process.kill(0, "SIGTSTP");
  }

  #wake(): void {
    this.#tui.start();
    this.#tui.requestRender(true);
  }
}
