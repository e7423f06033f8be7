import { connect } from "node:net";
import { PATIENCE } from "./wait-for.js";

/** Sends one of ZooKeeper's four-letter words and resolves to the answer; rejects when nothing has come for `ms`. */
export function fourLetter(port: number, command: string, ms = PATIENCE / 3): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setTimeout(ms, () => socket.destroy(new Error(`no answer to ${command} on port ${port} within ${ms} ms`)));
    socket.on("connect", () => socket.write(command));
    socket.on("data", (chunk) => (answer += chunk));
    socket.on("end", () => {
      socket.destroy();
      resolve(answer);
    });
    socket.on("error", reject);
  });
}
