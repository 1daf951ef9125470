import { eventually } from "@holdfast/testing";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
  Response,
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
