import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { cacheFolder } from "./cache.js";

/** What it takes to start a server. */
export interface ZooKeeperInstall {
  /** Where it comes from, for people. */
  readonly origin: string;
  /** The java command. */
  readonly java: string;
  /** As `java -cp` takes it. */
  readonly classpath: string;
}

const VERSION = "3.9.5";
/** What the server needs at run time beyond its own dependencies: its pom calls these two "provided". */
const DEPENDENCIES = [
  ["org.apache.zookeeper", "zookeeper", VERSION],
  ["io.dropwizard.metrics", "metrics-core", "4.1.12.1"],
  ["org.xerial.snappy", "snappy-java", "1.1.10.5"],
  ["org.slf4j", "slf4j-simple", "2.0.13"],
] as const;

/** Debian's `zookeeper` package (3.8.0); the jar's manifest names the jars that it needs. */
const DEBIAN_JAR = "/usr/share/java/zookeeper.jar";

let installed: Promise<ZooKeeperInstall> | undefined;

/**
 * Finds or installs a ZooKeeper: from ZOOKEEPER_HOME, else 3.9.5 by Maven into the user's cache folder (once per machine),
 * else Debian's package. Says on stderr what takes time.
 * @throws Error that names what to install.
 */
export function installZooKeeper(): Promise<ZooKeeperInstall> {
  installed ??= findZooKeeper(process.env);
  return installed;
}

/** As installZooKeeper, for a given environment, and not remembered. */
export async function findZooKeeper(env: NodeJS.ProcessEnv): Promise<ZooKeeperInstall> {
  const java = env.JAVA_HOME ? join(env.JAVA_HOME, "bin", "java") : "java";
  const version = await run(java, ["-version"], env);
  if (!version.ok) {
    throw new Error(
      `The tests start a real ZooKeeper, which needs Java: install a Java runtime (8 or later; Debian: default-jre-headless). Tried: ${java}`,
    );
  }

  const home = env.ZOOKEEPER_HOME;
  if (home) {
    const folders = [join(home, "lib"), home].filter(existsSync);
    const names = (await Promise.all(folders.map((folder) => readdir(folder)))).flat();
    if (!names.some((name) => /^zookeeper-\d.*\.jar$/.test(name))) {
      throw new Error(`ZOOKEEPER_HOME is ${home}, but neither it nor its lib/ holds a zookeeper-*.jar`);
    }
    return { origin: `ZOOKEEPER_HOME (${home})`, java, classpath: folders.map((folder) => join(folder, "*")).join(delimiter) };
  }

  const cache = cacheFolder(env);
  const target = join(cache, `zookeeper-${VERSION}`);
  let why = "";
  if (!existsSync(target)) why = await installByMaven(cache, target, env);
  if (existsSync(target)) return { origin: `ZooKeeper ${VERSION} (${target})`, java, classpath: join(target, "*") };

  if (existsSync(DEBIAN_JAR)) {
    say(`${why} Taking Debian's ZooKeeper instead.`);
    return { origin: "Debian's zookeeper package", java, classpath: DEBIAN_JAR };
  }
  throw new Error(
    `The tests start a real ZooKeeper and found none. ${why} Install Maven (then ${VERSION} is fetched by itself), or Debian's package zookeeper, ` +
      "or unpack a ZooKeeper distribution and set ZOOKEEPER_HOME.",
  );
}

/** Resolves to the reason why it could not, or to the empty string. Safe when several processes do it at once: the first rename wins. */
async function installByMaven(cache: string, target: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (!(await run("mvn", ["-v"], env)).ok) return "Maven (mvn) is not installed.";
  say(`Fetching ZooKeeper ${VERSION} by Maven, once for this machine, into ${target}: 11 MB, usually half a minute, up to five.`);
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, "installing-"));
  try {
    const pom = join(temporary, "pom.xml");
    await writeFile(pom, POM);
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
    const lib = join(temporary, "lib");
    const maven = await run("mvn", ["-B", "-q", "-f", pom, goal, `-DoutputDirectory=${lib}`], env, 300_000);
    if (!maven.ok) return `Maven could not fetch it: ${maven.output.trim().split("\n").slice(0, 5).join("\n")}`;
    await rename(lib, target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
    say("ZooKeeper is installed.");
    return "";
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tenure</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <dependencies>
${DEPENDENCIES.map(
  ([group, artifact, version]) =>
    `    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`,
).join("\n")}
  </dependencies>
</project>
`;

function say(text: string): void {
  process.stderr.write(`[tests] ${text}\n`);
}

/** `ok` is false also when the command does not exist. */
function run(command: string, args: string[], env: NodeJS.ProcessEnv, timeout = 30_000): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: stdout + stderr || String(error) });
    });
  });
}
