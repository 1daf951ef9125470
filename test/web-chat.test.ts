import { readFileSync } from "node:fs";
import { eventually, scaled, type TempDirectory, tempDirectory } from "@holdfast/testing";
import type { Browser, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startBrowser } from "./web-chat/browser.js";
import { ChatPage } from "./web-chat/chat-page.js";
import { type Desk, startDesk } from "./web-chat/desk.js";

const guide = "Write the guide to mooring";
/** The first words of the guide. */
const heading = "Mooring at the North pier";
const paceMs = 8;

let browser: Browser;
let desk: Desk;
beforeAll(async () => {
  [browser, desk] = await Promise.all([
    startBrowser(),
    startDesk(["--redis", inject("redisUrl")], paceMs),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await desk?.stop();
});

/** Written once, by whichever test asks first: it is the same for all of them. */
let undisturbedThread: Promise<string> | undefined;
/** The page that a reply to the guide's question ends in, when nothing disturbs it. */
function undisturbed(): Promise<string> {
  undisturbedThread ??= (async () => {
    const chat = await ChatPage.open(browser, desk.url);
    await chat.ask(guide);
    return chat.thread();
  })();
  return undisturbedThread;
}

test("the glue that a product writes is less than 40 lines", () => {
  const file = new URL("../examples/web-chat/src/server.ts", import.meta.url);
  expect(readFileSync(file, "utf8").trimEnd().split("\n").length).toBeLessThan(40);
});

test("a reply is streamed, with a tool that shows its progress, input and output", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  await chat.say("Which bookings are overdue?");
  await chat.sees(/looks at/);
  expect(await chat.page.locator("progress").getAttribute("max")).toBe("4");
  await chat.sees("Shall I remind them by mail?");
  await chat.idle();
  expect(await chat.page.locator("td").allTextContents()).toContain("Heron");
  await chat.page.getByText("find bookings").click();
  const [input, output] = await chat.page.locator(".tool pre").allTextContents();
  expect(JSON.parse(input ?? "")).toEqual({ status: "overdue" });
  expect(JSON.parse(output ?? "")).toMatchObject([{ boat: "Heron" }, { boat: "Tern" }]);
  expect(await chat.page.getByRole("meter").getAttribute("aria-label")).toMatch(/of 8,000 tokens/);
  await chat.page.getByRole("button", { name: "Which bookings are overdue?" }).first().waitFor();
  const share = await chat.page.getByRole("meter").getAttribute("aria-label");
  await chat.page.reload();
  await chat.idle();
  expect(await chat.page.getByRole("meter").getAttribute("aria-label")).toBe(share);
  expect(chat.complaints).toEqual([]);
  expect([...chat.hosts]).toEqual([new URL(desk.url).host]);
});

describe("a tool call that asks", () => {
  test("runs once, with changes or not at all, as the person says; a reload keeps the question", async () => {
    const chat = await ChatPage.open(browser, desk.url);
    await chat.ask("Remind the late guests by mail");
    await chat.page.reload();
    await chat.idle();
    await chat.click("Edit");
    await chat.page.locator("textarea[name=to]").fill("anna@example.com");
    await chat.click("Run with these");
    await chat.page.locator(".tool").getByText("anna@example.com").first().waitFor();
    await chat.idle();
    await chat.click("No…");
    await chat.page.getByLabel(/^Why not/).fill("Bob rang already");
    await chat.click("No");
    await chat.sees("1 of 2 mails went out.");
    await chat.sees(/Bob rang already/);
    await chat.idle();
    expect(await chat.page.locator(".state").allTextContents()).toEqual(["done", "not allowed"]);
    await chat.ask("Remind the late guests by mail");
    await chat.click("Once");
    await chat.page.locator(".state", { hasText: "done" }).nth(1).waitFor();
    await chat.page.locator(".approval fieldset:enabled").waitFor();
    const folded = await chat.thread();
    await chat.page.reload();
    await chat.becomes(folded);
    expect(chat.complaints).toEqual([]);
  });

  test("stays answered when the page loads what the server had before the answer", async () => {
    const chat = await ChatPage.open(browser, desk.url);
    let release: (() => void) | undefined;
    const hold = async (route: Route) => {
      const response = await route.fetch();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await route.fulfill({ response });
    };
    await chat.page.route("**/messages", hold, { times: 1 });
    await chat.sayAndWatch("Remind the late guests by mail");
    await chat.page.getByRole("button", { name: "Once" }).nth(1).waitFor();
    await eventually(() => release !== undefined);
    await chat.click("Once");
    release?.();
    await chat.page.locator(".state", { hasText: "done" }).waitFor();
    await chat.idle();
    expect(await chat.page.getByRole("button", { name: "Once" }).count()).toBe(1);
  });

  test("is not asked about again once the person said always to the rule that the card shows", async () => {
    const chat = await ChatPage.open(browser, desk.url);
    await chat.ask("Remind the late guests by mail");
    for (const guest of ["ann", "bob"]) {
      await chat.click(`Always send_mail(${guest}@example.com)`);
      await eventually(async () => (await chat.page.getByText(`Always`).count()) < 2);
      await chat.idle();
    }
    await chat.sees("2 of 2 mails went out.");
    await chat.click("New conversation");
    await chat.idle();
    await chat.ask("Remind the late guests by mail");
    await chat.sees("2 of 2 mails went out.");
    expect(await chat.page.locator(".approval").count()).toBe(0);
  });
});

test("a plan is approved, and the todo list is kept", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  await chat.ask("Plan the autumn haul-out");
  await chat.sees("not approved yet");
  await chat.click("Begin");
  await chat.sees("The owners are next.");
  await chat.idle();
  await chat.page.locator(".todos summary").click();
  const items = await chat.page.locator(".todos li").all();
  const states = await Promise.all(items.map((item) => item.getAttribute("data-status")));
  expect(states).toEqual(["completed", "completed", "in_progress"]);
  expect(await chat.page.locator(".plan summary").textContent()).toBe("Planapproved");
});

