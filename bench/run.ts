import { execFile } from "node:child_process";

/** Runs a command to its end; rejects with what it wrote when it fails or does not exist. */
export function run(command: string, args: readonly string[], timeout = 600_000): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { timeout, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} ${args.join(" ")} failed: ${(stdout + stderr).trim().slice(-2000) || error.message}`));
      else resolve(stdout);
    });
  });
}

/** Progress, for people; the results go to stdout. */
export function say(text: string): void {
  process.stderr.write(`[bench] ${text}\n`);
}
