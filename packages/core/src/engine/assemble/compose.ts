import type { Middleware } from "../../middleware/middleware.js";
import {
  checkActed,
  checkChunks,
  checkIncoming,
  checkNothing,
  checkPrompt,
  checkReasoned,
  checkReply,
  checkResult,
} from "./hook-results.js";
import { around, aroundStream, type HookName, type NamedHook, piped } from "./run-hook.js";

/** Runs `core` inside the hooks, the first of them outermost: each calls `next` for what is inside it. */
export function compose<S, R>(
  hooks: readonly ((step: S, next: () => R) => R)[],
  step: S,
  core: () => R,
): R {
  const run = (index: number): R => {
    const hook = hooks[index];
    return hook ? hook(step, () => run(index + 1)) : core();
  };
  return run(0);
}

/** The hooks of all middleware, by name, in order; each checks that its middleware keeps the contract. */
export type Hooks = { readonly [H in HookName]: readonly NonNullable<Middleware[H]>[] };

/** Sorts the hooks of `middleware` by name. */
export function collectHooks(middleware: readonly Middleware[]): Hooks {
  const pick = <H extends HookName>(
    name: H,
    checked: (hook: NamedHook<NonNullable<Middleware[H]>>) => NonNullable<Middleware[H]>,
  ) =>
    middleware.flatMap((one) => {
      const hook = one[name];
      if (!hook) return [];
      const run = hook.bind(one) as NonNullable<Middleware[H]>;
      return [checked({ middleware: one.name, name, run })];
    });
  return {
    onIncoming: pick("onIncoming", (hook) => piped(hook, checkIncoming)),
    onRun: pick("onRun", (hook) => around(hook, checkReply)),
    onCall: pick("onCall", (hook) => around(hook, checkReply)),
    onReasoning: pick("onReasoning", (hook) => around(hook, checkReasoned)),
    onModelCall: pick("onModelCall", (hook) => aroundStream(hook, checkChunks)),
    onActing: pick("onActing", (hook) => around(hook, checkActed)),
    onToolCall: pick("onToolCall", (hook) => around(hook, checkResult)),
    onToolResult: pick("onToolResult", (hook) =>
      piped(hook, (result, { step }) => checkResult(result, step)),
    ),
    onContextDrop: pick("onContextDrop", (hook) => around(hook, checkNothing)),
    onSystemPrompt: pick("onSystemPrompt", (hook) => piped(hook, checkPrompt)),
  };
}