test("a person stops a reply with Escape: what was written stays, and the next message is answered", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  await chat.say(guide);
  await chat.written(300);
  await chat.page.keyboard.press("Escape");
  await chat.sees("Stopped.");
  await chat.idle();
  const stopped = await chat.thread();
  expect(stopped).not.toContain("dry pair of socks");
  await chat.page.reload();
  await chat.becomes(stopped);
  await chat.ask("Hello");
  await chat.sees("I am the harbour desk");
});

test("words that are added while the agent works reach it, and all tabs show them in the same place", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  await chat.say("Which bookings are overdue?");
  await chat.sees(/looks at/);
  await chat.say("Only the North pier, please");
  await chat.sees("You added:");
  await chat.sees("Shall I remind them by mail?");
  await chat.idle();
  const tab = await chat.secondTab();
  await tab.becomes(await chat.thread());
  expect(await chat.page.locator(".user").allTextContents()).toEqual([
    "Which bookings are overdue?",
    "Only the North pier, please",
  ]);
});

test("the page is the same in the end, at whatever instants of a reply it was reloaded", async () => {
  const expected = await undisturbed();
  for (let round = 0; round < scaled(1, 20); round++) {
    const chat = await ChatPage.open(browser, desk.url);
    await chat.say(guide);
    // Instants by what has been written, so that none of them comes after the end.
    for (const chars of [Math.random() * 800, 800 + Math.random() * 700]) {
      await chat.written(chars);
      await chat.page.reload();
    }
    await chat.becomes(expected);
    await chat.idle();
    expect(chat.complaints).toEqual([]);
  }
});

test("a tab shows what is asked in another one, and both show the same", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  const tab = await chat.secondTab();
  await tab.idle();
  await chat.ask(guide);
  await tab.becomes(await chat.thread());
  await tab.ask("Which bookings are overdue?");
  await chat.becomes(await tab.thread());
});

test("the process that answers is killed: the page goes on by itself, and says everything once", async () => {
  const expected = await undisturbed();
  for (let round = 0; round < scaled(1, 5); round++) {
    const chat = await ChatPage.open(browser, desk.url);
    const most = await chat.countMost(heading);
    const response = await chat.sayAndWatch(guide);
    await chat.written(150 + Math.random() * 1_000);
    process.kill(Number(response.headers()["x-served-by"]), "SIGKILL");
    await chat.becomes(expected);
    await chat.idle();
    expect(await most()).toBe(1);
    expect(await chat.page.locator(".user").allTextContents()).toEqual([guide]);
    await chat.page.reload();
    await chat.becomes(expected);
  }
});

test("both processes are killed while a message is on its way: it is answered all the same, once", async () => {
  const expected = await undisturbed();
  const chat = await ChatPage.open(browser, desk.url);
  const pids = await desk.pids();
  const most = await chat.countMost(heading);
  await chat.say(guide);
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await chat.becomes(expected);
  await chat.idle();
  expect(await most()).toBe(1);
  await chat.page.reload();
  await chat.becomes(expected);
});

