import { eventually } from "@holdfast/testing";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
  Response,
  Route,
} from "playwright-core";
import { expect, onTestFinished } from "vitest";

/** Longest wait for anything on the page: the machine may be busy. */
const patienceMs = 120_000;

/** What a person does on the page, and sees there. */
export class ChatPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained about: errors of the page, and violations of its content security policy. */
  readonly complaints: string[] = [];
  /** Hosts that the page spoke to. */
  readonly hosts = new Set<string>();

  private constructor(page: Page) {
    this.page = page;
    this.context = page.context();
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      // Requests that fail are what some tests are about.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        this.complaints.push(message.text());
    });
    page.on("request", (request) => this.hosts.add(new URL(request.url()).host));
  }

  /** Opens the page as a new user. */
  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions = {},
  ): Promise<ChatPage> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(patienceMs);
    onTestFinished(() => context.close());
    const chat = new ChatPage(await context.newPage());
    await chat.page.goto(url);
    await chat.idle();
    return chat;
  }

  /** Opens the same session in another tab of the same user. */
  async secondTab(): Promise<ChatPage> {
    const tab = new ChatPage(await this.context.newPage());
    await tab.page.goto(this.page.url());
    return tab;
  }

  /** Writes a message, without waiting for its reply. */
  async say(text: string): Promise<void> {
    await this.page.getByLabel("Message").fill(text);
    await this.page.getByLabel("Message").press("Enter");
  }

  /** Writes a message, and waits for the response that its reply is streamed in. */
  async sayAndWatch(text: string): Promise<Response> {
    const response = this.page.waitForResponse(
      (one) => one.request().method() === "POST" && one.url().endsWith("/api/chat"),
    );
    await this.say(text);
    return response;
  }

  /** Waits until the agent works. */
  async working(): Promise<void> {
    await this.page.locator('main[data-state="working"]').waitFor();
  }

  /** Waits until nothing is being written. */
  async idle(): Promise<void> {
    await this.page.locator('main[data-state="idle"]').waitFor();
  }

  /** Asks, and waits for the whole reply. */
  async ask(text: string): Promise<void> {
    await this.sayAndWatch(text);
    await this.idle();
  }

  /** Waits until the page shows a text. */
  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Waits until a number of characters has been written in the last reply. */
  async written(chars: number): Promise<void> {
    const reply = this.page.locator("article").last();
    await eventually(async () => ((await reply.textContent()) ?? "").length >= chars);
  }

  /** Counts from now on how often a text stands in the conversation at once; the function returns the most. */
  async countMost(text: string): Promise<() => Promise<number>> {
    await this.page.evaluate(`{
      const thread = document.querySelector(".thread");
      const count = () => {
        const found = thread.textContent.split(${JSON.stringify(text)}).length - 1;
        thread.dataset.most = Math.max(thread.dataset.most ?? 0, found);
      };
      const changes = { childList: true, characterData: true, subtree: true };
      new MutationObserver(count).observe(thread, changes);
    }`);
    return async () => Number(await this.page.locator(".thread").getAttribute("data-most"));
  }

  /**
   * Holds back the answer to the next request of the page that matches.
   *
   * @param reaches - the server gets the request at once, or not before the page may have the answer
   * @returns when the request was made, and a function that lets the page have the answer
   */
  async holdBack(
    path: RegExp,
    reaches: "early" | "late",
  ): Promise<{ readonly asked: Promise<void>; answer(): Promise<void> }> {
    const asked = openable();
    const free = openable();
    const done = openable();
    const isMeant = (url: URL) => path.test(url.pathname);
    const hold = async (route: Route): Promise<void> => {
      const early = reaches === "early" ? await route.fetch() : undefined;
      asked.open();
      await free.opened;
      await route.fulfill({ response: early ?? (await route.fetch()) });
      done.open();
    };
    await this.page.route(isMeant, hold, { times: 1 });
    return {
      asked: asked.opened,
      answer: async () => {
        free.open();
        await done.opened;
        // The page has had its turn with the answer.
        await this.page.evaluate(
          "new Promise((go) => setTimeout(() => requestAnimationFrame(go)))",
        );
      },
    };
  }

  async click(name: string): Promise<void> {
    await this.page.getByRole("button", { name, exact: true }).first().click();
  }

  /** Waits until the conversation is this one. */
  async becomes(thread: string): Promise<void> {
    await eventually(async () => {
      expect(await this.thread()).toBe(thread);
      return true;
    });
  }

  /** The conversation as the browser has it. */
  thread(): Promise<string> {
    return this.page.locator(".thread").innerHTML();
  }
}

/** A gate that is opened once. */
function openable(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
