import type { Json } from "../json.js";

/** An item of an answer, and the reasoning it came with. */
export interface StoredItem {
  readonly item: Json;
  /** The id of the reasoning item right before it in its answer. */
  readonly reasoning: string | undefined;
  /** True when a request may refer to it by its id alone. */
  readonly stored: boolean;
}

/** The items of the answers of one server, by id. */
export class ItemStore {
  readonly #items = new Map<string, StoredItem>();

  add(items: readonly Json[], stored: boolean): void {
    let reasoning: string | undefined;
    for (const item of items) {
      const id = String(item["id"]);
      this.#items.set(id, { item, reasoning, stored });
      // Reasoning belongs to what comes next; of two calls after it only the first needs it.
      reasoning = item["type"] === "reasoning" ? id : undefined;
    }
  }

  get(id: unknown): StoredItem | undefined {
    return typeof id === "string" ? this.#items.get(id) : undefined;
  }
}
