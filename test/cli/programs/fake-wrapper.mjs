// A wrapper of the tests: runs a command for a term that is told what to do over IPC instead of by a store.
// node fake-wrapper.mjs '{"ttl":…,"drain":…,"file":…,"args":[…]}'

import { runCommand } from "../../../dist/src/cli/run-command.js";
import { systemClock } from "../../../dist/src/clock.js";

const { ttl, drain, file, args, folder = null } = JSON.parse(process.argv[2]);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const draining = new AbortController();
const over = new AbortController();
let deadline = now() + ttl;
const renewals = setInterval(() => {
  deadline = now() + ttl;
}, ttl / 5);

const log = (level) => (_fields, message) => process.send({ log: level, message });
const running = runCommand(
  { remaining: () => deadline - now(), draining: draining.signal, signal: over.signal },
  {
    command: { file, args, env: process.env, noInput: false, folder },
    drain,
    clock: systemClock,
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    title: "test",
    onDeadline: () => {},
  },
);
running.ended.then((end) => process.send({ end, at: now() }, () => process.exit()));

process.on("message", (order) => {
  if (order === "drain") draining.abort();
  else if (order === "lose") over.abort();
  else if (order === "starve") clearInterval(renewals);
  else if (order === "terminate") running.terminate("SIGTERM");
  else if (order === "kill") running.kill("asked");
  else running.forward(order);
  process.send({ done: order, deadline });
});
