import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "@holdfast/core";
import { afterAll, expect, test } from "vitest";
import { loadPeer } from "../../src/tokens/load-peer.js";

/** A folder with a package that throws. */
const folder = mkdtempSync(join(tmpdir(), "holdfast-peer-"));
const require = createRequire(join(folder, "index.js"));
mkdirSync(join(folder, "node_modules", "broken-peer"), { recursive: true });
writeFileSync(join(folder, "node_modules", "broken-peer", "index.js"), "throw new Error('no')");
afterAll(() => rmSync(folder, { recursive: true }));

function errorOf(path: string): unknown {
  try {
    return loadPeer(path, require);
  } catch (error) {
    return error;
  }
}

test("a package that is not installed is named, with the command that installs it and a way without", () => {
  const error = errorOf("missing-peer/lite");
  expect(ConfigurationError.is(error)).toBe(true);
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /^package missing-peer is not installed: run "npm install missing-peer", .*characterEstimate/,
    ),
    cause: { code: "MODULE_NOT_FOUND" },
  });
});

test("a package that does not load is not called missing, and its error is kept", () => {
  expect(errorOf("broken-peer")).toMatchObject({
    code: "CONFIGURATION",
    message: expect.stringMatching(/^broken-peer does not load: /),
    cause: { message: "no" },
  });
});

test("what is installed is loaded", () => {
  expect(loadPeer("tiktoken/lite")).toHaveProperty("Tiktoken");
});
