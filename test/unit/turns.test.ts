import { expect, it } from "vitest";
import type { Term } from "../../src/term.js";
import { gate, World } from "./support/world.js";

const TTL = 10_000;
const SPAN = TTL - 250;

it("an attempt that waited for its turn is not sent by a session whose deadline passed during a pause, with work running", async () => {
  const world = new World();
  const a = world.candidate("a");
  a.elector.start();
  await world.clock.advanceUntil(() => a.elector.isLeader, 5000);
  const work = gate();
  (a.elector.term as Term).waitUntil(work.promise);
  const session = a.client.sessions[0] as string;
  // 300 others of the process begin: 256 looks are under way, the rest waits for its turn.
  let answer: (() => void)[] = [];
  a.tap.around = (call, pass) =>
    call.name === "look" && call.election !== "seat" ? new Promise((resolve) => answer.push(() => resolve(pass() as never))) : pass();
  for (let n = 0; n < 300; n++) world.candidate(`o${n}`, { with: a, election: `e${n}` }).elector.start();
  await world.clock.advance(10);
  expect(answer.length).toBe(256);
  a.clock.pause();
  await world.clock.advance(SPAN + 1);
  const sent = a.tap.names(session).length;
  expect(a.elector.isLeader).toBe(false);
  // A poll phase comes before the timers when the process goes on: a reply that lay in the socket is handled first.
  const first = answer;
  answer = [];
  for (const one of first) one();
  await world.clock.settle();
  const after = a.tap.names(session).slice(sent);
  a.tap.around = (_, pass) => pass();
  for (const one of answer) one();
  await a.clock.resume();
  work.open();
  await world.end().catch(() => {});
  expect(after).toEqual([]);
});