test("a context that outgrows the window is compacted: a divider says so, and nothing vanishes", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  for (let asked = 1; (await chat.page.locator(".divider").count()) === 0; asked++) {
    expect(asked).toBeLessThan(12);
    // Long questions fill the window with fewer replies for the browser to draw.
    await chat.ask(`${guide}. ${"Tie it well. ".repeat(250)}`);
  }
  const shown = await chat.page.locator("article").count();
  await chat.page.reload();
  await chat.sees("The model reads a summary of what is above");
  await chat.idle();
  expect(await chat.page.locator("article").count()).toBe(shown);
  expect(await chat.page.locator("[data-compacted]").count()).toBeGreaterThan(0);
});

test("sessions are made, renamed and deleted, by mouse and by keyboard", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  const titles = chat.page.locator(".session");
  const areListed = (...expected: readonly string[]) =>
    eventually(async () => expect(await titles.allTextContents()).toEqual(expected));
  await chat.ask("Hello");
  const first = chat.page.url();
  await chat.page.keyboard.press("Alt+n");
  await eventually(() => chat.page.url() !== first);
  await chat.idle();
  await chat.ask("Help me");
  await areListed("Help me", "Hello");
  // Leaving the list asks for it; this answer comes late.
  await titles.last().hover();
  const late = await chat.holdBack(/^\/api\/chat$/, "early");
  await chat.page.locator("h1").hover();
  await late.asked;
  await titles.last().hover();
  await chat.click("Rename Hello");
  await chat.page.getByLabel("Title").fill("Greetings");
  await chat.page.keyboard.press("Enter");
  await areListed("Help me", "Greetings");
  await late.answer();
  expect(await titles.allTextContents()).toEqual(["Help me", "Greetings"]);
  await titles.first().hover();
  await chat.click("Delete Help me");
  await chat.click("Delete");
  await areListed("Greetings");
  await chat.page.keyboard.press("Alt+ArrowDown");
  await chat.page.locator("h1", { hasText: "Greetings" }).waitFor();
  await chat.page.locator("h1").click();
  await chat.page.keyboard.press("/");
  expect(await chat.page.locator(":focus").getAttribute("aria-label")).toBe("Message");
});

test("a look for other replies that is answered late does not follow a reply twice", async () => {
  const chat = await ChatPage.open(browser, desk.url);
  const followed: string[] = [];
  chat.page.on("request", (request) => {
    if (request.url().includes("/stream")) followed.push(request.url());
  });
  const expected = await undisturbed();
  // The page looks every two seconds whether something runs; the server says so of what is asked meanwhile.
  const late = await chat.holdBack(/^\/api\/chat\/[^/]+$/, "late");
  await late.asked;
  await chat.say(guide);
  await chat.written(100);
  await late.answer();
  await chat.becomes(expected);
  await chat.idle();
  expect(followed).toEqual([]);
});

test("on a phone the list is a drawer and nothing is cut off; colours follow the system or the person", async () => {
  const chat = await ChatPage.open(browser, desk.url, {
    viewport: { width: 360, height: 740 },
    isMobile: true,
    hasTouch: true,
    colorScheme: "dark",
  });
  await chat.ask("Remind the late guests by mail");
  const widths = await chat.page.evaluate("[innerWidth, document.documentElement.scrollWidth]");
  expect(widths).toEqual([360, 360]);
  expect(await chat.page.locator(".sidebar").isVisible()).toBe(false);
  await chat.click("Conversations");
  const background = () => chat.page.evaluate("getComputedStyle(document.body).backgroundColor");
  const dark = await background();
  await chat.page.getByRole("button", { name: /^Colours: auto/ }).click();
  expect(await background()).not.toBe(dark);
  await chat.page.locator(".session").first().tap();
  await eventually(async () => !(await chat.page.locator(".sidebar").isVisible()));
});

describe("on JSON files, with no server at all", () => {
  let slow: Desk;
  let directory: TempDirectory;
  beforeAll(async () => {
    directory = await tempDirectory();
    slow = await startDesk(["--files", directory.path], paceMs * 5);
  });
  afterAll(async () => {
    await slow?.stop();
    await directory?.cleanup();
  });

  test("a reply is watched as it is written, after a reload and in a second tab", async () => {
    const chat = await ChatPage.open(browser, slow.url);
    await chat.say(guide);
    await chat.written(100);
    await chat.page.reload();
    const tab = await chat.secondTab();
    for (const one of [chat, tab]) {
      await one.working();
      await one.written(100);
    }
    const expected = await undisturbed();
    await Promise.all([chat.becomes(expected), tab.becomes(expected)]);
  });
});
