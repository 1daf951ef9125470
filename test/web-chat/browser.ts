import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** Starts the Chromium of this machine, without a window. */
export function startBrowser(): Promise<Browser> {
  const places = (process.env["PATH"] ?? "").split(":");
  const found = names.flatMap((name) => places.map((place) => join(place, name))).find(existsSync);
  if (found === undefined)
    throw new Error(
      "these tests drive Chromium: install it, for example with apt-get install chromium",
    );
  // Containers have neither a sandbox of their own kind nor much shared memory.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  return chromium.launch({ executablePath: found, args });
}
