import { request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** The body as JSON; throws if it is none. */
  json<T = unknown>(): T;
  /** The body. */
  readonly text: string;
}

export interface CallOptions {
  /** Text and bytes are sent as they are, all else as JSON. */
  readonly body?: unknown;
  readonly token?: string;
  /** Until the whole answer is there, ms. Default 5 s. */
  readonly timeout?: number;
}

/**
 * One HTTP request of the tests themselves, on a connection of its own; resolves whatever the status is. It shares no code with
 * the client that is tested.
 */
export function call(address: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { body, token, timeout = 5_000 } = options;
  const [host, port] = address.split(":");
  const content =
    body === undefined ? undefined : typeof body === "string" || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const headers = {
    ...(token !== undefined && { "x-consul-token": token }),
    ...(content !== undefined && { "content-length": Buffer.byteLength(content) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => resolve(answer(response.statusCode as number, Buffer.concat(chunks))));
    });
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeout} ms: ${method} ${path}`)), timeout);
    sent.once("close", () => clearTimeout(timer));
    sent.once("error", reject);
    sent.end(content);
  });
}

function answer(status: number, body: Buffer): Answer {
  const text = body.toString();
  return { status, body, text, json: <T>() => JSON.parse(text) as T };
}
