import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { onTestFinished } from "vitest";

/** Where the workspace's packages resolve. */
const resolveDir = fileURLToPath(new URL("..", import.meta.url));

/** Where the encoders of token counters resolve. */
const nodePaths = [
  fileURLToPath(new URL("../../packages/compaction/node_modules", import.meta.url)),
];

/** A directory without any packages, away from the workspace. */
export async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-loading-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, "package.json"), '{ "private": true }\n');
  return directory;
}

/** Bundles a program as a product would, with all that it imports. */
export async function bundle(source: string, options: BuildOptions): Promise<Uint8Array> {
  const { outputFiles = [] } = await build({
    stdin: { contents: source, resolveDir },
    ...{ bundle: true, platform: "node", target: "es2022", logLevel: "error", nodePaths },
    ...options,
    write: false,
  });
  const file = outputFiles[0];
  if (file === undefined) throw new Error("esbuild wrote nothing");
  return file.contents;
}

/** Packages that load in every runtime with the modules of Node.js. */
const portablePackages = [
  "@holdfast/core",
  "@holdfast/compaction",
  "@holdfast/eviction",
  "@holdfast/session-tools",
  "@holdfast/memory-flush",
  "@holdfast/harness",
  "@holdfast/store-redis",
  "@holdfast/model-ai-sdk",
] as const;

/**
 * A module whose `main()` says how many names each package has, has a conversation that is counted with `encoder`, and shows what
 * a model is told about a tool with a schema of zod.
 */
export const portableProgram = `
${portablePackages.map((name, index) => `import * as package${index} from "${name}";`).join("\n")}
import { ReActAgent, InMemoryFilesystem, InMemoryOffloader, tool } from "@holdfast/core";
import { compaction, gptTokenizerCounter } from "@holdfast/compaction";
import { toolResultEviction } from "@holdfast/eviction";
import { memoryFlush } from "@holdfast/memory-flush";
import { sessionTools } from "@holdfast/session-tools";
import * as encoder from "gpt-tokenizer/encoding/o200k_base";
import * as z from "zod";

const add = tool({
  name: "add", description: "Adds one.",
  input: z.object({ to: z.number() }),
  execute: ({ to }) => to + 1,
});

const model = {
  id: "scripted",
  async *stream() {
    yield { type: "text_delta", text: "Hello from a bundle." };
    yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

export async function main() {
  const packages = [${portablePackages.map((_, index) => `package${index}`).join(", ")}];
  const tokenCounter = gptTokenizerCounter({ encoder });
  const agent = new ReActAgent({
    name: "bundled", model, tokenCounter, tools: [add],
    filesystem: new InMemoryFilesystem(), offloader: new InMemoryOffloader(),
    plugins: [compaction(), toolResultEviction(), memoryFlush(), sessionTools()],
  });
  const { text } = await agent.call("Hello", { sessionId: "s" });
  await agent.close();
  return JSON.stringify({
    empty: packages.filter((names) => Object.keys(names).length === 0).length,
    text,
    tokens: tokenCounter.countText("お誕生日おめでとう"),
    required: add.inputSchema.required,
  });
}
`;

/** Answer of {@link portableProgram}. */
export const portableAnswer = {
  empty: 0,
  text: "Hello from a bundle.",
  tokens: 8,
  required: ["to"],
};
