import type { JsonObject } from "../json/json.js";
import { checkedSection, readHead, type StateHead, writeHead, writeSections } from "./head.js";
import { restoreBadSections, restoreExtensions } from "./restore-sections.js";
import { openSections, sectionProblem } from "./section-checks.js";

/** The part of a state that is not its context: sections that are checked when they are set, and put back as a whole. */
export abstract class StateSections {
  readonly #head: StateHead;

  protected constructor(head: StateHead) {
    this.#head = head;
  }

  /** The sections as they are kept. */
  protected get ownHead(): StateHead {
    return this.#head;
  }

  get sessionId(): string {
    return this.#head.sessionId;
  }

  /** `null` for an anonymous session. */
  get userId(): string | null {
    return this.#head.userId;
  }

  /** Fields of a newer release, kept as they are. */
  get unknownFields(): JsonObject {
    return this.#head.unknown;
  }

  get permissionContext(): StateHead["permissionContext"] {
    return this.#head.permissionContext;
  }
  set permissionContext(value: StateHead["permissionContext"]) {
    this.#head.permissionContext = checkedSection("permissionContext", value);
  }

  get planModeContext(): StateHead["planModeContext"] {
    return this.#head.planModeContext;
  }
  set planModeContext(value: StateHead["planModeContext"]) {
    this.#head.planModeContext = checkedSection("planModeContext", value);
  }

  get tasksContext(): StateHead["tasksContext"] {
    return this.#head.tasksContext;
  }
  set tasksContext(value: StateHead["tasksContext"]) {
    this.#head.tasksContext = checkedSection("tasksContext", value);
  }

  get toolContext(): StateHead["toolContext"] {
    return this.#head.toolContext;
  }
  set toolContext(value: StateHead["toolContext"]) {
    this.#head.toolContext = checkedSection("toolContext", value);
  }

  /** Plugin state by plugin name; plugins reach theirs through `host.state`. */
  get extensions(): StateHead["extensions"] {
    return this.#head.extensions;
  }
  set extensions(value: StateHead["extensions"]) {
    this.#head.extensions = checkedSection("extensions", value);
  }

  /** Unanswered tool calls of the last assistant message. */
  get openCalls(): StateHead["openCalls"] {
    return this.#head.openCalls;
  }
  set openCalls(value: StateHead["openCalls"]) {
    this.#head.openCalls = checkedSection("openCalls", value);
  }

  /** Questions of unanswered tool calls. Kept by the engine. */
  get questions(): StateHead["questions"] {
    return this.#head.questions;
  }

  /** True when a graceful shutdown cut the last call short; the next call resumes it. */
  get shutdownInterrupted(): boolean {
    return this.#head.shutdownInterrupted;
  }
  set shutdownInterrupted(value: boolean) {
    this.#head.shutdownInterrupted = checkedSection("shutdownInterrupted", value);
  }

  /** Records of calls in the head, newest last. Kept by the engine where the store keeps none beside it. */
  get finishedCalls(): StateHead["finishedCalls"] {
    return this.#head.finishedCalls;
  }
  set finishedCalls(value: StateHead["finishedCalls"]) {
    this.#head.finishedCalls = value;
  }

  /** The run whose step saves these are, until it ends. Kept by the engine. */
  get unfinishedRun(): StateHead["unfinishedRun"] {
    return this.#head.unfinishedRun;
  }
  set unfinishedRun(value: StateHead["unfinishedRun"]) {
    this.#head.unfinishedRun = value;
  }

  /** Revisions that ends in the log named and that this state goes back to. Kept by the engine. */
  get lastEnds(): StateHead["lastEnds"] {
    return this.#head.lastEnds;
  }
  set lastEnds(value: StateHead["lastEnds"]) {
    this.#head.lastEnds = value;
  }

  /** The last run, when it ended without a reply and may be continued. Kept by the engine. */
  get resumableRun(): StateHead["resumableRun"] {
    return this.#head.resumableRun;
  }
  set resumableRun(value: StateHead["resumableRun"]) {
    this.#head.resumableRun = value;
  }

  /**
   * The document without its messages, as a store keeps it: a frozen copy.
   *
   * @param sections - what {@link sections} returned, to be put in as it was then
   * @throws InvalidInputError when something in it cannot be kept as JSON
   */
  head(sections?: JsonObject): JsonObject {
    return writeHead(this.#head, sections);
  }

  /**
   * Frozen copies of the sections that tools, hooks, guards and programs write. Used by the engine.
   *
   * @throws InvalidInputError when one of them cannot be stored
   */
  sections(): JsonObject {
    return writeSections(this.#head);
  }

  /** Puts the head back to what {@link head} returned earlier; messages stay. Used by the engine to take a call back. */
  restoreHead(head: JsonObject): void {
    Object.assign(this.#head, readHead(JSON.parse(JSON.stringify(head))));
  }

  /**
   * Puts sections that cannot be stored back to what they were in `base`.
   *
   * @param base - what {@link head} returned earlier
   * @returns names of what was put back
   */
  restoreBadSections(base: JsonObject): string[] {
    return restoreBadSections(this.#head, readHead(JSON.parse(JSON.stringify(base))));
  }

  /** Puts the sections that tools, hooks and plugins write back to `base`; all, or only the states of some plugins. */
  restoreSections(base: JsonObject, plugins?: readonly string[]): void {
    const before = readHead(JSON.parse(JSON.stringify(base)));
    if (plugins) restoreExtensions(this.#head, before, plugins);
    else for (const name of openSections) Object.assign(this.#head, { [name]: before[name] });
  }

  /** Returns the problem of a section that does not have its form, or null. Costs less than {@link head}. */
  sectionProblem(): string | null {
    for (const name of openSections) {
      const problem = sectionProblem(name, this.#head[name]);
      if (problem !== null) return `state.${problem}`;
    }
    return null;
  }
}
