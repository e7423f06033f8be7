// A command of the tests: appends "<hrtime ns> <pid> <label> <what>" to a file while it lives.
// node stamper.mjs FILE [label=…] [term=ignore|<ms to take>] [status=<n>] [every=<ms>] [exit=<ms>:<status>] [usr1=<status>: ends with it at SIGUSR1] [child=group|pgid|setsid] [childTerm=…]
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [file, ...rest] = process.argv.slice(2);
const options = Object.fromEntries(rest.map((text) => text.split("=")));
const label = options.label ?? `${process.env.TENURE_CANDIDATE ?? "-"}/${process.env.TENURE_FENCE ?? "-"}`;
const stamp = (what) => appendFileSync(file, `${process.hrtime.bigint()} ${process.pid} ${label} ${what}\n`);

stamp("start");
setInterval(() => stamp("beat"), Number(options.every ?? 10));
for (const signal of ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) process.on(signal, () => stamp(signal));
if (options.usr1) {
  process.on("SIGUSR1", () => {
    stamp("end");
    process.exit(Number(options.usr1));
  });
}
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    stamp(signal);
    if (options.term === "ignore") return;
    setTimeout(
      () => {
        stamp("end");
        process.exit(Number(options.status ?? 0));
      },
      Number(options.term ?? 0),
    );
  });
}
if (options.exit) {
  const [ms, status] = options.exit.split(":").map(Number);
  setTimeout(() => {
    stamp("end");
    process.exit(status);
  }, ms);
}
if (options.child) {
  const self = [
    process.execPath,
    process.argv[1],
    file,
    `label=${label}/child`,
    `term=${options.childTerm ?? "ignore"}`,
    `every=${options.every ?? 10}`,
  ];
  const started = {
    group: [self[0], self.slice(1), {}],
    // A process group of its own in the same session, as shells with job control make them.
    pgid: ["bash", ["-c", 'set -m; "$@" & wait', "bash", ...self], {}],
    setsid: [self[0], self.slice(1), { detached: true }],
  }[options.child];
  spawn(started[0], started[1], { ...started[2], stdio: "ignore" });
}
