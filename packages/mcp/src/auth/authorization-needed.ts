import type { ToolQuestion } from "@holdfast/core/plugin-kit";

/** Words about a server that cannot be used before a person has signed in, to follow "the server". */
export const authorizationWords = "asks for an authorization";

/** A person has to authorize the client at the server before a request can be made. */
export class AuthorizationNeeded extends Error {
  override readonly name = "AuthorizationNeeded";
  /** Address to open in a browser; undefined when the program's own provider has shown it. */
  readonly url: string | undefined;

  constructor(url: string | undefined) {
    super(authorizationWords);
    this.url = url;
  }
}

/** An authorization failed; the message, to follow "the server", has no secret. */
export class AuthorizationFailed extends Error {
  override readonly name = "AuthorizationFailed";
}

/** Returns the question that asks a person to sign in. */
export function signInQuestion(server: string, url: string): ToolQuestion {
  return {
    message: `The MCP server ${server} asks you to sign in. Open the address, allow the access, and confirm when you are done.`,
    url,
  };
}

/** Tells whether a question is one of {@link signInQuestion}, whatever its address. */
export function isSignIn(server: string, question: ToolQuestion): boolean {
  return question.message === signInQuestion(server, "").message;
}
