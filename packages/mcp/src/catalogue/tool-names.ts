import { createHash } from "node:crypto";

const maxChars = 64;
const hashChars = 6;
/** Names remembered in total before those of removed tools are forgotten. */
const maxRemembered = 10_000;

/**
 * Names of tools as shown to the model.
 *
 * Contract:
 * - A name matches `^[a-zA-Z0-9_-]{1,64}$`. One that had to be changed for that ends in a hash of the original.
 * - Two tools never share a name: the second one gets a hash.
 * - A name never refers to another tool during the lifetime of this object, even if its tool is removed and comes back.
 */
export class ToolNames {
  readonly #owners = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** Returns the name of a server's tool. */
  nameOf(server: string, prefix: string, tool: string): string {
    const owner = JSON.stringify([server, tool]);
    const known = this.#names.get(owner);
    if (known !== undefined) return known;
    const wanted = prefix + tool;
    const valid = wanted.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxChars);
    let name = valid === wanted ? wanted : hashed(valid, owner);
    for (let salt = 0; this.#owners.has(name); salt++) name = hashed(valid, `${owner}${salt}`);
    this.#owners.set(name, owner);
    this.#names.set(owner, name);
    return name;
  }

  /** Forgets removed tools if there are too many names. */
  forget(isThere: (name: string) => boolean): void {
    if (this.#owners.size <= maxRemembered) return;
    for (const [name, owner] of this.#owners)
      if (!isThere(name)) {
        this.#owners.delete(name);
        this.#names.delete(owner);
      }
  }
}

function hashed(name: string, text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, hashChars);
  return `${name.slice(0, maxChars - hashChars - 1)}_${hash}`;
}
