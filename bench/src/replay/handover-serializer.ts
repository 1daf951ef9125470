import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";

/**
 * Hands LangGraph's checkpoints over as they are, for its `MemorySaver`.
 *
 * Writing and reading the whole history on every turn is most of what a replay on LangGraph takes, and has no part in
 * what is sent to a model. Containers are copied, messages are not.
 */
export class HandoverSerializer implements SerializerProtocol {
  readonly #kept: unknown[] = [];

  async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    const index = this.#kept.push(copyContainers(value)) - 1;
    return ["json", new Uint8Array(new Uint32Array([index]).buffer)];
  }

  async loadsTyped(_type: string, data: Uint8Array | string): Promise<unknown> {
    if (typeof data === "string") return JSON.parse(data);
    return copyContainers(this.#kept[new Uint32Array(data.buffer)[0] ?? 0]);
  }
}

function copyContainers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyContainers);
  if (typeof value !== "object" || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, copyContainers(of)]));
}
