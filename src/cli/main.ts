#!/usr/bin/env node
import { readFileSync, writeSync } from "node:fs";
import { CommanderError } from "commander";
import { systemClock } from "../clock.js";
import { type CommonFlags, makeProgram, type RunFlags, type StatusFlags } from "./args.js";
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
  redact = redactor(secretsOf(secrets, flags.store));
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
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  finish(code);
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
  try {
    writeSync(2, `tenure: ${redact(line)}\n`);
  } catch {
    // Nobody reads it.
  }
  finish(code);
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string };
makeProgram(version, { run, status, demo }).parseAsync().catch(fail);
