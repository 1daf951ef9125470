import { type Part, type Provider, parts, providers, type Store } from "./choices.js";
import { composeFile, dockerfile } from "./container-files.js";
import { packageManagers } from "./package-manager.js";
import { projectManifest, projectTsconfig } from "./project-manifest.js";
import type { Project } from "./project-options.js";
import { projectReadme } from "./project-readme.js";
import { type Files, packageRanges, templateFile, templateFolder } from "./template-files.js";

/** Returns all files of a project. @throws CreateError (2) */
export async function projectFiles(project: Project): Promise<Files> {
  const { name, template, provider, store, packageManager } = project;
  const { settings } = packageManagers[packageManager];
  const folders = template === "web-chat" ? ["every", template] : ["every", "agent", template];
  const [ranges, model, opened, ...read] = await Promise.all([
    packageRanges(),
    modelModule(provider),
    templateFile(`store/${store}.ts`),
    ...folders.map(templateFolder),
  ]);
  const agentName = name.slice(name.indexOf("/") + 1);
  const fixed = read.flatMap((files) =>
    [...files].map(([path, text]) => [path, text.replace("__NAME__", agentName)] as const),
  );
  return new Map([
    ...fixed,
    ["src/model.ts", model],
    ["src/store.ts", opened],
    ["src/parts.ts", partsModule(project.parts)],
    ["package.json", projectManifest(project, ranges)],
    ["tsconfig.json", projectTsconfig(project)],
    ["README.md", projectReadme(project)],
    ["Dockerfile", dockerfile(project)],
    ["compose.yaml", composeFile(project)],
    [".gitignore", "node_modules\ndist\n.env\n.holdfast\n"],
    [".dockerignore", ".git\nnode_modules\ndist\n.env\n.holdfast\n"],
    [".env.example", environmentExample(project)],
    ...(settings ? [[settings.file, settings.text] as const] : []),
  ]);
}

/** Writes `src/model.ts` of a project. That of every provider with a key is made from the one of Anthropic. */
async function modelModule(provider: Provider): Promise<string> {
  const { key, company, model, contextWindow } = providers[provider];
  if (key === null) return templateFile("provider/offline.ts");
  const text = await templateFile("provider/anthropic.ts");
  return text
    .replaceAll("ANTHROPIC_API_KEY", key)
    .replaceAll("Anthropic", company)
    .replaceAll("anthropic", provider)
    .replace("claude-sonnet-5-5", model)
    .replace("200_000", contextWindow);
}

/** Writes `src/parts.ts` of a project: its plugins, and what the harness is told about the rest. */
function partsModule(chosen: readonly Part[]): string {
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

const addresses: Readonly<Record<Store, string>> = {
  json: "# Directory of the sessions.\n# STATE_DIRECTORY=.holdfast/state\n",
  redis: "# Where the sessions are.\n# REDIS_URL=redis://127.0.0.1:6379\n",
  mysql: "# Where the sessions are.\n# MYSQL_URL=mysql://root:holdfast@127.0.0.1:3306/holdfast\n",
};

function environmentExample({ provider, store }: Project): string {
  const { key } = providers[provider];
  const keyLine =
    key === null
      ? "# Key of your provider, once there is one in src/model.ts.\n# ANTHROPIC_API_KEY=\n"
      : `# Key of your provider.\n${key}=\n`;
  return `# Copy this file to .env, which git ignores.\n\n${keyLine}\n${addresses[store]}`;
}
