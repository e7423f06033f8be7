import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import type { ConsulNews } from "./consul-setup.js";

/*
 * A set-up file of the tests with Consul: each of them begins when the shared server runs, however long its build takes, and
 * fails with the reason if there can be none. Servers of a test's own are then started without delay.
 */

/** `host:port` of the single Consul server that all test files share (session_ttl_min 1s): use keys of your own, never stop it. */
export const consul = await shared();

async function shared(): Promise<string> {
  const file = inject("consulFile");
  while (!existsSync(file)) await sleep(50);
  const news = JSON.parse(readFileSync(file, "utf8")) as ConsulNews;
  if ("error" in news) throw new Error(news.error);
  process.env.CONSUL_BIN = news.command;
  return news.address;
}
