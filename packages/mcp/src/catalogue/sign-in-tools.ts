import { type Tool, type ToolCallContext, tool } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";

import type { ServerSettings } from "../options/server-settings.js";

/** Connects to a server on behalf of a session; asks a person to sign in first. */
export type SignIn = (settings: ServerSettings, ctx: ToolCallContext) => Promise<unknown>;

/** Tools with which a model lets a person sign in at servers whose tools are not known yet. */
export class SignInTools {
  readonly #signIn: SignIn;
  readonly #made = new Map<string, Tool>();
  #offered: readonly Tool[] = [];
  #before: readonly Tool[] = [];
  #all: readonly Tool[] = [];

  constructor(signIn: SignIn) {
    this.#signIn = signIn;
  }

  /** Offers one tool for each of these servers. */
  offer(servers: readonly ServerSettings[]): void {
    const offered = servers.map((settings) => this.#tool(settings));
    const isSame = offered.every((one, index) => one === this.#offered[index]);
    if (isSame && offered.length === this.#offered.length) return;
    this.#offered = offered;
    this.#all = [...this.#before, ...offered];
  }

  /** Returns `tools` and these behind them; the same array as long as nothing changes. */
  after(tools: readonly Tool[]): readonly Tool[] {
    if (this.#offered.length === 0) return tools;
    if (tools !== this.#before) {
      this.#before = tools;
      this.#all = [...tools, ...this.#offered];
    }
    return this.#all;
  }

  #tool(settings: ServerSettings): Tool {
    const known = this.#made.get(settings.name);
    if (known) return known;
    const made = tool({
      name: `${settings.name}_authorize`,
      description: `Asks the user to sign in at the server ${settings.name}. Its tools are offered afterwards.`,
      input: s.object({}),
      group: settings.group?.name,
      timeoutMs: settings.maxTimeoutMs,
      execute: (_, ctx) => this.#signIn(settings, ctx),
    });
    this.#made.set(settings.name, made);
    return made;
  }
}
