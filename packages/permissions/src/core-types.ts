import type { PermissionRule } from "@holdfast/core";

/** Object that a tool call acts on. */
export interface ToolSubject {
  readonly kind: "command" | "path" | "url" | "text";
  readonly value: string;
  /** Real path, links resolved, in the same terms as `value`; for kind `path`. */
  readonly real?: string | undefined;
}

/** Rule that would have allowed a call, offered to the person who is asked. */
export interface SuggestedRule extends PermissionRule {
  /** Text for a button. */
  readonly text?: string | undefined;
  /** The rule covers more than this call. */
  readonly broad?: boolean | undefined;
}

/** Decision about a tool call. `reason` is shown to the model on deny and to the person on ask. */
export type ToolDecision =
  | { readonly decision: "allow" }
  | { readonly decision: "deny"; readonly reason: string }
  | {
      readonly decision: "ask";
      readonly reason: string;
      /** Rules that a person may choose to remember. */
      readonly suggestions?: readonly SuggestedRule[] | undefined;
    };
