// Makes the pictures of the README: starts the example on files of its own, and drives Chromium through it.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { Fleet } from "./fleet.js";
import { frontDoor } from "./front-door.js";

const target = fileURLToPath(new URL("../screenshots/", import.meta.url));
const desktop = { viewport: { width: 1180, height: 780 } };
const phone = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };

const files = await mkdtemp(join(tmpdir(), "harbour-desk-"));
process.env["DESK_PACE_MS"] = "4";
process.env["DESK_STORE"] = files;
const fleet = new Fleet();
await Promise.all([fleet.add(), fleet.add()]);
const door = frontDoor(() => fleet.members).listen(0, "127.0.0.1");
await once(door, "listening");
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  await picture("light", { ...desktop, colorScheme: "light" }, async (page) => {
    await ask(page, "Write the guide to mooring");
    await page.keyboard.press("Alt+n");
    await ask(page, "Which bookings are overdue?");
    await ask(page, "Remind the late guests by mail");
    await page.getByRole("button", { name: "Once" }).first().click();
    await page.locator(".approval fieldset:enabled").waitFor();
  });
  await picture("dark", { ...desktop, colorScheme: "dark" }, async (page) => {
    await ask(page, "Plan the autumn haul-out");
    await page.getByRole("button", { name: "Begin" }).click();
    await page.getByText("The owners are next.").waitFor();
    await page.locator(".todos summary").click();
  });
  await picture("phone", { ...phone, colorScheme: "light" }, async (page) => {
    await ask(page, "Remind the late guests by mail");
  });
  await picture("compaction", { ...desktop, colorScheme: "light" }, async (page) => {
    while ((await page.locator(".divider").count()) === 0)
      await ask(page, "Write the guide to mooring");
    await page.locator(".divider").scrollIntoViewIfNeeded();
  });
} finally {
  await browser.close();
  door.close();
  await fleet.stop();
  await rm(files, { recursive: true });
}

/** Opens the page as a new user, brings it into a state, and takes a picture of it. */
async function picture(
  name: string,
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const { port } = door.address() as AddressInfo;
  await page.goto(`http://localhost:${port}/`);
  await prepare(page);
  await page.locator('main[data-state="idle"]').waitFor();
  await page.locator(".session").first().waitFor({ state: "attached" });
  await page.screenshot({ path: join(target, `${name}.png`) });
  await context.close();
  console.log(`${target}${name}.png`);
}

/** Asks, and waits for the whole reply. */
async function ask(page: Page, text: string): Promise<void> {
  await page.locator('main[data-state="idle"]').waitFor();
  const answer = page.waitForResponse((response) => response.request().method() === "POST");
  await page.getByLabel("Message").fill(text);
  await page.getByLabel("Message").press("Enter");
  await (await answer).finished();
  await page.locator('main[data-state="idle"]').waitFor();
}
