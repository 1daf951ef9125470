import { longestTimerMs } from "@holdfast/core/store-kit";
import type { AskingCall } from "./asking-call.js";

/** Calls of one agent whose question stays open at the server at the same time. */
const maxHeld = 64;

/** Keeps calls whose server waits for a person's answer: so many, and so long. What is not kept is called anew. */
export class HeldCalls {
  readonly #calls = new Map<string, { call: AskingCall; timer: NodeJS.Timeout }>();

  /** Keeps a call for `ms`; when there are too many, the oldest is ended. */
  hold(key: string, call: AskingCall, ms: number): void {
    this.take(key)?.end();
    const timer = setTimeout(() => this.take(key)?.end(), Math.min(ms, longestTimerMs)).unref();
    this.#calls.set(key, { call, timer });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > maxHeld && oldest !== undefined) this.take(oldest)?.end();
  }

  /** Returns a call and keeps it no longer. */
  take(key: string): AskingCall | undefined {
    const held = this.#calls.get(key);
    clearTimeout(held?.timer);
    this.#calls.delete(key);
    return held?.call;
  }

  /** Ends all calls. */
  close(): void {
    for (const key of [...this.#calls.keys()]) this.take(key)?.end();
  }
}
