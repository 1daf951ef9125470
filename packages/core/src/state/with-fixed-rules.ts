import { InvalidInputError } from "../errors/errors.js";
import type { AgentState } from "./agent-state.js";
import type { PermissionContext } from "./sections.js";

/**
 * Returns the same state as tools see it: they cannot change what tools may do. Everything else can be read and written
 * through it.
 */
export function withFixedRules(state: AgentState): AgentState {
  return new Proxy(state, {
    get(target, key) {
      if (key === "permissionContext") return frozenRules(target.permissionContext);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    set(target, key, value) {
      if (key === "permissionContext")
        throw new InvalidInputError(
          "a tool cannot change permissionContext; use agent.setPermissionMode, or a person's answer with remember",
        );
      return Reflect.set(target, key, value, target);
    },
  });
}

function frozenRules({ allow, deny, ask, ...rest }: PermissionContext): PermissionContext {
  const list = <T extends object>(items: readonly T[]): readonly T[] =>
    Object.freeze(items.map((item) => Object.freeze({ ...item })));
  return Object.freeze({
    ...rest,
    workingDirectories: Object.freeze([...rest.workingDirectories]),
    allow: list(allow),
    deny: list(deny),
    ask: list(ask),
  });
}
