import { randomUUID } from "node:crypto";

/** A fresh id as providers make them: a prefix and hexadecimal digits. */
export function wireId(prefix: string): string {
  return `${prefix}${randomUUID().replaceAll("-", "")}`;
}
