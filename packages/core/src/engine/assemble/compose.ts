import type { Middleware } from "../../middleware/middleware.js";

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

type HookName = Exclude<keyof Middleware, "name">;

/** The hooks of all middleware, by name, in order. */
export type Hooks = { readonly [H in HookName]: readonly NonNullable<Middleware[H]>[] };

/** Sorts the hooks of `middleware` by name. */
export function collectHooks(middleware: readonly Middleware[]): Hooks {
  const pick = <H extends HookName>(name: H) =>
    middleware.flatMap((one) => {
      const hook = one[name];
      return hook ? [hook.bind(one) as NonNullable<Middleware[H]>] : [];
    });
  return {
    onRun: pick("onRun"),
    onCall: pick("onCall"),
    onReasoning: pick("onReasoning"),
    onModelCall: pick("onModelCall"),
    onActing: pick("onActing"),
    onToolCall: pick("onToolCall"),
    onToolResult: pick("onToolResult"),
    onContextDrop: pick("onContextDrop"),
    onSystemPrompt: pick("onSystemPrompt"),
  };
}
