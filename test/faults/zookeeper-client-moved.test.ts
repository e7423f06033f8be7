import { expect, it } from "vitest";
import { reply, startScripted } from "./zookeeper-client-scripted.js";
import { open, soon } from "./zookeeper-client-support.js";

/** The body of a transaction's reply: one error result. */
function failures(...errors: number[]): Buffer {
  const body = Buffer.alloc(13 * errors.length + 9);
  let at = 0;
  for (const error of errors) {
    body.writeInt32BE(-1, at);
    body.writeUInt8(0, at + 4);
    body.writeInt32BE(error, at + 5);
    body.writeInt32BE(error, at + 9);
    at += 13;
  }
  body.writeInt32BE(-1, at);
  body.writeUInt8(1, at + 4);
  body.writeInt32BE(-1, at + 5);
  return body;
}

it("a proof in whose result the session has moved is none (a follower tells it there, not in the header)", async () => {
  const server = await startScripted({ answer: ({ xid }) => reply(xid, 0, failures(-118)) });
  const zk = await open(server.address);
  const proof = zk.prove("/", 0, soon());
  proof.catch(() => {});
  expect(
    await proof.then(
      () => "a proof",
      (e) => e.zk,
    ),
  ).toBe("SESSIONMOVED");
});
