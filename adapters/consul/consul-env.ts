import { ConfigError } from "../../src/errors.js";

/** The variables that Consul's own tools heed, by the options that they stand in for. */
const VARIABLES = {
  address: "CONSUL_HTTP_ADDR",
  token: "CONSUL_HTTP_TOKEN",
  tokenFile: "CONSUL_HTTP_TOKEN_FILE",
  namespace: "CONSUL_NAMESPACE",
  partition: "CONSUL_PARTITION",
  "tls.caFile": "CONSUL_CACERT",
  "tls.certFile": "CONSUL_CLIENT_CERT",
  "tls.keyFile": "CONSUL_CLIENT_KEY",
  "tls.servername": "CONSUL_TLS_SERVER_NAME",
} as const;

const SWITCHES = { tls: "CONSUL_HTTP_SSL", "tls.verify": "CONSUL_HTTP_SSL_VERIFY" } as const;

/** An environment, and what of it has been used. */
export interface Environment {
  /** The option's value, else the variable's. An empty variable is none. */
  use<T>(option: keyof typeof VARIABLES, given: T): T | string | undefined;
  /** The same for a switch; a value that is neither true nor false is refused. */
  useSwitch(option: keyof typeof SWITCHES, given: boolean | undefined): boolean | undefined;
  /** Calls `read`; an error about an option that came from a variable names the variable. */
  naming<T>(read: () => T): T;
}

/** Reads `env`. Only what `naming` calls throws. */
export function fromEnvironment(env: Readonly<NodeJS.ProcessEnv>): Environment {
  const used = new Map<string, string>();
  return {
    use: (option, given) => {
      const value = env[VARIABLES[option]];
      if (given !== undefined || !value) return given;
      used.set(option, VARIABLES[option]);
      return value;
    },
    useSwitch: (option, given) => {
      const value = env[SWITCHES[option]];
      return given !== undefined || !value ? given : readSwitch(SWITCHES[option], value);
    },
    naming: (read) => {
      try {
        return read();
      } catch (error) {
        const variable = error instanceof ConfigError && used.get(error.option);
        if (!variable) throw error;
        const { option, message, cause } = error as ConfigError;
        throw new ConfigError(variable, message.slice(`${option}: `.length), { cause });
      }
    },
  };
}

/** As Go's strconv.ParseBool, by which Consul's own tools read it. */
function readSwitch(variable: string, value: string): boolean {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(value)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(value)) return false;
  throw new ConfigError(variable, `expected true or false, got ${JSON.stringify(value)}`);
}
