import type { DataBlock, Message, ToolResultBlock } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { Tool } from "../tool/tool.js";

/** Where content went that left the context. */
export interface OffloadReference {
  /** Names the content, for example a workspace path. */
  readonly reference: string;
  /** One sentence for the model: how to read it back. */
  readonly readBack: string;
}

/** Wishes about where content goes; an offloader that has no directories does not heed them. */
export interface OffloadOptions {
  /** A directory of the user's, one name without slashes. */
  readonly directory?: string | undefined;
}

/**
 * Puts content that leaves the context somewhere readable. Structural: any object with these methods will do.
 *
 * Contract:
 * - When a method resolves, what it was given can be read back whole through the reference.
 * - The same content offloaded twice may get the same reference; nothing is overwritten with something else.
 */
export interface Offloader {
  offloadContext(slot: Slot, messages: readonly Message[]): Promise<OffloadReference>;
  offloadToolResult(
    slot: Slot,
    result: ToolResultBlock,
    options?: OffloadOptions,
  ): Promise<OffloadReference>;
  offloadData?(slot: Slot, block: DataBlock): Promise<OffloadReference>;
  /** A tool with which the model reads references back, where the file tools cannot. */
  readonly readBackTool?: Tool | undefined;
}
