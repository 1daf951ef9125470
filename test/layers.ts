import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseAst } from "vitest/node";

const parts = [
  "encryption",
  "workspace",
  "store-json",
  "store-redis",
  "store-mysql",
  "compaction",
  "eviction",
  "memory-flush",
  "session-tools",
  "permissions",
  "planning",
  "subagents",
  "model-ai-sdk",
  "mcp",
  "testing",
  "provider-rigs",
];

/** The layers: who may import whom within `@holdfast/`. A new package is added here first. */
export const layers: readonly Layer[] = [
  { name: "1 contracts + engine", packages: ["core"], mayImport: [] },
  { name: "2 parts", packages: parts, mayImport: ["core"] },
  // The one part that is built on another: a sandbox works on the files of a workspace.
  { name: "2 parts on workspace", packages: ["sandbox"], mayImport: ["core", "workspace"] },
  // Records the events of other parts, which declare them: it needs their types, and none of them installed.
  {
    name: "2 parts that watch others",
    packages: ["otel"],
    mayImport: ["core"],
    mayImportTypes: ["compaction", "eviction", "memory-flush"],
  },
  // Shows the events of other parts to people, as the one above records them.
  {
    name: "2 parts that show others",
    packages: ["acp", "server"],
    mayImport: ["core"],
    mayImportTypes: ["compaction", "eviction", "permissions", "planning", "subagents"],
  },
  { name: "3 assembly", packages: ["harness"], mayImport: ["core", "otel", ...parts] },
  {
    name: "4 programs",
    packages: ["cli", "create-holdfast", "demo", "inspector", "examples/*", "bench"],
    mayImport: "anything",
  },
];

/** Development dependencies that any package may have: its tests use them. */
const devOnly = ["testing", "provider-rigs"];

/** One row of {@link layers}. */
export interface Layer {
  readonly name: string;
  readonly packages: readonly string[];
  readonly mayImport: readonly string[] | "anything";
  /** Packages from which it may take types alone; they are development dependencies. */
  readonly mayImportTypes?: readonly string[];
}

interface WorkspacePackage {
  /** Name in the table: `core`, `examples/*`, `bench`. */
  readonly key: string;
  /** Folder from the root, with forward slashes. */
  readonly folder: string;
  readonly directory: string;
}

/**
 * Checks every package, example and the benchmark below `root` against {@link layers}:
 * what the sources import and what the manifests declare.
 *
 * @returns one sentence per violation; empty when the tree keeps to the table.
 */
export function layerViolations(root: string): string[] {
  return workspacePackages(root).flatMap((pkg) => {
    const layer = layers.find(({ packages }) => packages.includes(pkg.key));
    if (layer === undefined) return [`${pkg.folder}: ${unknown(pkg.key)}`];
    return [...importViolations(root, pkg, layer), ...manifestViolations(pkg, layer)];
  });
}

/** Every module specifier in a TypeScript source: static, dynamic, type-only, re-exported, required. */
export function specifiersIn(source: string, lang: "ts" | "tsx" = "ts"): string[] {
  return importsIn(source, lang).map(({ specifier }) => specifier);
}

/** The modules that a TypeScript source imports, and whether it takes only types from them. */
export function importsIn(
  source: string,
  lang: "ts" | "tsx",
): { readonly specifier: string; readonly isType: boolean }[] {
  const found: { specifier: string; isType: boolean }[] = [];
  visit(parseAst(source, { lang }), (node) => {
    const specifier = literal(specifierNode(node));
    if (specifier !== undefined) found.push({ specifier, isType: node["importKind"] === "type" });
  });
  return found;
}

function workspacePackages(root: string): WorkspacePackage[] {
  const named = (folder: string, key: string): WorkspacePackage => ({
    key,
    folder,
    directory: join(root, folder),
  });
  return [
    ...foldersIn(join(root, "packages")).map((name) => named(`packages/${name}`, name)),
    ...foldersIn(join(root, "examples")).map((name) => named(`examples/${name}`, "examples/*")),
    named("bench", "bench"),
  ].filter(({ directory }) => existsSync(join(directory, "package.json")));
}

function importViolations(root: string, pkg: WorkspacePackage, layer: Layer): string[] {
  return sourcesIn(join(pkg.directory, "src")).flatMap((file) => {
    const where = relative(root, file).replaceAll("\\", "/");
    const imports = importsIn(readFileSync(file, "utf8"), file.endsWith("x") ? "tsx" : "ts");
    return imports.flatMap(({ specifier, isType }) => {
      if (specifier.startsWith(".")) {
        const target = relative(pkg.directory, resolve(dirname(file), specifier));
        return target.startsWith("..") ? [`${where}: "${specifier}" leaves the package`] : [];
      }
      const also = isType ? layer.mayImportTypes : [];
      return refusal(specifier, layer, also).map(
        (reason) => `${where}: imports ${specifier}: ${reason}`,
      );
    });
  });
}

function manifestViolations(pkg: WorkspacePackage, layer: Layer): string[] {
  const manifest = JSON.parse(readFileSync(join(pkg.directory, "package.json"), "utf8"));
  const fields = ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"];
  return fields.flatMap((field) =>
    Object.keys(manifest[field] ?? {}).flatMap((name) =>
      refusal(
        name,
        layer,
        field === "devDependencies" ? [...devOnly, ...(layer.mayImportTypes ?? [])] : [],
      ).map((reason) => `${pkg.folder}/package.json: ${field} names ${name}: ${reason}`),
    ),
  );
}

/** Why `layer` may not use the module `specifier`; empty when it may, or when it is not ours. */
function refusal(specifier: string, layer: Layer, also: readonly string[] = []): string[] {
  const [scope, name = ""] = specifier.split("/");
  if (scope !== "@holdfast") return [];
  if (!layers.some(({ packages }) => packages.includes(name))) return [unknown(name)];
  if (layer.mayImport === "anything") return [];
  if (layer.mayImport.includes(name) || also.includes(name)) return [];
  return [`layer "${layer.name}" may not use ${name}`];
}

function unknown(name: string): string {
  return `"${name}" is in no layer; add it to the table in test/layers.ts`;
}

function foldersIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** The TypeScript files below a directory. */
export function sourcesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[cm]?tsx?$/.test(name))
    .map((name) => join(directory, name));
}

type Node = Record<string, unknown>;

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, see);
  } else if (isNode(value)) {
    if (typeof value["type"] === "string") see(value);
    visit(Object.values(value), see);
  }
}

/** The part of a syntax node that names a module, for the kinds of node that do. */
function specifierNode(node: Node): unknown {
  switch (node["type"]) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return node["source"];
    case "TSExternalModuleReference":
      return node["expression"];
    case "TSModuleDeclaration":
      return node["id"];
    case "CallExpression":
      return isNode(node["callee"]) && node["callee"]["name"] === "require"
        ? (node["arguments"] as unknown[])[0]
        : undefined;
    default:
      return undefined;
  }
}

function literal(node: unknown): string | undefined {
  return isNode(node) && node["type"] === "Literal" && typeof node["value"] === "string"
    ? node["value"]
    : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
