/** Changes everything in a value that lets itself be changed; frozen parts stay as they are. */
export function tamper(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const key of Reflect.ownKeys(value)) {
    tamper(Reflect.get(value, key));
    if (key !== "length") Reflect.deleteProperty(value, key);
  }
  if (Array.isArray(value) && !Object.isFrozen(value)) value.length = 0;
  Reflect.set(value, "tampered", true);
}
