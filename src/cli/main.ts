#!/usr/bin/env node
import { readFileSync, writeSync } from "node:fs";
import { CommanderError } from "commander";
import { systemClock } from "../clock.js";
import { makeProgram, type RunFlags, type StatusFlags } from "./args.js";
import type { EvictFlags, ListFlags, WatchFlags } from "./args-operators.js";
import type { CommonFlags } from "./args-options.js";
import { readCredentials, readPassphrase, secretsOf } from "./credentials.js";
import { EXIT } from "./exit-codes.js";
import { failureOf } from "./failures.js";
import { makeLogger } from "./logging.js";
import { redactor } from "./redact.js";

let redact = redactor([]);

/** Where the store is, how to log, and what must not be shown. */
async function prepare(flags: CommonFlags & { readonly acl?: string }) {
  const { env } = process;
  const secrets = { credentials: readCredentials({ file: flags.authFile, env }), passphrase: readPassphrase(env) };
  redact = redactor(secretsOf(secrets, flags.store, env));
  const { openStore } = await import("./stores.js");
  const store = await openStore(flags.store, { ...secrets, acl: flags.acl ?? null });
  return { store, logger: await makeLogger({ level: flags.logLevel, redact }) };
}

async function run(command: [string, ...string[]], flags: RunFlags): Promise<void> {
  const { run: begin } = await import("./run.js");
  const { store, logger } = await prepare(flags);
  const { id, election, metadata = {}, drain, reserve = null, timeout = null } = flags;
  const { restart = false, exitOnLoss = false, try: once = false } = flags;
  finish(await begin({ store, logger, command, id, election, metadata, drain, reserve, timeout, restart, exitOnLoss, try: once }));
}

async function status(flags: StatusFlags): Promise<void> {
  const { status: look } = await import("./status.js");
  const { store } = await prepare(flags);
  const { text, code } = await look({
    store,
    election: flags.election,
    json: flags.json ?? false,
    timeout: flags.timeout,
    clock: systemClock,
  });
  await print(text);
  finish(code);
}

async function watch(flags: WatchFlags): Promise<void> {
  const { watch: look } = await import("./watch.js");
  const { store, logger } = await prepare(flags);
  const { election, json = false, alertAfter = null } = flags;
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => stop.abort());
  onOutputLost(() => stop.abort());
  const tell = (line: string) => void process.stdout.write(`${line}\n`);
  finish(await look({ store, election, json, alertAfter, logger, clock: systemClock, tell, warn, redact, signal: stop.signal }));
}

async function list(flags: ListFlags): Promise<void> {
  const { list: look } = await import("./list.js");
  const { progressOn } = await import("./progress.js");
  const { store } = await prepare(flags);
  const { json = false, timeout } = flags;
  const progress = progressOn(process.stderr, systemClock);
  const { text, code } = await look({ store, json, timeout, clock: systemClock, progress }).finally(() => progress.end());
  await print(text);
  finish(code);
}

async function evict(flags: EvictFlags): Promise<void> {
  const { evict: act } = await import("./evict.js");
  const { asker } = await import("./ask.js");
  const { store } = await prepare(flags);
  const { election, timeout, json = false, id, entry, leader = false, yes = false, now = false } = flags;
  const hold = now ? 0 : (flags.hold ?? null);
  const whom = leader ? "leader" : { id, entry };
  const ask = yes ? async () => true : asker(process.stdin, process.stderr);
  const { text, code } = await act({ store, election, whom, ask, hold, json, timeout, clock: systemClock, warn });
  await print(text);
  finish(code);
}

/** The reader of what we print may go away, as that of `tenure watch | head -1` does. Nothing else of it is expected. */
function onOutputLost(gone: () => void): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => (error.code === "EPIPE" ? gone() : fail(error)));
}

function print(text: string): Promise<void> {
  onOutputLost(() => {});
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** A line for people, on stderr. */
function warn(line: string): void {
  try {
    writeSync(2, `tenure: ${redact(line)}\n`);
  } catch {
    // Nobody reads it.
  }
}

async function demo(): Promise<void> {
  const { demo: tell } = await import("./demo.js");
  finish(await tell());
}

/** A socket that is still being closed must not keep us. */
function finish(code: number): never {
  process.exit(code);
}

function fail(error: unknown): never {
  // Commander has said what is wrong.
  if (error instanceof CommanderError) finish(error.exitCode === 0 ? EXIT.ok : EXIT.usage);
  const { code, line } = failureOf(error);
  warn(line);
  finish(code);
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string };
makeProgram(version, { run, status, watch, list, evict, demo }).parseAsync().catch(fail);
