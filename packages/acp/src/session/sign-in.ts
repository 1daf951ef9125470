import { RequestError } from "@agentclientprotocol/sdk";
import type { AcpAuth } from "../acp-options.js";

/** Sign-in of the person at the editor, on one connection. */
export class SignIn {
  readonly #auth: AcpAuth | undefined;
  #isSignedIn = false;

  constructor(auth: AcpAuth | undefined) {
    this.#auth = auth;
  }

  /** Fields of the answer to `initialize`. */
  get methods(): { id: string; name: string; description?: string | null }[] {
    return (this.#auth?.methods ?? []).map(({ id, name, description = null }) => ({
      ...{ id, name, description },
    }));
  }

  get hasLogout(): boolean {
    return this.#auth?.logout !== undefined;
  }

  /** @throws RequestError when signing in comes first */
  async check(): Promise<void> {
    if (this.#auth === undefined || this.#isSignedIn) return;
    if (!(await this.#auth.isSignedIn?.())) throw RequestError.authRequired();
  }

  /** @throws RequestError for a method that is not offered, and what signing in throws */
  async authenticate(methodId: string): Promise<void> {
    if (!this.#auth?.methods.some(({ id }) => id === methodId))
      throw RequestError.invalidParams({ methodId }, "there is no such way to sign in");
    await this.#auth.authenticate(methodId);
    this.#isSignedIn = true;
  }

  async logout(): Promise<void> {
    await this.#auth?.logout?.();
    this.#isSignedIn = false;
  }
}
