/** The error an OpenAI client throws when a request is longer than the model's window. */
export function contextLengthError(tokens: number, window: number): Error {
  const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
  const body = {
    message,
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  };
  return Object.assign(new Error(`400 ${message}`), {
    status: 400,
    code: body.code,
    type: body.type,
    param: body.param,
    error: body,
  });
}
