// Runs the official conformance suite of MCP on the client in ../fixtures/conformance-client.mjs.
// node conformance.mjs           prints the table
// node conformance.mjs --write   also puts it into the README of the package
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The suite is not a dependency: it needs a newer Node than this package. */
const suite = "@modelcontextprotocol/conformance@0.1.16";
const client = fileURLToPath(new URL("../fixtures/conformance-client.mjs", import.meta.url));
const readme = fileURLToPath(new URL("../../README.md", import.meta.url));
const marks = ["<!-- conformance: written by test/support/conformance.mjs -->", "<!-- end -->"];

/** Longest time of one scenario; the suite's own, 30 seconds, is over on a busy machine before some have begun. */
const timeoutMs = 600_000;

/** Results before questions and OAuth, with the same suite: passed and all checks. */
const before = {
  initialize: "1/1",
  tools_call: "1/1",
  "elicitation-sep1034-client-defaults": "0/6",
  "sse-retry": "3/3",
  "auth/metadata-default": "0/5",
  "auth/metadata-var1": "0/5",
  "auth/metadata-var2": "0/4",
  "auth/metadata-var3": "0/4",
  "auth/basic-cimd": "0/1",
  "auth/scope-from-www-authenticate": "0/1",
  "auth/scope-from-scopes-supported": "0/1",
  "auth/scope-omitted-when-undefined": "0/1",
  "auth/scope-step-up": "0/2",
  "auth/scope-retry-limit": "0/1",
  "auth/token-endpoint-auth-basic": "0/3",
  "auth/token-endpoint-auth-post": "0/3",
  "auth/token-endpoint-auth-none": "0/3",
  "auth/pre-registration": "0/1",
  "auth/2025-03-26-oauth-metadata-backcompat": "0/4",
  "auth/2025-03-26-oauth-endpoint-fallback": "0/3",
  "auth/resource-mismatch": "1/1",
  "auth/offline-access-scope": "0/1",
  "auth/offline-access-not-supported": "0/1",
  "auth/client-credentials-jwt": "0/1",
  "auth/client-credentials-basic": "0/1",
  "auth/cross-app-access-complete-flow": "0/2",
};

/** Scenarios that fail, and why. */
export const knownFailures = {
  "auth/2025-03-26-oauth-metadata-backcompat":
    "its metadata names an issuer other than the address it is read from, which RFC 8414 forbids and the SDK refuses",
  "auth/cross-app-access-complete-flow":
    "an extension that neither `oauth()` nor `clientCredentials()` speaks",
};

/** Installs the suite, and a Node that it runs on, in a directory; returns the command that runs it. */
async function install(directory) {
  const isNewEnough = Number(process.versions.node.split(".")[0]) >= 22;
  const node = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const wanted = [suite, ...(isNewEnough ? [] : [`${node}@22`])];
  await writeFile(join(directory, "package.json"), "{}");
  await run("npm", ["install", "--no-audit", "--no-fund", ...wanted], { cwd: directory });
  const program = join(directory, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  return [
    isNewEnough ? process.execPath : join(directory, "node_modules", node, "bin/node"),
    program,
  ];
}

function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    execFile(command, args, { maxBuffer: 64_000_000, ...options }, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(error);
      else resolve({ code: error?.code ?? 0, output: `${stdout}${stderr}` });
    });
  });
}

/** Runs all scenarios for clients; gives name, passed and all checks, and whether the scenario passed. */
export async function runConformance() {
  const directory = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
  try {
    const [node, program] = await install(directory);
    const { output: list } = await run(node, [program, "list"]);
    const names = [...list.slice(list.indexOf("Client scenarios")).matchAll(/^ {2}- (\S+)/gm)];
    const results = [];
    for (const [, scenario] of names) {
      const command = `${process.execPath} ${client}`;
      const args = [program, "client", "--command", command, "--scenario", scenario];
      args.push("--timeout", String(timeoutMs));
      const { code, output } = await run(node, args, { cwd: directory });
      const [, checks = "0/0"] = /Passed: (\d+\/\d+)/.exec(output) ?? [];
      results.push({ scenario, checks, passed: code === 0, output });
    }
    return results;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The table of the README. */
export function conformanceTable(results) {
  const rows = results.map(({ scenario, checks, passed }) => {
    const then = before[scenario] ?? "–";
    const note = passed ? "" : `: ${knownFailures[scenario] ?? "not known why"}`;
    return `| \`${scenario}\` | ${then} | ${checks} ${passed ? "passed" : "failed"}${note} |`;
  });
  return [
    `| scenario of \`${suite}\` | checks before | now |`,
    "| --- | --- | --- |",
    ...rows,
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const table = conformanceTable(await runConformance());
  console.log(table);
  if (process.argv.includes("--write")) {
    const text = await readFile(readme, "utf8");
    const [from, to] = [text.indexOf(marks[0]) + marks[0].length, text.indexOf(marks[1])];
    await writeFile(readme, `${text.slice(0, from)}\n\n${table}\n\n${text.slice(to)}`);
  }
}
