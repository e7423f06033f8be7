import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildGo, say } from "./build-go.js";
import { cacheFolder } from "./cache.js";
import { sourceFolder } from "./sources.js";

/** What it takes to start a server. */
export interface ConsulInstall {
  /** Where it comes from, for people. */
  readonly origin: string;
  /** The consul command. */
  readonly command: string;
}

/** The last line whose modules are all open source; what is built is told by go.mod in this folder. */
const VERSION = "1.14.11";
const FOLDER = "consul-server";

const MAIN = "github.com/hashicorp/consul";

const TAKES = "4 to 8 minutes on two cores, and 1 or 2 more if its sources must be fetched (2 GB unpacked). What needs no Consul goes on";
const INSTEAD = "Or install a Consul (1.14 or later) and put it on the PATH, or name its binary in CONSUL_BIN.";

let installed: Promise<ConsulInstall> | undefined;

/**
 * Finds or builds a Consul: from CONSUL_BIN, else `consul` on the PATH, else 1.14.11 by the Go toolchain into the user's cache
 * folder (once per machine). Says on stderr what takes time.
 * @throws Error that names what to install.
 */
export function installConsul(): Promise<ConsulInstall> {
  installed ??= findConsul(process.env);
  return installed;
}

/** As installConsul, for a given environment, and not remembered. */
export async function findConsul(env: NodeJS.ProcessEnv): Promise<ConsulInstall> {
  const named = env.CONSUL_BIN;
  if (named) {
    const version = await versionOf(named, env);
    if (version === undefined) throw new Error(`CONSUL_BIN is ${named}, but \`${named} version\` does not say that it is a Consul`);
    return { origin: `Consul ${version} (CONSUL_BIN: ${named})`, command: named };
  }

  const version = await versionOf("consul", env);
  if (version !== undefined) {
    const other = version === VERSION ? "" : `; tenure is tested with ${VERSION}: set CONSUL_BIN for another one`;
    say(`Taking Consul ${version} from the PATH${other}.`);
    return { origin: `Consul ${version} (PATH)`, command: "consul" };
  }

  const target = join(cacheFolder(env), `consul-${VERSION}`, "consul");
  if (!existsSync(target)) {
    await buildGo(
      { name: `Consul ${VERSION}`, source: sourceFolder(FOLDER), main: MAIN, target, go: "1.20", takes: TAKES, instead: INSTEAD },
      env,
    );
  }
  return { origin: `Consul ${VERSION} (${target})`, command: target };
}

/** Undefined also when the command does not exist. */
function versionOf(command: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, ["version"], { env, timeout: 30_000 }, (_error, stdout) => resolve(/^Consul v(\S+)/.exec(stdout)?.[1]));
  });
}
