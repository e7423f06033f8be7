import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type Elector, LostError, type Observer } from "tenure";
import { type Ledger, OldFenceError } from "./ledger.js";

export interface Parts {
  readonly elector: Elector;
  readonly observer: Observer;
  readonly ledger: Ledger;
}

/** Everybody answers GET /ledger; PUT /ledger is the leader's, and the others send on to it. */
export function service({ elector, observer, ledger }: Parts): RequestListener {
  return (request, response) => {
    answer(request, response).catch((error) => {
      console.error(`${elector.id}: ${error}`);
      reply(response, 500, "failed");
    });
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== "/ledger") return reply(response, 404, "there is /ledger only");
    if (request.method === "GET") return reply(response, 200, (await ledger.read()).text);
    if (request.method === "PUT") return write(request, response);
    reply(response, 405, "GET or PUT");
  }

  async function write(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { term } = elector;
    if (term === null) return sendOn(request, response);
    // Admission is closed: the seat is about to change hands.
    if (term.draining.aborted) return reply(response, 503, "about to hand over");
    // Reading the body may have taken long, so the term is asked right before the write, and again after it.
    const body = await text(request);
    try {
      term.assertValid("100ms");
      await term.guard(() => ledger.write(body, term.fence));
      reply(response, 200, `written by ${elector.id} with fence ${term.token}`);
    } catch (error) {
      if (error instanceof LostError) return reply(response, 503, "the term ended meanwhile: look whether it was written");
      if (error instanceof OldFenceError) return reply(response, 503, error.message);
      throw error;
    }
  }

  /** What an observer shows is news, not a proof: whoever is sent on to somebody who has just lost the seat is sent on again. */
  function sendOn(request: IncomingMessage, response: ServerResponse): void {
    const leader = observer.current;
    if (leader === null || leader.id === elector.id) return reply(response, 503, "nobody leads just now");
    response.setHeader("location", `${leader.metadata.url}${request.url}`);
    reply(response, 307, `${leader.id} leads`);
  }
}

function reply(response: ServerResponse, status: number, body: string): void {
  if (status === 503) response.setHeader("retry-after", "1");
  response.writeHead(status, { "content-type": "text/plain" }).end(`${body}\n`);
}
