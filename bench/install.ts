import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { cache, sources } from "./places.js";
import { run, say } from "./run.js";

const CURATOR = "5.9.0";
const KAZOO = "2.11.0";
const JAVA = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, "bin", "java") : "java";

/** A Java program of ours: the command and its first arguments. */
export interface JavaPeers {
  readonly command: string;
  readonly classpath: string;
}

/** Curator's recipes with all that they need, by Maven, and our programs compiled against them; both once per machine. */
export async function installCurator(): Promise<JavaPeers> {
  const lib = await once(`curator-recipes-${CURATOR}`, `Curator ${CURATOR} by Maven`, async (folder) => {
    const pom = join(folder, "pom.xml");
    await writeFile(pom, POM);
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
    await run("mvn", ["-B", "-q", "-f", pom, goal, `-DoutputDirectory=${folder}`]);
  });
  const jars = join(lib, "*");
  const files = readdirSync(sources).filter((name) => name.endsWith(".java"));
  const hash = createHash("sha256");
  for (const name of files) hash.update(readFileSync(join(sources, name)));
  const classes = await once(`bench-classes-${hash.digest("hex").slice(0, 12)}`, "our Java programs by javac", async (folder) => {
    const paths = files.map((name) => join(sources, name));
    await run(JAVA.replace(/java$/, "javac"), ["-nowarn", "-cp", jars, "-d", folder, ...paths]);
  });
  return { command: JAVA, classpath: [classes, jars].join(delimiter) };
}

/** kazoo in a virtual environment of Python, once per machine. Resolves to its python command. */
export async function installKazoo(): Promise<string> {
  const folder = join(cache, `kazoo-${KAZOO}`);
  const python = join(folder, "bin", "python");
  // A virtual environment cannot be moved once it is made, so a file inside says that it is complete.
  const complete = join(folder, "complete");
  if (!existsSync(complete)) {
    say(`Installing kazoo ${KAZOO} by pip, once for this machine, into ${folder}.`);
    await rm(folder, { recursive: true, force: true });
    await run("python3", ["-m", "venv", folder]);
    await run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `kazoo==${KAZOO}`]);
    await writeFile(complete, "");
  }
  return python;
}

/** Fills a folder of the cache under another name first: what is there is complete. */
async function once(name: string, what: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const target = join(cache, name);
  if (existsSync(target)) return target;
  say(`Installing ${what}, once for this machine, into ${target}.`);
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, "installing-"));
  try {
    await fill(temporary);
    await rename(temporary, target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
    return target;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tenure</groupId>
  <artifactId>bench-peers</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-recipes</artifactId><version>${CURATOR}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;
