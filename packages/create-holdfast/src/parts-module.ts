import { type Part, parts } from "./choices.js";

/** Writes `src/parts.ts` of a project: its plugins, and what the harness is told about the rest. */
export function partsModule(chosen: readonly Part[]): string {
  const plugins = chosen.flatMap((part) => {
    const { plugin, packages } = parts[part];
    return plugin === null ? [] : [{ ...plugin, from: packages[0] ?? "" }];
  });
  const imports = [{ name: "type Plugin", from: "@holdfast/core" }, ...plugins].sort((one, other) =>
    one.from.localeCompare(other.from),
  );
  return `${imports.map(importLine).join("\n")}

/** Plugins of the agent. */
export const plugins: readonly Plugin[] = [${plugins.map(({ name, input }) => `\n  ${name}(${input}),`).join("")}${plugins.length > 0 ? "\n" : ""}];

/** Lets the agent list, read and search its user's earlier conversations. */
export const hasSessionTools = ${chosen.includes("session-tools")};

/** Lets the agent read and write files of its user. */
export const hasFileTools = ${chosen.includes("workspace")};
`;
}

function importLine({ name, from }: { readonly name: string; readonly from: string }): string {
  const [keyword, plain] = name.startsWith("type ")
    ? ["import type", name.slice(5)]
    : ["import", name];
  return `${keyword} { ${plain} } from "${from}";`;
}
