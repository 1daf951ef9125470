import type { DataBlock, Message, ToolResultBlock } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { Tool } from "../tool/tool.js";

/** Reference to content that left the context. */
export interface OffloadReference {
  /** Names the content, for example a workspace path. */
  readonly reference: string;
  /** One sentence that tells the model how to read it back. */
  readonly readBack: string;
}

/** Hints about the place of offloaded content; an offloader without directories ignores them. */
export interface OffloadOptions {
  /** Name of a directory of the user, without slashes. */
  readonly directory?: string | undefined;
}

/**
 * Keeps content that leaves the context readable. Structural: any object with these methods will do.
 *
 * Contract:
 * - Once a method resolves, the content can be read back whole through the reference.
 * - An answer that is a string is the reference.
 * - The same content may get the same reference twice; different content never overwrites it.
 */
export interface Offloader {
  offloadContext(slot: Slot, messages: readonly Message[]): Promise<OffloadReference | string>;
  offloadToolResult(
    slot: Slot,
    result: ToolResultBlock,
    options?: OffloadOptions,
  ): Promise<OffloadReference | string>;
  offloadData?(slot: Slot, block: DataBlock): Promise<OffloadReference | string>;
  /** Tool with which the model reads references back, where the file tools cannot. */
  readonly readBackTool?: Tool | undefined;
}
