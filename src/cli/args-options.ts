import { InvalidArgumentError, Option } from "commander";
import { parseDurationText } from "../duration.js";
import { ConfigError } from "../errors.js";
import { LOG_LEVELS } from "./logging.js";

/** Options of every command that uses a store. */
export interface CommonFlags {
  readonly store: string;
  readonly authFile?: string;
  readonly logLevel: string;
}

/** For `--help`. */
export const ENVIRONMENT_HELP = `Environment:
  TENURE_STORE, TENURE_ELECTION  defaults of --store and --election
  TENURE_AUTH                    credentials for the store: digest:user:password, on Consul token:<SecretID>
  TENURE_AUTH_FILE               a file that holds them (as --auth-file)
  TENURE_TLS_PASSPHRASE          the passphrase of the TLS key that the URL names (keyFile=)
  TENURE_TLS_PASSPHRASE_FILE     a file that holds it
  TENURE_ACL                     default of --acl
  CONSUL_HTTP_ADDR, …            Consul: as for its own tools
  NO_COLOR                       no colours`;

export function storeOption(): Option {
  return new Option("--store <url>", "where the election is held, e.g. zookeeper://zk1:2181,zk2:2181/app or consul://127.0.0.1:8500/app")
    .env("TENURE_STORE")
    .makeOptionMandatory();
}

export function electionOption(): Option {
  return new Option("--election <name>", "the name of the election").env("TENURE_ELECTION").makeOptionMandatory();
}

export function authOption(): Option {
  return new Option("--auth-file <file>", "a file with the credentials for the store: digest:user:password, or token:<SecretID>");
}

export function levelOption(level: string): Option {
  return new Option("--log-level <level>", "to stderr").choices([...LOG_LEVELS]).default(level);
}

export function duration(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string) => {
    try {
      return parseDurationText("", text);
    } catch (error) {
      if (error instanceof ConfigError) throw new InvalidArgumentError(error.message.replace(/^: /, ""));
      throw error;
    }
  });
}
