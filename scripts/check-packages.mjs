// Checks the packages as they would be published: all are packed at once, then publint and attw read them in this process,
// because starting three programs for each package takes longer than the checks do.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/** Ways to resolve that packages of ES modules only do not support. */
const unsupported = ["node10", "node16-cjs"];
const packages = fileURLToPath(new URL("../packages", import.meta.url));

const directory = mkdtempSync(join(tmpdir(), "holdfast-check-packages-"));
try {
  pack(directory);
  for (const file of readdirSync(directory)) {
    const bytes = new Uint8Array(readFileSync(join(directory, file)));
    const problems = [...(await exportProblems(bytes)), ...(await typeProblems(bytes))];
    if (problems.length === 0) continue;
    console.error(`${file}:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function pack(destination) {
  const manifests = readdirSync(packages).map((name) =>
    JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")),
  );
  const filters = manifests.filter((one) => !one.private).map(({ name }) => `--filter=${name}`);
  const { status, stdout, stderr } = spawnSync(
    "pnpm",
    [...filters, "pack", "--pack-destination", destination],
    { encoding: "utf8", shell: process.platform === "win32" },
  );
  if (status !== 0) throw new Error(`pnpm pack failed:\n${stdout ?? ""}${stderr ?? ""}`);
}

/** Problems that publint finds; a warning is as bad as an error. */
async function exportProblems(bytes) {
  const { messages, pkg } = await publint({ level: "warning", pack: { tarball: bytes.buffer } });
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`);
}

/** Problems that attw finds in the declarations. */
async function typeProblems(bytes) {
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(bytes));
  if (!types) return ["attw: the package has no types"];
  return problems
    .filter(({ resolutionKind }) => !unsupported.includes(resolutionKind))
    .map((problem) => `attw: ${JSON.stringify(problem)}`);
}
