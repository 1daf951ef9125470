import { InvalidInputError } from "../../errors/errors.js";
import { StateConflictError } from "../../errors/store-errors.js";
import type { JsonValue } from "../../json/json.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import type { AgentState } from "../../state/agent-state.js";
import { rulesProblem } from "../../state/section-checks.js";
import { isSameRule, type PermissionRule, type RememberedRule } from "../../state/sections.js";
import type { AgentParts } from "../assemble/agent-parts.js";

/** Source of rules in the state that a person chose to remember. */
const REMEMBERED = "remembered";
/** Key of a user's rules in their namespace. */
const KEY = "allow";
/** Most rules remembered for one session, and for one user. */
const MAX_RULES = 1_000;
/** Attempts at a write that writes of others come before. */
const ATTEMPTS = 20;

/**
 * Rules that people chose to remember: those of a session in its state, those of a user in the key-value store.
 *
 * Contract: only a person's answer and the program's own calls write them; tools cannot.
 */
export class RememberedRules {
  readonly #keyValue: AgentParts["keyValue"];
  readonly #slot: Slot;
  readonly #state: AgentState;
  #ofUser: Promise<readonly PermissionRule[]> | undefined;

  constructor({ keyValue }: Pick<AgentParts, "keyValue">, slot: Slot, state: AgentState) {
    this.#keyValue = keyValue;
    this.#slot = slot;
    this.#state = state;
  }

  /** Returns all rules; the user's are read once. */
  async all(): Promise<readonly RememberedRule[]> {
    this.#ofUser ??= this.#readUser().then(({ rules }) => rules);
    const named = (rules: readonly PermissionRule[], scope: RememberedRule["scope"]) =>
      rules.map(({ tool, pattern }) => ({
        tool,
        ...(pattern !== undefined && { pattern }),
        scope,
      }));
    return [...named(this.#ofSession(), "session"), ...named(await this.#ofUser, "user")];
  }

  /**
   * Adds rules, each once.
   *
   * @throws InvalidInputError for too many rules, and for `"user"` in a session without a userId
   */
  async add(rules: readonly PermissionRule[], scope: RememberedRule["scope"]): Promise<void> {
    await this.#change(scope, (known) => [
      ...known,
      ...rules.filter((rule) => !known.some((kept) => isSameRule(kept, rule))),
    ]);
  }

  /** Removes the rules that `isForgotten` selects, and returns their number. */
  async remove(
    scope: RememberedRule["scope"],
    isForgotten: (rule: PermissionRule) => boolean,
  ): Promise<number> {
    if (scope === "user" && this.#slot.userId === null) return 0;
    return this.#change(scope, (known) => known.filter((rule) => !isForgotten(rule)));
  }

  /** @returns the number of rules removed */
  async #change(
    scope: RememberedRule["scope"],
    edit: (known: readonly PermissionRule[]) => readonly PermissionRule[],
  ): Promise<number> {
    if (scope === "user") return this.#changeUser(edit);
    const known = this.#ofSession();
    const rules = this.#checked(edit(known), scope);
    const { permissionContext } = this.#state;
    const others = permissionContext.allow.filter(({ source }) => source !== REMEMBERED);
    const kept = rules.map(({ tool, pattern }) => stored(tool, pattern));
    permissionContext.allow = [...others, ...kept];
    return known.length - rules.length;
  }

  async #changeUser(
    edit: (known: readonly PermissionRule[]) => readonly PermissionRule[],
  ): Promise<number> {
    if (this.#slot.userId === null)
      throw new InvalidInputError(
        `remember: ${describeSlot(this.#slot)} has no userId, so that a rule can be remembered for the session only`,
      );
    for (let attempt = 1; ; attempt++) {
      const { rules: known, version } = await this.#readUser();
      const rules = this.#checked(edit(known), "user");
      if (rules.length === known.length) return 0;
      const value = rules.map(({ tool, pattern }) => ({
        tool,
        ...(pattern !== undefined && { pattern }),
      }));
      try {
        await this.#keyValue.put(this.#namespace, KEY, value, { expected: version });
        this.#ofUser = undefined;
        return known.length - rules.length;
      } catch (error) {
        if (!StateConflictError.is(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  #checked(
    rules: readonly PermissionRule[],
    scope: RememberedRule["scope"],
  ): readonly PermissionRule[] {
    if (rules.length > MAX_RULES)
      throw new InvalidInputError(
        `remember: a ${scope} keeps at most ${MAX_RULES} rules; remove some with agent.forgetRules`,
      );
    return rules;
  }

  #ofSession(): readonly PermissionRule[] {
    return this.#state.permissionContext.allow.filter(({ source }) => source === REMEMBERED);
  }

  async #readUser(): Promise<{ rules: readonly PermissionRule[]; version: string | null }> {
    if (this.#slot.userId === null) return { rules: [], version: null };
    const found = await this.#keyValue.get(this.#namespace, KEY);
    if (found === null) return { rules: [], version: null };
    const { value, version } = found;
    return { rules: rulesProblem(value, KEY) === null ? rulesIn(value) : [], version };
  }

  get #namespace(): readonly string[] {
    return rulesNamespace(this.#slot.agentId, this.#slot.userId as string);
  }
}

/** Deletes the rules of a user. */
export async function deleteUserRules(
  { keyValue, settings }: Pick<AgentParts, "keyValue" | "settings">,
  userId: string,
): Promise<void> {
  await keyValue.delete(rulesNamespace(settings.agentId, userId), KEY);
}

function rulesNamespace(agentId: string, userId: string): readonly string[] {
  return ["permissions", agentId, userId];
}

function rulesIn(value: JsonValue): readonly PermissionRule[] {
  return value as unknown as readonly PermissionRule[];
}

function stored(tool: string, pattern: string | undefined): PermissionRule {
  return { tool, ...(pattern !== undefined && { pattern }), source: REMEMBERED };
}
