import type { DistributedStore, Plugin, ReActAgent, ReActAgentOptions } from "@holdfast/core";
import type { PermissionsOptions } from "@holdfast/permissions";
import type { SubagentDefinition, SubagentsOptions, SubagentsPlugin } from "@holdfast/subagents";
import type { ReplyFunction } from "@holdfast/testing";

export interface TeamOptions extends Partial<ReActAgentOptions> {
  /** File that the tools write lines to. */
  readonly file: string;
  /** Options of `permissions`; without them nothing asks. */
  readonly rules?: PermissionsOptions | undefined;
  /** @default one called worker */
  readonly agents?:
    | readonly (Partial<SubagentDefinition> & { readonly name: string })[]
    | undefined;
  readonly bounds?: Pick<SubagentsOptions, "maxDepth" | "maxRunning"> | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
}

export function team(
  store: DistributedStore,
  options: TeamOptions,
): { readonly agent: ReActAgent; readonly tasks: SubagentsPlugin };

export const programReply: ReplyFunction;
