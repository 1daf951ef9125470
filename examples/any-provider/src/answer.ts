import type { WireReply, WireRequest } from "@holdfast/provider-rigs";

const list = { name: "files_list_directory", input: { path: "." } };

/**
 * Answers for the local servers in a model's place: it looks into the directory once, and then tells what it was sent, now
 * and before.
 */
export function answer({ body }: WireRequest): WireReply {
  const sent = JSON.stringify(body);
  const files = new Set([...sent.matchAll(/\[FILE\] ([\w-]+\.\w+)/g)].map(([, name]) => name));
  if (files.size === 0) return { thinking: { text: "I had better look." }, toolCalls: [list] };
  const questions = sent.match(/Question \d/g)?.length;
  return {
    text: [`I was shown ${questions} of your questions, `, `and ${[...files].join(", ")}.`],
  };
}
