/*
 * `npm run bench -- zookeeper|consul [options]`: what tenure costs, on real servers, beside what else there is. Each store has a
 * program of its own. bench/README.md says what is measured how.
 */
const PROGRAMS: Record<string, () => Promise<unknown>> = {
  zookeeper: () => import("./zookeeper-bench.js"),
  consul: () => import("./consul-bench.js"),
};
const names = Object.keys(PROGRAMS);
const name = process.argv.slice(2).find((argument) => names.includes(argument));
if (name === undefined) {
  process.stderr.write(`npm run bench -- ${names.join("|")} [options]\nWith the option --help: which there are.\n`);
  process.exit(2);
}
await PROGRAMS[name]?.();
